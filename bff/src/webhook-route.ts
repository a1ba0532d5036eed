import { errorBodySchema } from '@robokids/contracts/errors'
import { DomainError } from '@robokids/runtime/errors'
import { GuessLimit } from '@robokids/runtime/guess-limit'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import type { Services } from './upstream.ts'

/** Whether billing rejected a webhook event because of its signature. */
function isUnsigned(body: Buffer): boolean {
  try {
    return errorBodySchema.safeParse(JSON.parse(body.toString())).data?.code === 'signature_invalid'
  } catch {
    return false
  }
}

/**
 * Forwards the payment provider's webhook events to billing byte for byte, because the signature is over the raw body. Requests
 * without a signature are rejected before their body is read, and a network that sends many wrong ones is blocked for a while.
 */
export function webhookRoute(http: Http, context: Context<Config>, { billing }: Services): void {
  const limit = new GuessLimit(context, { what: 'webhook_signature', perNetwork: 30, windowMs: 60_000 })
  const signatureInvalid = () =>
    new DomainError('signature_invalid', 'The signature does not fit the body, or is too old.')
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 1 << 20 }, (_request, body, done) => {
    done(null, body)
  })
  http.post(
    '/webhooks/stripe',
    {
      onRequest: (request, _reply, next) => {
        if (limit.isBlocked(request) || !/\bv1=/.test(String(request.headers['stripe-signature'] ?? '')))
          throw limit.countWrong(request, signatureInvalid())
        next()
      },
    },
    async (request, reply) => {
      const headers = {
        'content-type': 'application/json',
        'stripe-signature': String(request.headers['stripe-signature']),
      }
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const answer = await billing.raw('POST', '/webhooks/stripe', { headers, body })
      if (answer.status === 400 && isUnsigned(answer.body)) throw limit.countWrong(request, signatureInvalid())
      return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
    },
  )
}
