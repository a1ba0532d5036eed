import { emptyResponseSchema } from '@robokids/contracts/auth'
import {
  availableSlotsQuerySchema,
  availableSlotsSchema,
  classesSchema,
  classSessionsQuerySchema,
  classSessionsSchema,
  listedSessionSchema,
  openSeasonSchema,
  seasonsSchema,
  setCapacitySchema,
  heldRegistrationSchema,
  renewHoldSchema,
  holdMemberSeatSchema,
  holdSeatsSchema,
  registrationCheckSchema,
  memberHoldSchema,
  memberSeatQuerySchema,
  memberSeatSchema,
  openedMemberSeatSchema,
  openMemberPageSchema,
  openPageSchema,
  registrationPageSchema,
  registrationQuerySchema,
  registrationSchema,
  shipKitSchema,
  signWaiverSchema,
  unpaidSeatsSchema,
  waiverDocumentSchema,
  waiverSchema,
} from '@robokids/contracts/enrollment'
import { calendarFeedSchema, familyClassesSchema } from '@robokids/contracts/dashboard'
import { uuid } from '@robokids/contracts/fields'
import {
  classLinkSchema,
  linkQuerySchema,
  moveMeetingSchema,
  setCoachSchema,
  setLinkSchema,
  skipMeetingSchema,
} from '@robokids/contracts/meetings'
import {
  acceptOfferSchema,
  joinWaitlistSchema,
  waitlistEntrySchema,
  waitlistLineSchema,
} from '@robokids/contracts/waitlist'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import { cancellationRoutes } from './cancellations/routes.ts'
import { changeRoutes } from './changes/routes.ts'
import { memberClassRoutes } from './members/routes.ts'
import { readFamilyClasses } from './families/read-classes.ts'
import { releaseOwnSeats } from './families/release-seats.ts'
import { expireNow } from './registrations/end-hold.ts'
import { holdSeats } from './registrations/hold-seats.ts'
import { checkRegistration } from './registrations/check-registration.ts'
import { listLevels, listSlots, listUnpaidSeats } from './classes/list-classes.ts'
import { registerMetrics } from './metrics.ts'
import { listSeasons, listSessions, readSession } from './classes/list-sessions.ts'
import { setCoach, setLink } from './classes/set-session.ts'
import { calendarFeedOf, readCalendarFeed, renewCalendarFeed } from './families/calendar-feed.ts'
import { moveTo, skipDate } from './reminders/change-meeting.ts'
import { openSeasonOn } from './classes/open-season.ts'
import { setCapacity } from './classes/set-capacity.ts'
import { listRegistrations, readRegistration, readRegistrationLink } from './registrations/read-registrations.ts'
import { renewHold } from './registrations/renew-hold.ts'
import { holdMemberSeat, releaseMemberHold } from './members/hold-member-seat.ts'
import { openMemberPage } from './members/open-member-page.ts'
import { openPage } from './registrations/open-page.ts'
import { shipKit } from './kits/ship-kit.ts'
import { readMemberLink, readMemberSeat, signMemberWaiver } from './waivers/sign-member-waiver.ts'
import { readOwnSignedPdf } from './waivers/read-own-signed-pdf.ts'
import { readSignedPdf, signWaiver } from './waivers/sign-waiver.ts'
import { waiverDocument } from './waivers/waiver-document.ts'
import { acceptOffer } from './waitlist/accept-offer.ts'
import { declineOffer } from './waitlist/decline-offer.ts'
import { joinWaitlist } from './waitlist/join-waitlist.ts'
import { leaveWaitlist } from './waitlist/leave-waitlist.ts'
import { listLine } from './waitlist/list-line.ts'
import { readEntry } from './waitlist/read-entries.ts'

const byId = z.object({ id: uuid() })
const byUser = z.object({ userId: uuid('This is not the id of an account.') })
const byNumber = byId.extend({ number: z.coerce.number().int().min(1) })

