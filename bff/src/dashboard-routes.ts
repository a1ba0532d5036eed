import { emptyResponseSchema } from '@robokids/contracts/auth'
import { closedCheckoutSchema } from '@robokids/contracts/billing'
import {
  calendarAddressSchema,
  calendarFeedSchema,
  dashboardPastSchema,
  dashboardSchema,
  familyClassesSchema,
  familySchema,
} from '@robokids/contracts/dashboard'
import { registrationSchema } from '@robokids/contracts/enrollment'
import { uuid } from '@robokids/contracts/fields'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import { LiveStreams, type StreamCounts } from './live-streams.ts'
import type { Services } from './upstream.ts'
import { familyOf } from './views/dashboard-cards.ts'
import { dashboardPastView, dashboardStream, dashboardView, streamOfAccount } from './views/dashboard.ts'

const byId = z.object({ id: uuid() })
const byToken = z.object({ token: z.string().regex(/^[\w-]{1,100}$/) })

/** The home of the signed-in account. All answers are private: `no-store`, as all of the API. */
export function dashboardRoutes(
  http: Http,
  context: Context<Config>,
  services: Services,
  { sessions }: Pick<Accounts, 'sessions'>,
  streamCounts: StreamCounts,
): void {
  const {
    clock,
    config: { SITE_URL: siteUrl },
  } = context
  const stream = dashboardStream(services, { siteUrl, now: () => clock.now() })
  const streams = new LiveStreams(http, context, streamCounts, stream)

  /** The account, as identity knows it now: a sign-in that has ended elsewhere shows nothing. */
  async function accountOf(request: FastifyRequest, reply: FastifyReply) {
    const signInSession = await sessions.require(request, reply)
    const { email, verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    return { userId: signInSession.userId, username: signInSession.username, email, verifiedEmail }
  }

  async function confirmedAccountOf(request: FastifyRequest, reply: FastifyReply) {
    const { userId, verifiedEmail } = await accountOf(request, reply)
    if (verifiedEmail === null)
      throw new DomainError('not_found', 'There is nothing to show before the address is verified.')
    return { userId, email: verifiedEmail }
  }

  http.get(
    '/api/dashboard',
    { onRequest: sessions.required, schema: { response: { 200: dashboardSchema } } },
    async (request, reply) => {
      const { userId, username, email, verifiedEmail } = await accountOf(request, reply)
      const now = clock.now()
      const account = { userId, email: verifiedEmail ?? email ?? username, isConfirmed: verifiedEmail !== null }
      const parts =
        verifiedEmail === null
          ? { unavailable: [], classes: null, waitlist: null, membership: null, orders: null }
          : await dashboardView(services, { userId, email: verifiedEmail }, { siteUrl, now, signal: request.signal })
      return { now: now.toString({ fractionalSecondDigits: 3 }), account, ...parts }
    },
  )

  http.get(
    '/api/family',
    { onRequest: sessions.required, schema: { response: { 200: familySchema } } },
    async (request, reply) => {
      const { userId, verifiedEmail } = await accountOf(request, reply)
      if (verifiedEmail === null) return { children: [], address: null }
      const path = `/accounts/${userId}/classes`
      return familyOf(
        await services.enrollment.call('GET', path, { answer: familyClassesSchema, signal: request.signal }),
      )
    },
  )

  http.get('/api/dashboard/events', { onRequest: sessions.required }, async (request, reply) => {
    const account = await confirmedAccountOf(request, reply)
    const signInSession = await sessions.require(request, reply)
    const isAllowed = () => sessions.isStill(signInSession, request)
    return streams.stream(request, reply, streamOfAccount(account), isAllowed)
  })

  http.get(
    '/api/dashboard/past',
    { onRequest: sessions.required, schema: { response: { 200: dashboardPastSchema } } },
    async (request, reply) => {
      const account = await confirmedAccountOf(request, reply)
      return dashboardPastView(services, account, { siteUrl, now: clock.now(), signal: request.signal })
    },
  )

  // Its page is closed first: nobody must pay for seats that are free again.
  http.post(
    '/api/dashboard/registrations/:id/release',
    { onRequest: sessions.required, schema: { params: byId, response: { 200: emptyResponseSchema } } },
    async (request, reply) => {
      const { userId } = await confirmedAccountOf(request, reply)
      const { id } = request.params
      const { enrollment, billing } = services
      const { ownerId } = await enrollment.call('GET', `/registrations/${id}`, { answer: registrationSchema })
      if (ownerId !== userId) throw new DomainError('registration_not_found', 'We can’t find this registration.')
      const { outcome } = await billing.call('POST', `/checkouts/${id}/close`, { answer: closedCheckoutSchema })
      if (outcome === 'paid' || outcome === 'processing') {
        throw new DomainError('already_paid', 'This registration is paid or being paid.', undefined, { reference: id })
      }
      await enrollment.call('POST', `/accounts/${userId}/registrations/${id}/release`, { answer: registrationSchema })
      return {}
    },
  )

  for (const [path, upstreamPath] of [
    ['/api/dashboard/calendar', 'calendar'],
    ['/api/dashboard/calendar/renew', 'calendar/renew'],
  ] as const)
    http.post(
      path,
      { onRequest: sessions.required, schema: { response: { 200: calendarAddressSchema } } },
      async (request, reply) => {
        const { userId } = await confirmedAccountOf(request, reply)
        const answer = calendarFeedSchema
        const { token } = await services.enrollment.call('POST', `/accounts/${userId}/${upstreamPath}`, { answer })
        return { url: `${siteUrl}/calendar/${token}.ics` }
      },
    )

  // Calendar programs send no cookie; the address itself gives access.
  http.get('/calendar/:token.ics', { schema: { params: byToken } }, async (request, reply) => {
    const path = `/calendars/${encodeURIComponent(request.params.token)}`
    const answer = await services.enrollment.raw('GET', path, { signal: request.signal })
    if (answer.status === 404)
      throw new DomainError('calendar_not_found', 'There is no such calendar. Its address may have been replaced.')
    if (answer.status !== 200) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
    return reply
      .headers({
        'content-type': 'text/calendar; charset=utf-8',
        'content-disposition': 'inline; filename="robo-kids-classes.ics"',
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
      })
      .send(answer.body)
  })

  http.get(
    '/api/dashboard/waivers/:id.pdf',
    { onRequest: sessions.required, schema: { params: byId } },
    async (request, reply) => {
      const { userId } = await confirmedAccountOf(request, reply)
      const path = `/accounts/${userId}/waivers/${request.params.id}.pdf`
      const answer = await services.enrollment.raw('GET', path, { signal: request.signal })
      if (answer.status === 404) throw new DomainError('not_found', 'There is no such waiver.')
      if (answer.status === 409) {
        throw new DomainError('signed_pdf_not_ready', 'The signed waiver is being made. Please try again in a moment.')
      }
      if (answer.status !== 200) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
      return reply
        .headers({
          'content-type': 'application/pdf',
          'content-disposition': 'attachment; filename="robo-kids-signed-waiver.pdf"',
          'cache-control': 'private, no-store',
        })
        .send(answer.body)
    },
  )
}
