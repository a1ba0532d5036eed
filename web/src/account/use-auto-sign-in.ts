import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/api.ts'
import { provenWhereAsked } from '../proof-of-work/proven.ts'
import { signInStep } from './answers.ts'
import { refetchSession } from './session.ts'

const askEveryMs = 5_000
/** What has it asked at once, and then again at once, has it asked once. */
const debounceMs = 300
const forMs = 180_000
const tooLate = 'The account was not confirmed on time.'

export type AutoSignIn =
  | { state: 'off' }
  | { state: 'waiting' }
  | { state: 'signed in' }
  /** Confirmed, but the sign-in itself has another step. */
  | { state: 'unfinished' }
  | { state: 'failed'; message: string }

/**
 * Signs in as soon as the account is confirmed, perhaps in another tab: asks every 5 s for up to 3 min after the sign-up, and
 * when somebody comes back to this tab, whose timers may have slept.
 * @param signedUpAt milliseconds; undefined where nobody signed up in this tab, or where there is nothing to wait for.
 */
export function useAutoSignIn(signedUpAt: number | undefined): AutoSignIn {
  const queryClient = useQueryClient()
  const [end, setEnd] = useState<AutoSignIn | null>(null)
  const [openedAt] = useState(() => Date.now())
  const watch = signedUpAt !== undefined && openedAt - signedUpAt < forMs

  useEffect(() => {
    if (!watch) return
    const over = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    let asking = false
    const askIn = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => void ask(), ms)
    }
    const finish = (how: AutoSignIn) => {
      if (!over.signal.aborted) setEnd(how)
    }
    const ask = async () => {
      if (Date.now() - signedUpAt >= forMs) return finish({ state: 'failed', message: tooLate })
      asking = true
      try {
        const { step } = await provenWhereAsked('sign-in', '/api/auth/auto-sign-in', {
          method: 'POST',
          answer: signInStep,
          signal: over.signal,
        })
        if (step === 'DONE') {
          await refetchSession(queryClient).catch(() => undefined)
          return finish({ state: 'signed in' })
        }
        if (step !== 'waiting') return finish({ state: 'unfinished' })
      } catch (error) {
        if (over.signal.aborted) return
        // The server refuses for good; what may pass is asked again.
        if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429)
          return finish({ state: 'failed', message: error.message || tooLate })
      } finally {
        asking = false
      }
      if (!over.signal.aborted) askIn(askEveryMs)
    }
    const comeBack = () => {
      if (!asking && document.visibilityState === 'visible') askIn(debounceMs)
    }
    askIn(askEveryMs)
    window.addEventListener('focus', comeBack, over)
    document.addEventListener('visibilitychange', comeBack, over)
    return () => {
      over.abort()
      clearTimeout(timer)
    }
  }, [watch, signedUpAt, queryClient])

  return end ?? { state: watch ? 'waiting' : 'off' }
}
