import type { firstFactors, SignInStep } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { useClientState } from '../browser/use-client-state.ts'
import type { Message } from '../forms/use-submit.ts'
import { provenApi, provenWhereAsked } from '../proof-of-work/proven.ts'
import { signInStep } from './answers.ts'
import { forgetStep, keepStep, readKeptStep } from './kept-step.ts'
import { askSession } from './session.ts'

const noCookies =
  'Your browser keeps no cookies of this site, so that you cannot stay logged in. Please allow cookies, and log in again.'

export type FirstFactor = (typeof firstFactors)[number]

interface Beginning {
  /** Left out where who is signed in signs in again. */
  email?: string
  password?: string
  preferred?: FirstFactor
}

export interface SignInAnswer {
  answer: string | Record<string, unknown>
  attributes?: Record<string, string>
  /** A choice between ways, to which one can come back. */
  choice?: boolean
  /** It cannot be given a second time: a code, a passkey's proof. */
  once?: boolean
  /** No second step is asked for in this browser any more. */
  trust?: boolean
  /** It names another second step, to be asked for in place of this one. */
  instead?: boolean
}

export interface SignIn {
  step: SignInStep | null
  /** Why the sign-in begins again; null when nothing happened. */
  ended: Message | null
  begin: (beginning: Beginning) => Promise<void>
  answer: (answer: SignInAnswer) => Promise<void>
  /** Whether a code that is asked for is the second step, after the password, of a browser that may be trusted to go without. */
  isSecondStep: boolean
  /** Goes the same way again up to this step, which sends a new code; absent where that needs what works only once. */
  repeat?: () => Promise<void>
  /** Goes back to the last choice; absent where there was none. */
  chooseAgain?: () => Promise<void>
  startAgain: () => void
  /** Aborted once it was started again: what comes for it after that comes too late. */
  signal: AbortSignal
}

/**
 * A sign-in from its first form to its end; the server's cookie holds the step, this holds the way that led there. After a
 * reload it goes on at the same step, and only the way is gone, as a password is never kept.
 * @param again whether it is that of who is signed in, to show that it is they: nobody is named then.
 */
export function useSignIn({ again = false } = {}): SignIn {
  const queryClient = useQueryClient()
  const [kept] = useClientState(null, () => (again ? null : readKeptStep()))
  const [step, setStep] = useClientState<SignInStep | null>(null, () => (again ? null : readKeptStep().step))
  const [ended, setEnded] = useState<Message | null>(null)
  const [way, setWay] = useState<{ beginning: Beginning; answers: SignInAnswer[] } | null>(null)
  const [underWay, setUnderWay] = useState(() => new AbortController())
  const { signal } = underWay

  const startAgain = (why: string | null = null) => {
    if (!again) forgetStep()
    underWay.abort()
    setUnderWay(new AbortController())
    setWay(null)
    setStep(null)
    setEnded(why === null ? null : { kind: 'error', text: why })
  }

  const arrive = async (next: SignInStep, beginning?: Beginning) => {
    if (next.step === 'DONE') {
      // Signed in all the same where the session cannot be asked just now.
      const session = await askSession(queryClient).catch(() => undefined)
      if (session?.user === null) throw new Error(noCookies)
    }
    if (signal.aborted) return
    setStep(next)
    if (again) return
    if (next.step === 'DONE') forgetStep()
    else if (beginning)
      keepStep({ email: beginning.email ?? '', step: next, isSecond: beginning.password !== undefined, sent: null })
    else keepStep({ step: next })
  }

  const sendBeginning = (beginning: Beginning) => {
    const call = { method: 'POST', body: beginning, answer: signInStep, signal } as const
    if (again) return provenWhereAsked('sign-in', '/api/auth/sign-in-again', call)
    // With a password it costs no mail.
    const send = beginning.password === undefined ? provenApi : provenWhereAsked
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

  const walk = async (beginning: Beginning, answers: SignInAnswer[]) => {
    if (!navigator.cookieEnabled) throw new Error(noCookies)
    try {
      let next = await sendBeginning(beginning)
      for (const answer of answers) next = await sendAnswer(answer)
      setWay({ beginning, answers })
      await arrive(next, beginning)
    } catch (error) {
      if (!isRefusal(error, 'already_signed_in')) throw error
      await askSession(queryClient).catch(() => undefined)
      startAgain(error.message)
    }
  }

  const lastChoice = way?.answers.findLastIndex(({ choice }) => choice) ?? -1
  return {
    step,
    ended,
    isSecondStep: !again && (way ? way.beginning.password !== undefined : kept?.isSecond === true),
    begin: (beginning) => {
      setEnded(null)
      return walk(beginning, [])
    },
    async answer(answer) {
      try {
        const next = await sendAnswer(answer)
        setWay((before) => before && { ...before, answers: [...before.answers, answer] })
        await arrive(next, way?.beginning)
      } catch (error) {
        if (!isRefusal(error, 'sign_in_step_expired', 'already_signed_in')) throw error
        if (error.code === 'already_signed_in') await askSession(queryClient).catch(() => undefined)
        startAgain(error.message || 'This login took too long. Please start again.')
      }
    },
    ...(way && !way.answers.some(({ once }) => once)
      ? {
          repeat: () => walk(way.beginning, way.answers),
          ...(lastChoice >= 0 ? { chooseAgain: () => walk(way.beginning, way.answers.slice(0, lastChoice)) } : {}),
        }
      : {}),
    startAgain: () => startAgain(),
    signal,
  }
}
