import type { QueryClient } from '@tanstack/react-query'
import { api } from '../api.ts'
import { forgetUser } from './session.ts'

/** A server that does not answer keeps nobody signed in on the screen. */
const answerWithinMs = 8_000

/**
 * Signs out here, or everywhere. A failure is only logged: this tab forgets who it was in any case.
 * @param leave goes to where one is without an account; the screen of the account is gone before what it shows is.
 */
export async function signOut(
  queryClient: QueryClient,
  { everywhere = false, leave }: { everywhere?: boolean; leave?: () => Promise<void> } = {},
): Promise<void> {
  try {
    await api('/api/auth/sign-out', {
      method: 'POST',
      body: { everywhere },
      answer: { safeParse: () => ({ success: true, data: undefined }) },
      signal: AbortSignal.timeout(answerWithinMs),
    })
  } catch (error) {
    // oxlint-disable-next-line no-console -- as specified: logged, and nothing else
    console.error('Could not sign out', error)
  }
  try {
    await leave?.()
  } finally {
    forgetUser(queryClient)
  }
}
