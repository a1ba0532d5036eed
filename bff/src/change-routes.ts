import { checkoutSchema, pricesSchema, refreshQuerySchema } from '@robokids/contracts/billing'
import {
  cancelBodySchema,
  changeQuoteSchema,
  changeSchema,
  changesSchema,
  correctBodySchema,
  correctedSchema,
  moveBodySchema,
  moveOptionsBodySchema,
  moveOptionsSchema,
  moveResponseSchema,
  quoteCancelBodySchema,
  quoteMoveBodySchema,
  withdrawBodySchema,
  type ChangedBy,
} from '@robokids/contracts/changes'
import { choiceSchema } from '@robokids/contracts/class-cancellation'
import { classTypes, registrationSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Accounts } from './auth-routes.ts'
import type { MailLimits } from './mail-limits.ts'
import { refreshCheckout } from './refresh-checkout.ts'
import { referenceParams, type References } from './references.ts'
import type { Services } from './upstream.ts'

/** Whose change it is, and by what right. */
interface Subject {
  registrationId: string
  by: ChangedBy
}

/** The addresses of changes: of a registration for the account that owns it, or of a choice for anyone who has its link. */
interface Addresses {
  base: string
  guards: Pick<RouteShorthandOptions, 'onRequest'>
  /** Each confirmation sends a mail. */
  limit: MailLimits['ofAccount']
  find: <T>(
    request: FastifyRequest,
    reply: FastifyReply,
    reference: string,
    work: (subject: Subject) => Promise<T>,
  ) => Promise<T>
}

/**
 * What a family changes by itself after it has paid: cancellations and moves of single children. Only the account that owns the
 * registration can: for any other one, it does not exist. After the school has cancelled a class, the link to the family's choice
 * gives the same right, for that class. Enrollment decides, by its policy and by billing's prices of today, which are fetched here.
 */
