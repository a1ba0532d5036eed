import type { firstFactors, SignInStep } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { useClientState } from '../browser/use-client-state.ts'
import type { Message } from '../forms/use-submit.ts'
import { provenApi, provenWhereAsked } from '../proof-of-work/proven.ts'
import { signInStep } from './answers.ts'
import { forgetStep, keepStep, readKeptStep } from './kept-step.ts'
import { refetchSession } from './session.ts'

const noCookies =
  'Your browser blocks this site’s cookies, so you can’t stay logged in. Please allow cookies and log in again.'

export type FirstFactor = (typeof firstFactors)[number]

interface SignInRequest {
  /** Omitted when the signed-in user confirms their identity. */
  email?: string
  password?: string
  preferred?: FirstFactor
}

export interface SignInAnswer {
  answer: string | Record<string, unknown>
  attributes?: Record<string, string>
  /** A choice between factors, which can be made again. */
  choice?: boolean
  /** Works only once: a code, a passkey's proof. */
  once?: boolean
  /** Skip the second step in this browser from now on. */
  trust?: boolean
  /** The answer names another second step to use in place of this one. */
  instead?: boolean
}

export interface SignIn {
  step: SignInStep | null
  /** Why the sign-in had to start again, if it did. */
  ended: Message | null
  begin: (request: SignInRequest) => Promise<void>
  answer: (answer: SignInAnswer) => Promise<void>
  /** Whether a code is the second step after a password, which a trusted browser may skip. */
  isSecondStep: boolean
  /** Replays the history up to this step, which sends a new code; absent if it contains an answer that works only once. */
  repeat?: () => Promise<void>
  /** Returns to the last choice, if there was one. */
  chooseAgain?: () => Promise<void>
  startAgain: () => void
  /** Aborted by `startAgain`: later responses are ignored. */
  signal: AbortSignal
}

/**
 * A sign-in from its first form to its end: the server's cookie holds the step, this holds the answers that led there. After
 * a reload the step continues without that history, as a password is never stored.
 * @param again whether the signed-in user confirms their identity: no email is sent then
 */
export function useSignIn({ again = false } = {}): SignIn {
  const queryClient = useQueryClient()
  const [kept] = useClientState(null, () => (again ? null : readKeptStep()))
  const [step, setStep] = useClientState<SignInStep | null>(null, () => (again ? null : readKeptStep().step))
  const [ended, setEnded] = useState<Message | null>(null)
  const [history, setHistory] = useState<{ request: SignInRequest; answers: SignInAnswer[] } | null>(null)
  const [attempt, setAttempt] = useState(() => new AbortController())
  const { signal } = attempt

  const startAgain = (why: string | null = null) => {
    if (!again) forgetStep()
    attempt.abort()
    setAttempt(new AbortController())
    setHistory(null)
    setStep(null)
    setEnded(why === null ? null : { kind: 'error', text: why })
  }

  const enterStep = async (next: SignInStep, request?: SignInRequest) => {
    if (next.step === 'DONE') {
      // The sign-in succeeded even if the session cannot be fetched right now.
      const session = await refetchSession(queryClient).catch(() => undefined)
      if (session?.user === null) throw new Error(noCookies)
    }
    if (signal.aborted) return
    setStep(next)
    if (again) return
    if (next.step === 'DONE') forgetStep()
    else if (request)
      keepStep({ email: request.email ?? '', step: next, isSecond: request.password !== undefined, sent: null })
    else keepStep({ step: next })
  }

  const sendRequest = (request: SignInRequest) => {
    const call = { method: 'POST', body: request, answer: signInStep, signal } as const
    if (again) return provenWhereAsked('sign-in', '/api/auth/sign-in-again', call)
    // A sign-in with a password sends no mail, so it needs no proof by default.
    const send = request.password === undefined ? provenApi : provenWhereAsked
    return send('sign-in', '/api/auth/sign-in', call)
  }
  const sendAnswer = ({ answer, attributes, trust, instead }: SignInAnswer) =>
    provenWhereAsked('sign-in', '/api/auth/sign-in/answer', {
      method: 'POST',
      body: {
        answer,
        ...(attributes ? { attributes } : {}),
        ...(trust ? { trust } : {}),
        ...(instead ? { instead } : {}),
      },
      answer: signInStep,
      signal,
    })

  const replay = async (request: SignInRequest, answers: SignInAnswer[]) => {
    if (!navigator.cookieEnabled) throw new Error(noCookies)
    try {
      let next = await sendRequest(request)
      for (const answer of answers) next = await sendAnswer(answer)
      setHistory({ request, answers })
      await enterStep(next, request)
    } catch (error) {
      if (!isRefusal(error, 'already_signed_in')) throw error
      await refetchSession(queryClient).catch(() => undefined)
      startAgain(error.message)
    }
  }

  const lastChoice = history?.answers.findLastIndex(({ choice }) => choice) ?? -1
  return {
    step,
    ended,
    isSecondStep: !again && (history ? history.request.password !== undefined : kept?.isSecond === true),
    begin: (request) => {
      setEnded(null)
      return replay(request, [])
    },
    async answer(answer) {
      try {
        const next = await sendAnswer(answer)
        setHistory((before) => before && { ...before, answers: [...before.answers, answer] })
        await enterStep(next, history?.request)
      } catch (error) {
        if (!isRefusal(error, 'sign_in_step_expired', 'already_signed_in')) throw error
        if (error.code === 'already_signed_in') await refetchSession(queryClient).catch(() => undefined)
        startAgain(error.message || 'This login took too long. Please start again.')
      }
    },
    ...(history && !history.answers.some(({ once }) => once)
      ? {
          repeat: () => replay(history.request, history.answers),
          ...(lastChoice >= 0
            ? { chooseAgain: () => replay(history.request, history.answers.slice(0, lastChoice)) }
            : {}),
        }
      : {}),
    startAgain: () => startAgain(),
    signal,
  }
}
