import { accountHeader } from '@robokids/contracts/auth'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isApi, isRead } from './request-guards.ts'
import type { Sessions } from './session.ts'

/**
 * Rejects a change that a page composed for one account if another one is signed in by now, in another tab. Requests that name
 * no account are accepted for the signed-in one; if there is none, each route responds by itself.
 */
export function checkAccounts(http: Http, sessions: Sessions): void {
  http.addHook('preValidation', async (request, reply) => {
    const composedFor = request.headers[accountHeader]
    if (composedFor === undefined || isRead(request) || !isApi(request)) return
    const { ownerId } = await sessions.ownerOf(request, reply)
    if (ownerId === null || ownerId === composedFor) return
    const message = await otherAccountMessage(request, reply, sessions)
    if (message !== undefined) throw new DomainError('other_account', message)
  })
}

/** @returns undefined if that sign-in has ended, so that nobody is signed in. */
async function otherAccountMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: Sessions,
): Promise<string | undefined> {
  try {
    const signInSession = await sessions.find(request, reply)
    if (!signInSession) return undefined
    const { email, verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    const name = verifiedEmail ?? email
    if (name !== null) return `You are now logged in as ${name}.`
  } catch (error) {
    if (error instanceof DomainError && error.code === 'sign_in_required') return undefined
    request.log.warn({ err: error }, 'could not read an account')
  }
  return 'Someone else is now logged in on this browser.'
}
