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
} from '@robokids/contracts/changes'
import { classTypes, registrationSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from './auth-routes.ts'
import type { MailLimits } from './mail-limits.ts'
import { refreshCheckout } from './refresh-checkout.ts'
import { referenceParams, type References } from './references.ts'
import type { Services } from './upstream.ts'

/**
 * What a family changes by itself after it has paid: cancellations and moves of single children. Only the account that owns the
 * registration can: for any other one, it does not exist. Enrollment decides, by its policy and by billing's prices of today,
 * which are fetched here.
 */
export function changeRoutes(
  http: Http,
  { enrollment, billing }: Services,
  { sessions, mailLimits }: Pick<Accounts, 'sessions'> & { mailLimits: MailLimits },
  references: References,
): void {
  const onRequest = sessions.required
  // Each confirmation sends a mail.
  const confirming = { onRequest, preHandler: mailLimits.ofAccount }
  const base = '/api/registrations/:reference'

  const ownerOf = async (request: FastifyRequest, reply: FastifyReply) =>
    (await sessions.require(request, reply)).userId

  async function unitAmounts(): Promise<Record<string, number>> {
    const { prices } = await billing.call('GET', '/prices', { answer: pricesSchema })
    return Object.fromEntries(
      classTypes.flatMap((classType) => {
        const price = prices.find(({ sku }) => sku === `class:${classType}`)
        return price ? [[classType, price.amount]] : []
      }),
    )
  }

  http.post(
    `${base}/cancellation/quote`,
    {
      onRequest,
      schema: { params: referenceParams, body: quoteCancelBodySchema, response: { 200: changeQuoteSchema } },
    },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply) }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/cancellation/quote`, { body, answer: changeQuoteSchema }),
      )
    },
  )

  http.post(
    `${base}/cancellation`,
    { ...confirming, schema: { params: referenceParams, body: cancelBodySchema, response: { 200: changeSchema } } },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply) }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/cancellation`, { body, answer: changeSchema }),
      )
    },
  )

  http.post(
    `${base}/move/options`,
    {
      onRequest,
      schema: { params: referenceParams, body: moveOptionsBodySchema, response: { 200: moveOptionsSchema } },
    },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply), unitAmounts: await unitAmounts() }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/move/options`, { body, answer: moveOptionsSchema }),
      )
    },
  )

  http.post(
    `${base}/move/quote`,
    { onRequest, schema: { params: referenceParams, body: quoteMoveBodySchema, response: { 200: changeQuoteSchema } } },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply), unitAmounts: await unitAmounts() }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/move/quote`, { body, answer: changeQuoteSchema }),
      )
    },
  )

  http.post(
    `${base}/move`,
    { ...confirming, schema: { params: referenceParams, body: moveBodySchema, response: { 200: moveResponseSchema } } },
    async (request, reply) => {
      const ownerId = await ownerOf(request, reply)
      const body = { ...request.body, ownerId, unitAmounts: await unitAmounts() }
      return references.find(request, request.params.reference, 'registration', async (id) => {
        const change = await enrollment.call('POST', `/registrations/${id}/move`, { body, answer: changeSchema })
        if (change.status !== 'held') return { change, checkoutUrl: null }
        const { changeId } = change
        try {
          const checkout = await billing.call('POST', '/move-checkouts', { body: { changeId }, answer: checkoutSchema })
          return { change, checkoutUrl: checkout.checkoutUrl }
        } catch (error) {
          if (!(error instanceof DomainError) || error.code !== 'price_changed') throw error
          // The price has changed since enrollment compared the quote: nothing is held for one that cannot be paid.
          await enrollment.call('POST', `/changes/${changeId}/withdraw`, { body: { ownerId }, answer: changeSchema })
          const again = { ...request.body, ownerId, unitAmounts: await unitAmounts() }
          const path = `/registrations/${id}/move/quote`
          const quote = await enrollment.call('POST', path, { body: again, answer: changeQuoteSchema })
          throw new DomainError('quote_outdated', error.message, undefined, { quote })
        }
      })
    },
  )

  http.post(
    `${base}/move/withdraw`,
    { onRequest, schema: { params: referenceParams, body: withdrawBodySchema, response: { 200: changeSchema } } },
    async (request, reply) => {
      const body = { ownerId: await ownerOf(request, reply) }
      const { changeId } = request.body
      return references.find(request, request.params.reference, 'registration', () =>
        enrollment.call('POST', `/changes/${changeId}/withdraw`, { body, answer: changeSchema }),
      )
    },
  )

  http.post(
    `${base}/correction`,
    { onRequest, schema: { params: referenceParams, body: correctBodySchema, response: { 200: correctedSchema } } },
    async (request, reply) => {
      const body = { ...request.body, ownerId: await ownerOf(request, reply) }
      return references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('POST', `/registrations/${id}/correction`, { body, answer: registrationSchema }),
      )
    },
  )

  http.get(
    `${base}/changes`,
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
        // A family that comes back from the payment page may be faster than its webhook.
        const call = { answer: checkoutSchema, signal }
        for (const { changeId } of pending)
          await refreshCheckout(billing, `/checkouts/${changeId}`, request.query.returned, call).catch(
            (error: unknown) => request.log.warn({ err: error }, 'could not refresh the checkout of a move'),
          )
        return list()
      })
    },
  )
}
