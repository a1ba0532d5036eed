import { availableSlotsQuerySchema } from '@robokids/contracts/enrollment'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Offers } from './offers.ts'
import { sendFile, SiteFile } from './site-files.ts'

/** What the site offers. A browser keeps it, asks each time whether it is still so, and then gets no more than a yes. */
export function offerRoutes(http: Http, offers: Offers): void {
  /** Those who asked at once get the same answer, which is written once. */
  const written = new WeakMap<object, SiteFile>()

  function send(request: FastifyRequest, reply: FastifyReply, answer: object) {
    const known = written.get(answer)
    if (known) return sendFile(request, reply, known)
    const content = Buffer.from(JSON.stringify(answer))
    const file = new SiteFile(content, { type: 'application/json; charset=utf-8', cacheControl: 'no-cache' })
    written.set(answer, file)
    return sendFile(request, reply, file)
  }

  http.get('/api/classes', async (request, reply) => send(request, reply, await offers.classes()))
  http.get('/api/shop', async (request, reply) => send(request, reply, await offers.shop()))
  http.get('/api/membership-plans', async (request, reply) => send(request, reply, await offers.plans()))
  http.get('/api/availableSlots', { schema: { querystring: availableSlotsQuerySchema } }, async (request, reply) =>
    send(request, reply, await offers.slots(request.query.classType)),
  )
}
