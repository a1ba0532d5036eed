import { availableSlotsQuerySchema } from '@robokids/contracts/enrollment'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Offers } from './offers.ts'
import { sendFile, SiteFile } from './site-files.ts'

/** The site's offers. Browsers cache them and revalidate each time with an ETag. */
export function offerRoutes(http: Http, offers: Offers): void {
  /** Concurrent requests get the same object, which is serialized once. */
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
