import { createHash, timingSafeEqual } from 'node:crypto'
import type { preHandlerHookHandler } from 'fastify'
import { z } from 'zod'
import { DomainError } from './errors.ts'
import type { Http } from './http.ts'
import { deadLetterSchema, listDeadLetters, replayDeadLetter, type Consumer } from './inbox.ts'
import type { Context } from './service.ts'

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** A hook for routes that only administrators may call: they send the admin secret as `x-admin-secret`. */
export function requireAdmin(secret: string): preHandlerHookHandler {
  const expected = digest(secret)
  return (request, _reply, next) => {
    const given = request.headers['x-admin-secret']
    if (typeof given === 'string' && timingSafeEqual(digest(given), expected)) return next()
    throw new DomainError('admin_secret_invalid', 'This needs the admin secret.')
  }
}

/** `GET /admin/dead-letters?all=true` and `POST /admin/dead-letters/:id/replay`, for `npm run admin`. */
export function deadLetterRoutes<Config>(http: Http, consumers: Consumer<Config>[], context: Context<Config>): void {
  const preHandler = requireAdmin(context.config.ADMIN_SECRET)
  http.get(
    '/admin/dead-letters',
    {
      preHandler,
      schema: {
        querystring: z.object({ all: z.stringbool().default(false) }),
        response: { 200: z.object({ deadLetters: z.array(deadLetterSchema) }) },
      },
    },
    async (request) => ({ deadLetters: await listDeadLetters(context.db, request.query.all) }),
  )
  http.post(
    '/admin/dead-letters/:id/replay',
    {
      preHandler,
      schema: { params: z.object({ id: z.uuid() }), response: { 200: z.object({ replayed: z.literal(true) }) } },
    },
    async (request) => {
      await replayDeadLetter(consumers, request.params.id, context)
      return { replayed: true as const }
    },
  )
}
