import { Link } from '@tanstack/react-router'
import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { DisabledUntilHydrated } from '../ui/DisabledUntilHydrated.tsx'
import type { FieldErrors } from './field-errors.ts'
import styles from './Form.module.css'
import type { Message } from './use-submit.ts'

/** What a form has to say, in a line above it; null keeps the place from which it is read out. */
export function MessageLine({ message }: { message: Message | null }) {
  const line = useRef<HTMLDivElement>(null)
  // The same words again are another element: only what changes is read out.
  const [latest, setLatest] = useState({ message, nth: 0 })
  if (latest.message !== message) setLatest({ message, nth: latest.nth + 1 })
  useEffect(() => {
    if (!message) return
    // Where a field is marked, that is where to go on; the line is read out all the same.
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

/** Where several fields are wrong, all of them, each with a way to it: a long form shows one at a time. */
export function Problems({ errors, order }: { errors: FieldErrors; order: readonly string[] }) {
  const wrong = order.filter((name) => errors[name])
  if (wrong.length < 2) return null
  const go = (event: MouseEvent<HTMLAnchorElement>, name: string) => {
    event.preventDefault()
    event.currentTarget.closest('form')?.querySelector<HTMLElement>(`[name="${name}"]:enabled`)?.focus()
  }
  return (
    <ul className={styles.problems} aria-label="What to correct">
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
  /** The id of what names it. */
  labelledBy?: string
  children: ReactNode
}

/** Fields below each other, with the line for messages above them. */
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

/** Tells a password manager whose password it is, where no field shows the address. */
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

/** Between the way that most take and the others. */
export function Or() {
  return (
    <div className={styles.or} aria-hidden="true">
      or
    </div>
  )
}

/** Buttons below each other, as wide as their place. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>
}
