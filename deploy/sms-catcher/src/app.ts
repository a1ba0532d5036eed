import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { z } from 'zod'
import { renderPage } from './page.ts'

const messageSchema = z.object({
  id: z.string().min(1).max(200),
  /** The phone number. */
  to: z.string().min(1).max(100),
  text: z.string().min(1).max(2_000),
})
export interface TextMessage extends z.infer<typeof messageSchema> {
  receivedAt: string
}

export interface SmsCatcher {
  /** `http://host:port`; messages are posted to `/messages`. */
  url: string
  stop(): Promise<void>
}

/** The oldest ones make room. */
const capacity = 500

/**
 * Takes text messages as a provider's gateway would, and sends them to nobody: `POST /messages` with `{id, to, text}`, an
 * id that came before being taken as the same message; `GET` and `DELETE /messages`; a page for people at `/`.
 */
export async function createSmsCatcher({ port = 0, host = '127.0.0.1' } = {}): Promise<SmsCatcher> {
  /** By id, in the order in which they came. */
  const messages = new Map<string, TextMessage>()
  const http = Fastify({ bodyLimit: 16 * 1024, forceCloseConnections: true })

  http.post('/messages', async (request, reply) => {
    const message = messageSchema.safeParse(request.body)
    if (!message.success) return reply.code(400).send({ message: z.prettifyError(message.error) })
    const { id } = message.data
    if (messages.has(id)) return { id }
    messages.set(id, { ...message.data, receivedAt: Temporal.Now.instant().toString({ fractionalSecondDigits: 3 }) })
    const [oldest] = messages.keys()
    if (messages.size > capacity && oldest !== undefined) messages.delete(oldest)
    return reply.code(201).send({ id })
  })
  http.get('/messages', async () => ({ messages: [...messages.values()] }))
  http.delete('/messages', async (_request, reply) => {
    messages.clear()
    return reply.code(204).send()
  })
  http.get('/healthz', async () => ({ status: 'ok' }))
  http.get('/', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(renderPage([...messages.values()].toReversed())),
  )

  await http.listen({ host, port })
  return { url: `http://${host}:${(http.server.address() as AddressInfo).port}`, stop: () => http.close() }
}
