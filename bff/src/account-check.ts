import { accountHeader } from '@robokids/contracts/auth'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isApi, isRead } from './doorkeeping.ts'
import type { Sessions } from './session.ts'

/**
 * Refuses a change that a page has composed for one account while another is signed in: in another tab, since the page was
 * opened. Requests that name no account are made by whoever is signed in; where nobody is, each route says so itself.
 */
export function checkAccounts(http: Http, sessions: Sessions): void {
  http.addHook('preValidation', async (request, reply) => {
    const composedFor = request.headers[accountHeader]
    if (composedFor === undefined || isRead(request) || !isApi(request)) return
    const { ownerId } = await sessions.ownerOf(request, reply)
    if (ownerId === null || ownerId === composedFor) return
    const message = await otherAccount(request, reply, sessions)
    if (message !== undefined) throw new DomainError('other_account', message)
  })
}

/** @returns undefined where that sign-in is over, so that nobody is signed in. */
async function otherAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: Sessions,
): Promise<string | undefined> {
  try {
    const signInSession = await sessions.find(request, reply)
    if (!signInSession) return undefined
    const { email, verifiedEmail } = await sessions.addressesOf(signInSession, request, reply)
    const name = verifiedEmail ?? email
    if (name !== null) return `You are logged in as ${name} now.`
  } catch (error) {
    if (error instanceof DomainError && error.code === 'sign_in_required') return undefined
    request.log.warn({ err: error }, 'an account could not be asked for')
  }
  return 'Somebody else is logged in in this browser now.'
}
