import { useRef, useState } from 'react'
import { ApiError } from '../api/api.ts'
import { messageOf } from '../api/refusals.ts'
import { type Advice, adviceOn } from './advice.ts'
import { errorsByField, type FieldErrors } from './field-errors.ts'

export interface Message {
  kind: 'error' | 'success'
  text: string
  /** What helps, where the text does not say it. */
  advice?: Advice | undefined
}

/** What a form knows of its last try, and that it has one at a time. */
export interface Sending {
  sending: boolean
  /** The line above the form. Each is a new object: the same words again are news again. */
  message: Message | null
  errors: FieldErrors
  succeed: (text: string) => void
  refuse: (text: string, errors?: FieldErrors) => void
  /** This field is being corrected: what was said of it is no longer so. */
  forget: (field: string) => void
  /** Runs what the form does. A failure is told in its own words, `otherwise` where it has none. */
  send: (work: () => Promise<void>, otherwise?: string) => void
}

export function useSubmit(otherwise: string): Sending {
  const [sending, setSending] = useState(false)
  const [message, setMessage] = useState<Message | null>(null)
  const [errors, setErrors] = useState<FieldErrors>({})
  // A second press can come before React has drawn the disabled button.
  const underWay = useRef(false)

  const tell = (text: string, found: FieldErrors, advice?: Advice) => {
    setErrors(found)
    setMessage({ kind: 'error', text, advice })
  }
  const refuse = (text: string, found: FieldErrors = {}) => tell(text, found)
  return {
    sending,
    message,
    errors,
    refuse,
    forget: (field) =>
      setErrors((before) => Object.fromEntries(Object.entries(before).filter(([name]) => name !== field))),
    succeed(text) {
      setErrors({})
      setMessage({ kind: 'success', text })
    },
    send(work, instead = otherwise) {
      if (underWay.current) return
      underWay.current = true
      setSending(true)
      setMessage(null)
      setErrors({})
      work()
        .catch((error: unknown) =>
          tell(
            messageOf(error, instead),
            error instanceof ApiError ? errorsByField(error.issues) : {},
            adviceOn(error),
          ),
        )
        .finally(() => {
          underWay.current = false
          setSending(false)
        })
    },
  }
}
