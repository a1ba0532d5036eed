import type { ServerResponse } from 'node:http'

/** Aborts when the client disconnects. Fastify's `request.signal` aborts as soon as the body has been read. */
export function abortOnDisconnect({ raw }: { raw: ServerResponse }): AbortSignal {
  const disconnected = new AbortController()
  raw.once('close', () => disconnected.abort())
  return disconnected.signal
}
