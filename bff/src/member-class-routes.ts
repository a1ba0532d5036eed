import { emptyResponseSchema } from '@robokids/contracts/auth'
import { foundMembershipSchema } from '@robokids/contracts/billing'
import { uuid } from '@robokids/contracts/fields'
import {
  bookableClassesSchema,
  bookMemberClassSchema,
  cancelMemberClassSchema,
  memberClassesSchema,
  memberClassSchema,
  moveMemberClassSchema,
} from '@robokids/contracts/member-classes'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Accounts } from './auth-routes.ts'
import type { MailLimits } from './mail-limits.ts'
import type { Services } from './upstream.ts'

const byId = z.object({ id: uuid() })

/** The classes of members: booked, moved and canceled by the account that owns the membership. For any other, they do not exist. */
export function memberClassRoutes(
  http: Http,
  { enrollment, billing }: Services,
  { sessions, mailLimits }: Pick<Accounts, 'sessions'> & { mailLimits: MailLimits },
): void {
  const onRequest = sessions.required
  // Each of them sends a mail.
  const confirming = { onRequest, preHandler: mailLimits.ofAccount }
  const path = '/api/dashboard/member-classes'

  async function accountOf(request: FastifyRequest, reply: FastifyReply) {
    const signInSession = await sessions.require(request, reply)
    const { verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    if (verifiedEmail === null)
      throw new DomainError('not_found', 'There is nothing to show before the address is verified.')
    const { userId } = signInSession
    return { userId, email: verifiedEmail, upstream: `/accounts/${userId}/member-classes` as const }
  }

  http.get(path, { onRequest, schema: { response: { 200: bookableClassesSchema } } }, async (request, reply) => {
    const { userId, email, upstream } = await accountOf(request, reply)
    const { signal } = request
    const [classes, found] = await Promise.all([
      enrollment.call('GET', upstream, { answer: memberClassesSchema, signal }),
      billing
        .call('POST', '/memberships/find', { body: { userId, email }, answer: foundMembershipSchema, signal })
        // Booking does not depend on it.
        .catch((error: unknown) => {
          if (error instanceof DomainError && error.code === 'upstream_unavailable') return undefined
          throw error
        }),
    ])
    return { ...classes, membership: found?.membership ?? null }
  })

  http.post(
    path,
    { ...confirming, schema: { body: bookMemberClassSchema, response: { 200: memberClassSchema } } },
    async (request, reply) => {
      const { upstream } = await accountOf(request, reply)
      return enrollment.call('POST', upstream, { body: request.body, answer: memberClassSchema })
    },
  )

  http.post(
    `${path}/:id/move`,
    { ...confirming, schema: { params: byId, body: moveMemberClassSchema, response: { 200: memberClassSchema } } },
    async (request, reply) => {
      const { upstream } = await accountOf(request, reply)
      const { params, body } = request
      return enrollment.call('POST', `${upstream}/${params.id}/move`, { body, answer: memberClassSchema })
    },
  )

  http.post(
    `${path}/:id/cancel`,
    { ...confirming, schema: { params: byId, body: cancelMemberClassSchema, response: { 200: emptyResponseSchema } } },
    async (request, reply) => {
      const { upstream } = await accountOf(request, reply)
      const { params, body } = request
      return enrollment.call('POST', `${upstream}/${params.id}/cancel`, { body, answer: emptyResponseSchema })
    },
  )
}
