import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/api.ts'
import { provenWhereAsked } from '../proof-of-work/proven.ts'
import { signInStep } from './answers.ts'
import { refetchSession } from './session.ts'

const askEveryMs = 5_000
/** Debounces events that trigger a check at the same time. */
const debounceMs = 300
const forMs = 180_000
const tooLate = 'The account was not confirmed on time.'

export type AutoSignIn =
  | { state: 'off' }
  | { state: 'waiting' }
  | { state: 'signed in' }
  /** Confirmed, but the sign-in has another step. */
  | { state: 'unfinished' }
  | { state: 'failed'; message: string }

/**
 * Signs in once the account is confirmed, possibly in another tab: polls every 5 s for up to 3 min after the sign-up, and
 * when this tab becomes visible, as its timers may have been suspended.
 * @param signedUpAt milliseconds; undefined if nobody signed up in this tab, or there is nothing to wait for
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
        // Stop on a final error; retry on a temporary one.
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
