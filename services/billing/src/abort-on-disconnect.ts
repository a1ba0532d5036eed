import type { ServerResponse } from 'node:http'

/** Aborts once nobody waits for the answer any more. Fastify's `request.signal` does so as soon as the body is read. */
export function abortOnDisconnect({ raw }: { raw: ServerResponse }): AbortSignal {
  const left = new AbortController()
  raw.once('close', () => left.abort())
  return left.signal
}
