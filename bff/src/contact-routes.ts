import { contactMessageSchema, messageSentSchema } from '@robokids/contracts/contact'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { Accounts } from './auth-routes.ts'
import type { Config } from './config.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Proofs } from './proofs.ts'
import { isOwnAddress } from './session.ts'
import type { Services } from './upstream.ts'

/** The contact form. */
export function contactRoutes(
  http: Http,
  { config }: Context<Config>,
  { notifications }: Pick<Services, 'notifications'>,
  { sessions, proofs, mailLimits }: Pick<Accounts, 'sessions'> & { proofs: Proofs; mailLimits: MailLimits },
): void {
  http.post(
    '/api/contact',
    {
      schema: { body: contactMessageSchema, response: { 200: messageSentSchema } },
      config: { rateLimit: { max: config.RATE_LIMIT_MESSAGES, timeWindow: '1 hour' } },
      preHandler: [proofs.required('contact'), mailLimits.ofMessages],
    },
    async (request, reply) => {
      const isProven = isOwnAddress(request.body.email, await sessions.ownerOf(request, reply))
      return notifications.call('POST', '/messages', {
        body: { ...request.body, isProven },
        answer: messageSentSchema,
      })
    },
  )
}
