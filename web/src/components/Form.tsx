import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Message, Sending } from '../identity/use-sending.ts'
import { WaitsForScript } from '../ui/WaitsForScript.tsx'
import styles from './Form.module.css'

/** What a form has to say, in a line above it; null keeps the place from which it is read out. */
export function MessageLine({ message }: { message: Message | null }) {
  const line = useRef<HTMLDivElement>(null)
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
      className={`${styles['line']} ${message ? styles[message.kind] : ''}`}
    >
      {message?.text}
    </div>
  )
}

interface FormProps {
  state: Pick<Sending, 'message'>
  onSubmit: () => void
  /** The id of what names it. */
  labelledBy?: string
  children: ReactNode
}

/** Fields below each other, with the line for messages above them. */
export function Form({ state, onSubmit, labelledBy, children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className={styles['form']} onSubmit={submit} noValidate aria-labelledby={labelledBy}>
      <MessageLine message={state.message} />
      <WaitsForScript>{children}</WaitsForScript>
    </form>
  )
}

/** Tells a password manager whose password it is, where no field shows the address. */
export function AccountName({ email }: { email: string }) {
  return <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
}

export function Aside({ children }: { children: ReactNode }) {
  return <p className={styles['aside']}>{children}</p>
}

/** Buttons in a row that wraps. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={styles['row']}>{children}</div>
}

/** Between the way that most take and the others. */
export function Or() {
  return (
    <div className={styles['or']} aria-hidden="true">
      or
    </div>
  )
}

/** Buttons below each other, as wide as their place. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles['stack']}>{children}</div>
}
