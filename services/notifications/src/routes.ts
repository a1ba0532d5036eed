import { mailSchema, mailsQuerySchema, mailsSchema } from '@robokids/contracts/notifications'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import { listMails } from './read-mails.ts'
import { resendMail } from './resend-mail.ts'

export function routes(http: Http, context: Context<Config>): void {
  const preHandler = requireAdmin(context.config.ADMIN_SECRET)

  http.get(
    '/mails',
    { preHandler, schema: { querystring: mailsQuerySchema, response: { 200: mailsSchema } } },
    async (request) => ({ mails: await listMails(context.db, request.query) }),
  )

  http.post(
    '/mails/:id/resend',
    { preHandler, schema: { params: z.object({ id: z.uuid() }), response: { 200: mailSchema } } },
    (request) => resendMail(request.params.id, context),
  )
}
