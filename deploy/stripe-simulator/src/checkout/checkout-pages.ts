/** The checkout's pages. Each works without script; with script the forms request JSON instead. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../pages/layout.ts'
import { challengePage, completePage, expiredPage, notFoundPage, receiptPage } from '../pages/notice-pages.ts'
import { bodyOf, cardEntryOf, wantsJson } from '../pages/page-forms.ts'
import { idOf } from '../protocol/ids.ts'
import type { Context } from '../resources/context.ts'
import type { SessionRecord } from '../store/store.ts'
import { knownEmail } from './known-email.ts'
import { payPage, type PayPage } from './pay-page.ts'
import { answerChallenge, payCheckout, successUrl, type PayEntry, type PayOutcome } from './pay.ts'
import { currentSession } from './sessions.ts'

type SessionPath = { Params: { id: string } }
type ChallengePath = { Params: { id: string; challengeId: string } }

export function registerCheckoutPages(app: FastifyInstance, ctx: Context): void {
  app.get<SessionPath>('/c/pay/:id', (request, reply) => showSession(ctx, reply, request.params.id, {}))

  app.post<SessionPath>('/c/pay/:id', async (request, reply) => {
    const { id } = request.params
    const entry = readEntry(request)
    const result = await payCheckout(ctx, id, entry)
    if (wantsJson(request)) {
      return reply.header('cache-control', 'no-store').send(result)
    }
    if (isRedirect(result)) return reply.redirect(result.redirectUrl ?? '', 303)
    return showSession(ctx, reply, id, { entry, refusal: result })
  })

  app.get<ChallengePath>('/c/authenticate/:id/:challengeId', (request, reply) => {
    const { id, challengeId } = request.params
    const record = currentSession(ctx, id)
    const challenge = record?.challenge
    if (record === undefined || challenge?.id !== challengeId) {
      return showSession(ctx, reply, id, {})
    }
    return reply
      .headers(pageHeaders([record.object.success_url, record.object.cancel_url]))
      .send(challengePage(record.object, challenge))
  })

  app.post<ChallengePath>('/c/authenticate/:id/:challengeId', async (request, reply) => {
    const { id, challengeId } = request.params
    const passed = bodyOf(request)['answer'] === 'complete'
    const result = await answerChallenge(ctx, id, challengeId, passed)
    if (wantsJson(request)) return reply.header('cache-control', 'no-store').send(result)
    if (isRedirect(result)) return reply.redirect(result.redirectUrl ?? '', 303)
    return showSession(ctx, reply, id, { refusal: result })
  })

  app.get<SessionPath>('/receipts/:id', (request, reply) => {
    const charge = ctx.store.charges.get(request.params.id)
    const merchant = ctx.settings.merchantName
    if (charge?.status !== 'succeeded') {
      return reply.code(404).headers(pageHeaders()).send(notFoundPage(merchant))
    }
    return reply.headers(pageHeaders()).send(receiptPage(charge, merchant))
  })
}

function showSession(
  ctx: Context,
  reply: FastifyReply,
  id: string,
  more: { entry?: PayEntry; refusal?: PayOutcome },
): FastifyReply {
  const record = currentSession(ctx, id)
  if (record === undefined) {
    return reply.code(404).headers(pageHeaders()).send(notFoundPage(ctx.settings.merchantName))
  }
  const session = record.object
  void reply.headers(pageHeaders([session.success_url, session.cancel_url]))
  if (session.status === 'expired') return reply.code(410).send(expiredPage(session))
  if (session.status === 'complete') return reply.send(completePage(session, successUrl(record)))
  if (more.refusal !== undefined) void reply.code(statusOf(more.refusal))
  return reply.send(payPage(pageOf(ctx, record, more)))
}

function pageOf(ctx: Context, record: SessionRecord, more: { entry?: PayEntry; refusal?: PayOutcome }): PayPage {
  const descriptions = new Map<string, string>()
  for (const item of record.lineItems) {
    const product = ctx.store.products.get(idOf(item.price.product))
    if (product?.description) descriptions.set(product.id, product.description)
  }
  return {
    session: record.object,
    lineItems: record.lineItems,
    descriptions,
    email: knownEmail(ctx, record.object.id),
    ...more,
  }
}

/** The pages after a payment: success, or the bank's confirmation. */
function isRedirect(result: PayOutcome): boolean {
  const isForward = ['paid', 'processing', 'requires_action'].includes(result.status)
  return isForward && result.redirectUrl !== null
}

function statusOf(result: PayOutcome): number {
  if (result.status === 'declined') return 402
  if (result.status === 'invalid') return 422
  if (result.status === 'expired') return 410
  return result.status === 'not_found' ? 404 : 200
}

function readEntry(request: FastifyRequest): PayEntry {
  const fields = bodyOf(request)
  return {
    ...cardEntryOf(fields),
    name: fields['name'] ?? '',
    email: fields['email'] ?? '',
    terms: fields['terms'] === 'on',
    shippingName: fields['shippingName'] ?? '',
    line1: fields['line1'] ?? '',
    line2: fields['line2'] ?? '',
    city: fields['city'] ?? '',
    state: fields['state'] ?? '',
    postalCode: fields['postalCode'] ?? '',
    country: fields['country'] ?? '',
  }
}
