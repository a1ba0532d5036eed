import { messageTakenSchema, takeMessageSchema } from '@robokids/contracts/contact'
import { mailSchema, mailsQuerySchema, mailsSchema } from '@robokids/contracts/notifications'
import { uuid } from '@robokids/contracts/fields'
import { noticeAskedSchema, noticeSchema, requestNoticeSchema } from '@robokids/contracts/shop'
import { requireAdmin } from '@robokids/runtime/admin'
import { answerEvenly } from '@robokids/runtime/even-answers'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import { readCalendar } from './compose-mail.ts'
import type { Config } from './config.ts'
import { requestStockAlert, confirmNotice, readNotice, removeNotice } from './notices.ts'
import { listMails } from './read-mails.ts'
import { resendMail } from './resend-mail.ts'
import { takeMessage } from './take-message.ts'

/** Longer than it takes to take a request down and to have a mail sent: how long does not tell who gets news already. */
const evenAnswerMs = 100

const noticeParams = z.object({ reference: uuid('This is not the reference of a request.') })
const noticeRoute = { schema: { params: noticeParams, response: { 200: noticeSchema } } }

export function routes(http: Http, context: Context<Config>): void {
  const onRequest = requireAdmin(context)

  http.get(
    '/mails',
    { onRequest, schema: { querystring: mailsQuerySchema, response: { 200: mailsSchema } } },
    async (request) => ({ mails: await listMails(context.db, request.query) }),
  )

  http.post(
    '/mails/:id/resend',
    { onRequest, schema: { params: z.object({ id: z.uuid() }), response: { 200: mailSchema } } },
    (request) => resendMail(request.params.id, context),
  )

  http.get(
    '/registrations/:id/calendar.ics',
    { schema: { params: z.object({ id: uuid() }) } },
    async (request, reply) => {
      const calendar = await readCalendar(request.params.id, context)
      return reply.header('content-type', 'text/calendar; charset=utf-8; method=PUBLISH').send(calendar)
    },
  )

  http.post('/messages', { schema: { body: takeMessageSchema, response: { 200: messageTakenSchema } } }, ({ body }) =>
    takeMessage(context, body),
  )

  http.post(
    '/notices',
    { schema: { body: requestNoticeSchema, response: { 200: noticeAskedSchema } } },
    async ({ body }) => {
      await answerEvenly(evenAnswerMs, () => requestStockAlert(context, body))
      return { asked: true as const }
    },
  )
  http.get('/notices/:reference', noticeRoute, ({ params }) => readNotice(context, params.reference))
  http.post('/notices/:reference/confirmation', noticeRoute, ({ params }) => confirmNotice(context, params.reference))
  http.post('/notices/:reference/removal', noticeRoute, ({ params }) => removeNotice(context, params.reference))
}
