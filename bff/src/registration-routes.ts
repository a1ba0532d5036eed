import { randomUUIDv7 } from 'node:crypto'
import {
  registerResponseSchema,
  registerBodySchema,
  registrationViewSchema,
  type RegistrationView,
  resumeCheckoutBodySchema,
  waiverResponseSchema,
  waiverBodySchema,
} from '@robokids/contracts/bff'
import { refreshQuerySchema } from '@robokids/contracts/billing'
import {
  heldRegistrationSchema,
  memberSeatSchema,
  registrationSchema,
  waiverDocumentSchema,
  waiverSchema,
} from '@robokids/contracts/enrollment'
import { classLinkSchema, linkQuerySchema } from '@robokids/contracts/meetings'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import { blockOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import type { Accounts } from './auth-routes.ts'
import { closeReplaced } from './close-replaced.ts'
import type { Config } from './config.ts'
import type { Proofs } from './proofs.ts'
import { receiptFile, Receipts } from './receipts.ts'
import { referenceParams, type References } from './references.ts'
import { LiveStreams, type StreamCounts } from './live-streams.ts'
import { startCheckout } from './start-checkout.ts'
import type { Services } from './upstream.ts'
import { refreshRegistration, registrationStream } from './views/registration.ts'

export function registrationRoutes(
  http: Http,
  context: Context<Config>,
  services: Services,
  { sessions, proofs }: Pick<Accounts, 'sessions'> & { proofs: Proofs },
  references: References,
  streamCounts: StreamCounts,
): void {
  const { SITE_URL } = context.config
  const { enrollment, notifications } = services
  const receipts = new Receipts(http, context.config)
  const streams = new LiveStreams<RegistrationView>(http, context, streamCounts, registrationStream(services, SITE_URL))

  http.post(
    '/api/registrations',
    {
      schema: { body: registerBodySchema, response: { 200: registerResponseSchema } },
      preHandler: proofs.required('registration'),
    },
    async (request, reply) => {
      const { agreed, replaces, ...registrationRequest } = request.body
      const { requester, mayReplace } = await sessions.requesterOf(request, reply)
      const network = blockOf(request.ip)
      const replacement = mayReplace ? { replaces } : {}
      const id = registrationRequest.id ?? randomUUIDv7()
      const body = { ...registrationRequest, ...replacement, id, ...requester, network }
      await closeReplaced(services, body, agreed)
      const registration = await enrollment.call('POST', '/registrations', { body, answer: heldRegistrationSchema })
      references.remember(registration.registrationId)
      // An enrollment of the previous version does not send it.
      const { isNew = registration.status === 'held' } = registration
      return startCheckout(services, { ...registration, isNew }, { requester, agreed, network, siteUrl: SITE_URL })
    },
  )

  http.post(
    '/api/registrations/:reference/checkout',
    {
      schema: { params: referenceParams, body: resumeCheckoutBodySchema, response: { 200: registerResponseSchema } },
      preHandler: proofs.required('payment'),
    },
    async (request, reply) => {
      const agreed = request.body?.agreed
      const { requester } = await sessions.requesterOf(request, reply)
      const registration = await references.find(request, request.params.reference, 'registration', (id) =>
        enrollment.call('GET', `/registrations/${id}`, { answer: registrationSchema }),
      )
      const network = blockOf(request.ip)
      return startCheckout(services, registration, { requester, agreed, network, siteUrl: SITE_URL })
    },
  )

  http.get(
    '/api/registrations/:reference',
    { schema: { params: referenceParams, querystring: refreshQuerySchema, response: { 200: registrationViewSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'registration', (id) => {
        const options = { siteUrl: SITE_URL, returned: request.query.returned, signal: request.signal }
        return refreshRegistration(services, id, options)
      }),
  )

  http.get('/api/registrations/:reference/events', { schema: { params: referenceParams } }, (request, reply) =>
    references.find(request, request.params.reference, 'registration', (id) => streams.stream(request, reply, id)),
  )

  http.get('/api/registrations/:reference/calendar.ics', { schema: { params: referenceParams } }, (request, reply) =>
    references.find(request, request.params.reference, 'registration', async (id) => {
      const { signal } = request
      const { status } = await enrollment.call('GET', `/registrations/${id}`, { answer: registrationSchema, signal })
      if (status !== 'confirmed' && status !== 'waiver_signed') {
        throw new DomainError('registration_not_paid', 'There is no calendar event until the registration is paid.')
      }
      const calendar = await notifications.raw('GET', `/registrations/${id}/calendar.ics`, { signal })
      // The payment event may not have arrived there yet.
      if (calendar.status !== 200) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
      return reply
        .headers({
          'content-type': 'text/calendar; charset=utf-8; method=PUBLISH',
          // Phones open it in their calendar; other browsers save it under this name.
          'content-disposition': 'inline; filename="robo-kids-class.ics"',
          'cache-control': 'no-store',
        })
        .send(calendar.body)
    }),
  )

  http.get('/api/registrations/:reference/receipt.pdf', { schema: { params: referenceParams } }, (request, reply) =>
    references.find(request, request.params.reference, 'registration', async (id) => {
      const { signal } = request
      const view = await refreshRegistration(services, id, { siteUrl: SITE_URL, withMoney: true, signal })
      const { sheet, name } = receiptFile(view)
      void reply.headers({
        'content-type': 'application/pdf',
        // Browsers save it under this name; in-app browsers that cannot save show it.
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'private, no-store',
      })
      // A HEAD request needs no rendering.
      return reply.send(request.method === 'HEAD' ? '' : Buffer.from(await receipts.make(sheet)))
    }),
  )

  http.get(
    '/api/registrations/:reference/link',
    { schema: { params: referenceParams, querystring: linkQuerySchema, response: { 200: classLinkSchema } } },
    (request) =>
      references.find(request, request.params.reference, 'registration', (id) => {
        const { placeId } = request.query
        const path = `/registrations/${id}/link${placeId === undefined ? '' : `?placeId=${placeId}`}`
        return enrollment.call('GET', path, { answer: classLinkSchema, signal: request.signal })
      }),
  )

  // A membership's id is known to others than its owner, as its waiver page shows.
  http.get(
    '/api/member-seats/:reference/link',
    { onRequest: sessions.required, schema: { params: referenceParams, response: { 200: classLinkSchema } } },
    async (request, reply) => {
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      if (!isConfirmed) throw unavailable(new Error('could not confirm a session'))
      if (ownerId === null) throw new DomainError('sign_in_required', 'Please log in.')
      return references.find(request, request.params.reference, 'membership', (id) =>
        enrollment.call('GET', `/member-seats/${id}/link?ownerId=${ownerId}`, {
          answer: classLinkSchema,
          signal: request.signal,
        }),
      )
    },
  )

  http.get(
    '/api/member-seats/:reference',
    { schema: { params: referenceParams, response: { 200: memberSeatSchema } } },
    async (request, reply) => {
      const { ownerId, isConfirmed } = await sessions.ownerOf(request, reply)
      return references.find(request, request.params.reference, 'membership', (id) => {
        const path = `/member-seats/${id}${ownerId !== null && isConfirmed ? `?ownerId=${ownerId}` : ''}`
        return enrollment.call('GET', path, { answer: memberSeatSchema, signal: request.signal })
      })
    },
  )

  http.post(
    '/api/waivers',
    { schema: { body: waiverBodySchema, response: { 200: waiverResponseSchema } } },
    async (request, reply) => {
      const evidence = { ipAddress: request.ip, userAgent: (request.headers['user-agent'] ?? '').slice(0, 1000) }
      const body = { ...request.body, evidence, ...(await sessions.confirmedRequesterOf(request, reply)) }
      const sign = () => enrollment.call('POST', '/waivers', { body, answer: waiverSchema })
      const { registrationId, classType } = request.body
      const kind = classType === 'membership' ? 'membership' : 'registration'
      if (registrationId !== undefined) return references.find(request, registrationId, kind, sign)
      const signed = await references.findWithout(request, sign)
      // A signer without the id must not get it, because it gives access to the whole registration.
      const { waiverId, signedAt } = signed
      return { waiverId, signedAt }
    },
  )

  http.get('/api/waiver-document', { schema: { response: { 200: waiverDocumentSchema } } }, (request) =>
    enrollment.call('GET', '/waiver-document', { answer: waiverDocumentSchema, signal: request.signal }),
  )

  http.get('/waiver.pdf', async (request, reply) => {
    const known = request.headers['if-none-match']
    const headers = known === undefined ? {} : { 'if-none-match': known }
    const answer = await enrollment.raw('GET', '/waiver.pdf', { headers, signal: request.signal })
    if (answer.status !== 200 && answer.status !== 304)
      throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
    for (const name of ['content-type', 'content-disposition', 'etag', 'x-document-sha256']) {
      const value = answer.headers[name]
      if (value !== undefined) void reply.header(name, value)
    }
    void reply.code(answer.status).header('cache-control', 'no-cache')
    return answer.status === 304 ? reply.send() : reply.send(answer.body)
  })
}
