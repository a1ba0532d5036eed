import { useRef, useState } from 'react'
import { ApiError } from '../api/api.ts'
import { messageOf } from '../api/refusals.ts'
import { type Advice, adviceOn } from './advice.ts'
import { errorsByField, type FieldErrors } from './field-errors.ts'

export interface Message {
  kind: 'error' | 'success'
  text: string
  /** How to proceed, if the text does not say it. */
  advice?: Advice | undefined
}

/** The state of what a form or a button sends: one request at a time, and how the last one ended. */
export interface Submission {
  pending: boolean
  /** The line above the form. Each message is a new object, so that the same words are read out again. */
  message: Message | null
  errors: FieldErrors
  showSuccess: (text: string) => void
  /** Without a text where something else on the page says it. */
  showError: (text: string | null, errors?: FieldErrors) => void
  /** For a field that is being corrected. */
  clearError: (...fields: string[]) => void
  clear: () => void
  /** Runs `work` unless something is in flight. An error is shown in its own words, else with `fallbackMessage`. */
  submit: (work: () => Promise<void>, fallbackMessage?: string) => void
}

export function useSubmit(defaultMessage: string): Submission {
  const [pending, setPending] = useState(false)
  const [message, setMessage] = useState<Message | null>(null)
  const [errors, setErrors] = useState<FieldErrors>({})
  // A second click can come before React has rendered the disabled button.
  const inFlight = useRef(false)

  const clear = () => {
    setMessage(null)
    setErrors({})
  }
  const showError = (text: string | null, found: FieldErrors = {}, advice?: Advice) => {
    setErrors(found)
    setMessage(text === null ? null : { kind: 'error', text, advice })
  }
  return {
    pending,
    message,
    errors,
    showError: (text, found) => showError(text, found),
    clearError: (...fields) =>
      setErrors((before) => Object.fromEntries(Object.entries(before).filter(([name]) => !fields.includes(name)))),
    clear,
    showSuccess(text) {
      setErrors({})
      setMessage({ kind: 'success', text })
    },
    submit(work, fallbackMessage = defaultMessage) {
      if (inFlight.current) return
      inFlight.current = true
      setPending(true)
      clear()
      work()
        .catch((error: unknown) =>
          showError(
            messageOf(error, fallbackMessage),
            error instanceof ApiError ? errorsByField(error.issues) : {},
            adviceOn(error),
          ),
        )
        .finally(() => {
          inFlight.current = false
          setPending(false)
        })
    },
  }
}
