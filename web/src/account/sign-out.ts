import type { SignedOut } from '@robokids/contracts/auth'
import type { QueryClient } from '@tanstack/react-query'
import { type Answer, done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { forgetUser } from './session.ts'

const answerWithinMs = 8_000

/**
 * Signs out here, or everywhere. Until the server has said that it is done, whoever comes to this browser next may still find
 * the account in it, so that nothing here looks as if it were.
 * @param leave goes to where one is without an account; the screen of the account is gone before what it shows is.
 * @throws Error whose message is for people
 */
export async function signOut(
  queryClient: QueryClient,
  { everywhere = false, leave }: { everywhere?: boolean; leave?: () => Promise<void> } = {},
): Promise<void> {
  let logoutUrl: string | undefined
  try {
    // Browsers without it wait as long as the line does.
    const signal = AbortSignal.timeout?.(answerWithinMs)
    const answer = done as Answer<SignedOut>
    ;({ logoutUrl } = await api('/api/auth/sign-out', { method: 'POST', body: { everywhere }, answer, signal }))
  } catch (error) {
    // oxlint-disable-next-line no-console -- as specified
    console.error('Could not sign out', error)
    throw new Error('You are still logged in in this browser.', { cause: error })
  }
  try {
    await leave?.()
  } finally {
    forgetUser(queryClient)
    if (logoutUrl) location.assign(logoutUrl)
  }
}