export function routes(http: Http, context: Context<Config>): void {
  registerMetrics(context)
  changeRoutes(http, context)
  cancellationRoutes(http, context)
  memberClassRoutes(http, context)
  const onRequest = requireAdmin(context)

  http.get('/classes', { schema: { response: { 200: classesSchema } } }, async () => ({
    levels: await listLevels(context),
  }))

  http.get(
    '/available-slots',
    { schema: { querystring: availableSlotsQuerySchema, response: { 200: availableSlotsSchema } } },
    async (request) => ({ slots: await listSlots(request.query.classType, context) }),
  )

  http.get('/unpaid-seats', { schema: { response: { 200: unpaidSeatsSchema } } }, async () => ({
    sessions: await listUnpaidSeats(context),
  }))

  http.post(
    '/member-seats',
    { schema: { body: holdMemberSeatSchema, response: { 200: memberHoldSchema } } },
    (request) => holdMemberSeat(request.body, context),
  )

  http.post(
    '/member-seats/release',
    {
      schema: {
        body: holdMemberSeatSchema.omit({ classDate: true, attemptId: true }),
        response: { 200: emptyResponseSchema },
      },
    },
    async (request) => {
      await releaseMemberHold(request.body, context)
      return {}
    },
  )

  http.post(
    '/registrations',
    { schema: { body: holdSeatsSchema, response: { 200: heldRegistrationSchema } } },
    (request) => holdSeats(request.body, context),
  )

  http.post(
    '/registrations/judge',
    { schema: { body: holdSeatsSchema, response: { 200: registrationCheckSchema } } },
    (request) => checkRegistration(request.body, context),
  )

  http.get('/registrations/:id', { schema: { params: byId, response: { 200: registrationSchema } } }, (request) =>
    readRegistration(context.db, request.params.id),
  )

  http.get(
    '/registrations/:id/link',
    { schema: { params: byId, querystring: linkQuerySchema, response: { 200: classLinkSchema } } },
    ({ params, query }) => readRegistrationLink(params.id, query.placeId, context),
  )

  http.post(
    '/registrations/:id/hold',
    { schema: { params: byId, body: renewHoldSchema.nullish(), response: { 200: registrationSchema } } },
    (request) => renewHold(request.params.id, request.body ?? {}, context),
  )

  http.post(
    '/registrations/:id/open',
    { schema: { params: byId, body: openPageSchema.nullish(), response: { 200: registrationSchema } } },
    (request) => openPage(request.params.id, request.body ?? undefined, context),
  )

  http.post('/waitlist', { schema: { body: joinWaitlistSchema, response: { 200: waitlistEntrySchema } } }, (request) =>
    joinWaitlist(request.body, context),
  )

  http.get('/waitlist/:id', { schema: { params: byId, response: { 200: waitlistEntrySchema } } }, (request) =>
    readEntry(context.db, request.params.id),
  )

  http.post(
    '/waitlist/:id/accept',
    { schema: { params: byId, body: acceptOfferSchema, response: { 200: heldRegistrationSchema } } },
    (request) => acceptOffer(request.params.id, request.body, context),
  )

  http.post('/waitlist/:id/decline', { schema: { params: byId, response: { 200: waitlistEntrySchema } } }, (request) =>
    declineOffer(request.params.id, context),
  )

  http.post('/waitlist/:id/leave', { schema: { params: byId, response: { 200: waitlistEntrySchema } } }, (request) =>
    leaveWaitlist(request.params.id, context),
  )

  http.post(
    '/member-seats/:id/open',
    { schema: { params: byId, body: openMemberPageSchema.nullish(), response: { 200: openedMemberSeatSchema } } },
    (request) => openMemberPage(request.params.id, request.body?.expiresAt, context),
  )

  http.get(
    '/member-seats/:id',
    { schema: { params: byId, querystring: memberSeatQuerySchema, response: { 200: memberSeatSchema } } },
    (request) => readMemberSeat(request.params.id, request.query.ownerId, context),
  )

  http.get(
    '/member-seats/:id/link',
    { schema: { params: byId, querystring: memberSeatQuerySchema, response: { 200: classLinkSchema } } },
    (request) => readMemberLink(request.params.id, request.query.ownerId, context),
  )

  http.post('/waivers', { schema: { body: signWaiverSchema, response: { 200: waiverSchema } } }, ({ body }) =>
    body.classType === 'membership' ? signMemberWaiver(body, context) : signWaiver(body, context),
  )

  http.get('/waiver-document', { schema: { response: { 200: waiverDocumentSchema } } }, () => {
    const { sha256, blocks } = waiverDocument()
    return { sha256, blocks }
  })

  http.get('/waiver.pdf', async (request, reply) => {
    const { pdf, sha256 } = waiverDocument()
    const etag = `"${sha256}"`
    void reply.headers({ etag, 'x-document-sha256': sha256, 'cache-control': 'no-cache' })
    // If-None-Match may list several tags, prefixed with W/ by compressing proxies.
    const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
    if (known.includes(etag) || known.includes('*')) return reply.code(304).send()
    return reply
      .headers({ 'content-type': 'application/pdf', 'content-disposition': 'inline; filename="waiver.pdf"' })
      .send(Buffer.from(pdf))
  })

  const signedPdfHeaders = {
    'content-type': 'application/pdf',
    'content-disposition': 'inline; filename="signed-waiver.pdf"',
    'cache-control': 'no-store',
  }
  http.get('/waivers/:id.pdf', { schema: { params: byId } }, async (request, reply) => {
    const pdf = await readSignedPdf(request.params.id, context)
    return reply.headers(signedPdfHeaders).send(Buffer.from(pdf))
  })

  http.get(
    '/accounts/:userId/classes',
    { schema: { params: byUser, response: { 200: familyClassesSchema } } },
    (request) => readFamilyClasses(request.params.userId, context),
  )

  http.post(
    '/accounts/:userId/calendar',
    { schema: { params: byUser, response: { 200: calendarFeedSchema } } },
    ({ params }) => calendarFeedOf(params.userId, context),
  )

  http.post(
    '/accounts/:userId/calendar/renew',
    { schema: { params: byUser, response: { 200: calendarFeedSchema } } },
    ({ params }) => renewCalendarFeed(params.userId, context),
  )

  http.get(
    '/calendars/:token',
    { schema: { params: z.object({ token: z.string().regex(/^[\w-]{1,100}$/) }) } },
    async (request, reply) => {
      const calendar = await readCalendarFeed(request.params.token, context)
      return reply.header('content-type', 'text/calendar; charset=utf-8').send(calendar)
    },
  )

  http.post(
    '/accounts/:userId/registrations/:id/release',
    { schema: { params: byUser.extend(byId.shape), response: { 200: registrationSchema } } },
    ({ params }) => releaseOwnSeats(params.userId, params.id, context),
  )

  http.get(
    '/accounts/:userId/waivers/:id.pdf',
    { schema: { params: byUser.extend(byId.shape) } },
    async (request, reply) => {
      const { userId, id } = request.params
      const pdf = await readOwnSignedPdf(userId, id, context)
      return reply.headers(signedPdfHeaders).send(Buffer.from(pdf))
    },
  )

  http.get(
    '/registrations',
    { onRequest, schema: { querystring: registrationQuerySchema, response: { 200: registrationPageSchema } } },
    (request) => listRegistrations(context.db, request.query),
  )

  http.post(
    '/registrations/:id/expire',
    { onRequest, schema: { params: byId, response: { 200: registrationSchema } } },
    (request) => expireNow(request.params.id, context),
  )

  http.post(
    '/kits/:id/ship',
    { onRequest, schema: { params: byId, body: shipKitSchema, response: { 200: registrationSchema } } },
    (request) => shipKit(request.params.id, request.body, context),
  )

  http.get('/admin/seasons', { onRequest, schema: { response: { 200: seasonsSchema } } }, async () => ({
    seasons: await listSeasons(context),
  }))

  http.post(
    '/admin/seasons',
    { onRequest, schema: { body: openSeasonSchema, response: { 200: classSessionsSchema } } },
    async ({ body }) => ({
      sessions: await context.db.transaction((tx) => openSeasonOn(tx, context.clock, body.classDates)),
    }),
  )

  http.get(
    '/admin/class-sessions',
    { onRequest, schema: { querystring: classSessionsQuerySchema, response: { 200: classSessionsSchema } } },
    async ({ query }) => ({ sessions: await listSessions(query, context) }),
  )

  http.post(
    '/admin/class-sessions/:id/capacity',
    { onRequest, schema: { params: byId, body: setCapacitySchema, response: { 200: listedSessionSchema } } },
    ({ params, body }) => setCapacity(params.id, body.capacity, context),
  )

  http.post(
    '/admin/class-sessions/:id/link',
    { onRequest, schema: { params: byId, body: setLinkSchema, response: { 200: listedSessionSchema } } },
    ({ params, body }) => setLink(params.id, body, context),
  )

  http.post(
    '/admin/class-sessions/:id/coach',
    { onRequest, schema: { params: byId, body: setCoachSchema, response: { 200: listedSessionSchema } } },
    ({ params, body }) => setCoach(params.id, body, context),
  )

  http.get(
    '/admin/class-sessions/:id/waitlist',
    { onRequest, schema: { params: byId, response: { 200: waitlistLineSchema } } },
    ({ params }) => listLine(params.id, context),
  )

  http.post(
    '/admin/waitlist/:id/remove',
    { onRequest, schema: { params: byId, response: { 200: waitlistEntrySchema } } },
    ({ params }) => leaveWaitlist(params.id, context),
  )

  http.get(
    '/admin/class-sessions/:id',
    { onRequest, schema: { params: byId, response: { 200: listedSessionSchema } } },
    ({ params }) => readSession(params.id, context),
  )

  http.post(
    '/admin/class-sessions/:id/meetings/:number/move',
    { onRequest, schema: { params: byNumber, body: moveMeetingSchema, response: { 200: listedSessionSchema } } },
    ({ params, body }) => moveTo({ classSessionId: params.id, number: params.number }, body, context),
  )

  http.post(
    '/admin/class-sessions/:id/meetings/:number/skip',
    { onRequest, schema: { params: byNumber, body: skipMeetingSchema, response: { 200: listedSessionSchema } } },
    ({ params, body }) => skipDate({ classSessionId: params.id, number: params.number }, body, context),
  )
}