export function changeRoutes(
  http: Http,
  { enrollment, billing }: Services,
  { sessions, mailLimits }: Pick<Accounts, 'sessions'> & { mailLimits: MailLimits },
  references: References,
): void {
  const onRequest = sessions.required
  const ownerOf = async (request: FastifyRequest, reply: FastifyReply) =>
    (await sessions.require(request, reply)).userId

  const ofRegistration: Addresses = {
    base: '/api/registrations/:reference',
    guards: { onRequest },
    limit: mailLimits.ofAccount,
    async find(request, reply, reference, work) {
      const ownerId = await ownerOf(request, reply)
      return references.find(request, reference, 'registration', (registrationId) =>
        work({ registrationId, by: { ownerId } }),
      )
    },
  }
  const readChoice = (id: string, signal?: AbortSignal) =>
    enrollment.call('GET', `/choices/${id}`, { answer: choiceSchema, ...(signal ? { signal } : {}) })
  const ofChoice: Addresses = {
    base: '/api/choices/:reference',
    guards: {},
    limit: mailLimits.ofChoice,
    find: (request, _, reference, work) =>
      references.find(request, reference, 'choice', async (choiceId) => {
        const { registrationId } = await readChoice(choiceId)
        return work({ registrationId, by: { choiceId } })
      }),
  }

  async function unitAmounts(): Promise<Record<string, number>> {
    const { prices } = await billing.call('GET', '/prices', { answer: pricesSchema })
    return Object.fromEntries(
      classTypes.flatMap((classType) => {
        const price = prices.find(({ sku }) => sku === `class:${classType}`)
        return price ? [[classType, price.amount]] : []
      }),
    )
  }

  for (const { base, guards, limit, find } of [ofRegistration, ofChoice]) {
    const confirming = { ...guards, preHandler: limit }

    http.post(
      `${base}/cancellation/quote`,
      {
        ...guards,
        schema: { params: referenceParams, body: quoteCancelBodySchema, response: { 200: changeQuoteSchema } },
      },
      (request, reply) =>
        find(request, reply, request.params.reference, ({ registrationId: id, by }) => {
          const body = { ...request.body, ...by }
          return enrollment.call('POST', `/registrations/${id}/cancellation/quote`, { body, answer: changeQuoteSchema })
        }),
    )

    http.post(
      `${base}/cancellation`,
      { ...confirming, schema: { params: referenceParams, body: cancelBodySchema, response: { 200: changeSchema } } },
      (request, reply) =>
        find(request, reply, request.params.reference, ({ registrationId: id, by }) => {
          const body = { ...request.body, ...by }
          return enrollment.call('POST', `/registrations/${id}/cancellation`, { body, answer: changeSchema })
        }),
    )

    http.post(
      `${base}/move/options`,
      {
        ...guards,
        schema: { params: referenceParams, body: moveOptionsBodySchema, response: { 200: moveOptionsSchema } },
      },
      (request, reply) =>
        find(request, reply, request.params.reference, async ({ registrationId: id, by }) => {
          const body = { ...request.body, ...by, unitAmounts: await unitAmounts() }
          return enrollment.call('POST', `/registrations/${id}/move/options`, { body, answer: moveOptionsSchema })
        }),
    )

    http.post(
      `${base}/move/quote`,
      {
        ...guards,
        schema: { params: referenceParams, body: quoteMoveBodySchema, response: { 200: changeQuoteSchema } },
      },
      (request, reply) =>
        find(request, reply, request.params.reference, async ({ registrationId: id, by }) => {
          const body = { ...request.body, ...by, unitAmounts: await unitAmounts() }
          return enrollment.call('POST', `/registrations/${id}/move/quote`, { body, answer: changeQuoteSchema })
        }),
    )

    http.post(
      `${base}/move`,
      {
        ...confirming,
        schema: { params: referenceParams, body: moveBodySchema, response: { 200: moveResponseSchema } },
      },
      (request, reply) =>
        find(request, reply, request.params.reference, async ({ registrationId: id, by }) => {
          const body = { ...request.body, ...by, unitAmounts: await unitAmounts() }
          const change = await enrollment.call('POST', `/registrations/${id}/move`, { body, answer: changeSchema })
          if (change.status !== 'held') return { change, checkoutUrl: null }
          const { changeId } = change
          try {
            const call = { body: { changeId }, answer: checkoutSchema }
            const checkout = await billing.call('POST', '/move-checkouts', call)
            return { change, checkoutUrl: checkout.checkoutUrl }
          } catch (error) {
            if (!(error instanceof DomainError) || error.code !== 'price_changed') throw error
            // The price has changed since enrollment compared the quote: nothing is held for one that cannot be paid.
            await enrollment.call('POST', `/changes/${changeId}/withdraw`, { body: by, answer: changeSchema })
            const again = { ...request.body, ...by, unitAmounts: await unitAmounts() }
            const path = `/registrations/${id}/move/quote`
            const quote = await enrollment.call('POST', path, { body: again, answer: changeQuoteSchema })
            throw new DomainError('quote_outdated', error.message, undefined, { quote })
          }
        }),
    )

    http.post(
      `${base}/move/withdraw`,
      { ...guards, schema: { params: referenceParams, body: withdrawBodySchema, response: { 200: changeSchema } } },
      (request, reply) =>
        find(request, reply, request.params.reference, ({ by }) =>
          enrollment.call('POST', `/changes/${request.body.changeId}/withdraw`, { body: by, answer: changeSchema }),
        ),
    )
  }

  // A family that comes back from the payment page may be faster than its webhook.
  async function refreshMoves(request: FastifyRequest, changeIds: string[], returned: boolean) {
    const call = { answer: checkoutSchema, signal: request.signal }
    for (const changeId of changeIds)
      await refreshCheckout(billing, `/checkouts/${changeId}`, returned, call).catch((error: unknown) =>
        request.log.warn({ err: error }, 'could not refresh the checkout of a move'),
      )
  }

  http.get(
    ofChoice.base,
    { schema: { params: referenceParams, querystring: refreshQuerySchema, response: { 200: choiceSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'choice', async (id) => {
        const found = await readChoice(id, request.signal)
        if (!found.pending) return found
        await refreshMoves(request, [found.pending.changeId], request.query.returned)
        return readChoice(id, request.signal)
      }),
  )

  http.post(
    `${ofRegistration.base}/correction`,
    { onRequest, schema: { params: referenceParams, body: correctBodySchema, response: { 200: correctedSchema } } },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply) }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/correction`, { body, answer: registrationSchema }),
      )
    },
  )

  http.get(
    `${ofRegistration.base}/changes`,
    {
      onRequest,
      schema: { params: referenceParams, querystring: refreshQuerySchema, response: { 200: changesSchema } },
    },
    async (request, reply) => {
      const ownerId = await ownerOf(request, reply)
      const { signal } = request
      return references.find(request, request.params.reference, 'registration', async (id) => {
        const path = `/registrations/${id}/changes?ownerId=${ownerId}`
        const list = () => enrollment.call('GET', path, { answer: changesSchema, signal })
        const found = await list()
        const pending = found.changes.filter(({ status }) => status === 'held')
        if (pending.length === 0) return found
        await refreshMoves(
          request,
          pending.map(({ changeId }) => changeId),
          request.query.returned,
        )
        return list()
      })
    },
  )
}
