import type { Http } from '@robokids/runtime/http'
import type { Services } from './upstream.ts'

/** Hands the payment provider's notices to billing byte for byte: their signature is over the raw body. */
export function webhookRoute(http: Http, { billing }: Services): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 1 << 20 }, (_request, body, done) => {
    done(null, body)
  })
  http.post('/webhooks/stripe', async (request, reply) => {
    const signature = request.headers['stripe-signature']
    const headers = {
      'content-type': 'application/json',
      ...(typeof signature === 'string' ? { 'stripe-signature': signature } : {}),
    }
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const answer = await billing.raw('POST', '/webhooks/stripe', { headers, body })
    return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
  })
}
