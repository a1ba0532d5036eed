import { registerResponseSchema } from '@robokids/contracts/bff'
import { heldRegistrationSchema } from '@robokids/contracts/enrollment'
import {
  acceptOfferBodySchema,
  waitlistEntrySchema,
  waitlistRequestSchema,
  waitlistViewSchema,
} from '@robokids/contracts/waitlist'
import type { Http } from '@robokids/runtime/http'
import { blockOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Proofs } from './proofs.ts'
import { referenceParams, type References } from './references.ts'
import { startCheckout } from './start-checkout.ts'
import type { Services } from './upstream.ts'

/** The line of a full class. An entry's reference is its id; a GET never changes anything, since mail programs open links. */
export function waitlistRoutes(
  http: Http,
  { config }: Context<Config>,
  services: Services,
  { sessions, proofs, mailLimits }: Pick<Accounts, 'sessions'> & { proofs: Proofs; mailLimits: MailLimits },
  references: References,
): void {
  const { enrollment } = services

  http.post(
    '/api/waitlist',
    {
      schema: { body: waitlistRequestSchema, response: { 200: waitlistViewSchema } },
      preHandler: [proofs.required('waitlist'), mailLimits.ofWaitlist],
    },
    async (request, reply) => {
      const { requester } = await sessions.requesterOf(request, reply)
      const body = { ...request.body, ...requester, network: blockOf(request.ip) }
      const entry = await enrollment.call('POST', '/waitlist', { body, answer: waitlistEntrySchema })
      references.remember(entry.entryId)
      return entry
    },
  )

  http.get(
    '/api/waitlist/:reference',
    { schema: { params: referenceParams, response: { 200: waitlistViewSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'waitlist', (id) =>
        enrollment.call('GET', `/waitlist/${id}`, { answer: waitlistEntrySchema, signal: request.signal }),
      ),
  )

  http.post(
    '/api/waitlist/:reference/accept',
    {
      schema: { params: referenceParams, body: acceptOfferBodySchema, response: { 200: registerResponseSchema } },
      preHandler: proofs.required('payment'),
    },
    async (request, reply) => {
      const { agreed, ...address } = request.body
      const { requester } = await sessions.requesterOf(request, reply)
      const network = blockOf(request.ip)
      const registration = await references.find(request, request.params.reference, 'waitlist', (id) =>
        enrollment.call('POST', `/waitlist/${id}/accept`, {
          body: { ...address, ...requester, network },
          answer: heldRegistrationSchema,
        }),
      )
      references.remember(registration.registrationId)
      return startCheckout(services, registration, { requester, agreed, network, siteUrl: config.SITE_URL })
    },
  )

  for (const step of ['decline', 'leave'] as const) {
    http.post(
      `/api/waitlist/:reference/${step}`,
      { schema: { params: referenceParams, response: { 200: waitlistViewSchema } } },
      (request) =>
        references.find(request, request.params.reference, 'waitlist', (id) =>
          enrollment.call('POST', `/waitlist/${id}/${step}`, { answer: waitlistEntrySchema }),
        ),
    )
  }
}
