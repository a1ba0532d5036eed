import { Link } from '@tanstack/react-router'
import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { DisabledUntilHydrated } from '../ui/DisabledUntilHydrated.tsx'
import type { FieldErrors } from './field-errors.ts'
import styles from './Form.module.css'
import type { Message } from './use-submit.ts'

/** The message above a form; null keeps the live region for the next one. */
export function MessageLine({ message }: { message: Message | null }) {
  const line = useRef<HTMLDivElement>(null)
  // A repeated text gets a new element: screen readers announce changes only.
  const [latest, setLatest] = useState({ message, nth: 0 })
  if (latest.message !== message) setLatest({ message, nth: latest.nth + 1 })
  useEffect(() => {
    if (!message) return
    // Focus the first invalid field, if any; the message is announced all the same.
    const wrong = line.current?.parentElement?.querySelector<HTMLElement>('[aria-invalid]')
    const target = wrong ?? line.current
    target?.focus()
  }, [message])
  return (
    <div
      ref={line}
      tabIndex={-1}
      role={message?.kind === 'success' ? 'status' : 'alert'}
      className={`${styles.line} ${message ? styles[message.kind] : ''}`}
    >
      {message && <span key={latest.nth}>{message.text}</span>}
      {message?.advice && (
        <span key={`advice ${latest.nth}`} className={styles.advice}>
          <span>{message.advice.text}</span> {message.advice.writeToUs && <Link to="/contact">write to us</Link>}
        </span>
      )}
    </div>
  )
}

/** Lists all errors with links to their fields, if there are several: a long form shows one at a time. */
export function Problems({ errors, order }: { errors: FieldErrors; order: readonly string[] }) {
  const wrong = order.filter((name) => errors[name])
  if (wrong.length < 2) return null
  const go = (event: MouseEvent<HTMLAnchorElement>, name: string) => {
    event.preventDefault()
    event.currentTarget.closest('form')?.querySelector<HTMLElement>(`[name="${name}"]:enabled`)?.focus()
  }
  return (
    <ul className={styles.problems} aria-label="What to fix">
      {wrong.map((name) => (
        <li key={name}>
          <a href={`#${name}`} onClick={(event) => go(event, name)}>
            {errors[name]}
          </a>
        </li>
      ))}
    </ul>
  )
}

interface FormProps {
  message: Message | null
  onSubmit: () => void
  /** The id of the element that labels it. */
  labelledBy?: string
  children: ReactNode
}

/** Stacked fields with the message above them. */
export function Form({ message, onSubmit, labelledBy, children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className={styles.form} onSubmit={submit} noValidate aria-labelledby={labelledBy}>
      <MessageLine message={message} />
      <DisabledUntilHydrated>{children}</DisabledUntilHydrated>
    </form>
  )
}

/** Tells a password manager whose password it is, if no field shows the email. */
export function AccountName({ email }: { email: string }) {
  return <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
}

export function Aside({ children }: { children: ReactNode }) {
  return <p className={styles.aside}>{children}</p>
}

/** Buttons in a row that wraps. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>
}

/** Separates the main option from the others. */
export function Or() {
  return (
    <div className={styles.or} aria-hidden="true">
      or
    </div>
  )
}

/** Stacked buttons of full width. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>
}
