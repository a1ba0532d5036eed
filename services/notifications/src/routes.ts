import { messageSentSchema, sendMessageSchema } from '@robokids/contracts/contact'
import { mailSchema, mailsQuerySchema, mailsSchema } from '@robokids/contracts/notifications'
import { uuid } from '@robokids/contracts/fields'
import { stockAlertRequestedSchema, stockAlertSchema, requestStockAlertSchema } from '@robokids/contracts/shop'
import { requireAdmin } from '@robokids/runtime/admin'
import { padResponseTime } from '@robokids/runtime/response-time'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import { readCalendar } from './compose-mail.ts'
import type { Config } from './config.ts'
import { requestStockAlert, confirmStockAlert, readStockAlert, removeStockAlert } from './stock-alerts.ts'
import { listMails } from './read-mails.ts'
import { resendMail } from './resend-mail.ts'
import { sendMessage } from './send-message.ts'

/** Longer than storing a request and enqueuing a mail, so that the response time does not disclose who has an alert already. */
const responseTimeStepMs = 100

const stockAlertParams = z.object({ reference: uuid('This is not the reference of a request.') })
const stockAlertRoute = { schema: { params: stockAlertParams, response: { 200: stockAlertSchema } } }

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

  http.post('/messages', { schema: { body: sendMessageSchema, response: { 200: messageSentSchema } } }, ({ body }) =>
    sendMessage(context, body),
  )

  http.post(
    '/notices',
    { schema: { body: requestStockAlertSchema, response: { 200: stockAlertRequestedSchema } } },
    async ({ body }) => {
      await padResponseTime(responseTimeStepMs, () => requestStockAlert(context, body))
      return { asked: true as const }
    },
  )
  http.get('/notices/:reference', stockAlertRoute, ({ params }) => readStockAlert(context, params.reference))
  http.post('/notices/:reference/confirmation', stockAlertRoute, ({ params }) =>
    confirmStockAlert(context, params.reference),
  )
  http.post('/notices/:reference/removal', stockAlertRoute, ({ params }) => removeStockAlert(context, params.reference))
}
