import type { SignedOut } from '@robokids/contracts/auth'
import type { QueryClient } from '@tanstack/react-query'
import { type Answer, done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { forgetUser } from './session.ts'

const answerWithinMs = 8_000

/**
 * Signs out in this browser, or in all of them. Until the server confirms it, the page stays as it is: the next person at
 * this browser may still be signed in.
 * @param leave navigates to a page that needs no account, before the account's data is cleared
 * @throws Error whose message can be shown
 */
export async function signOut(
  queryClient: QueryClient,
  { everywhere = false, leave }: { everywhere?: boolean; leave?: () => Promise<void> } = {},
): Promise<void> {
  let logoutUrl: string | undefined
  try {
    // Older browsers have no `timeout` and wait until the connection fails.
    const signal = AbortSignal.timeout?.(answerWithinMs)
    const answer = done as Answer<SignedOut>
    ;({ logoutUrl } = await api('/api/auth/sign-out', { method: 'POST', body: { everywhere }, answer, signal }))
  } catch (error) {
    // oxlint-disable-next-line no-console -- as specified
    console.error('Could not sign out', error)
    throw new Error('You’re still logged in on this browser.', { cause: error })
  }
  try {
    await leave?.()
  } finally {
    forgetUser(queryClient)
    if (logoutUrl) location.assign(logoutUrl)
  }
}
