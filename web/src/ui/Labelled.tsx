import { type ReactNode, useId } from 'react'
import { Icon } from './Icon.tsx'
import styles from './Labelled.module.css'

export interface LabelProps {
  label: ReactNode
  /** Help text below the control. */
  hint?: ReactNode
  /** The error, in words that help. */
  error?: string | undefined
  /** Marks the field as optional. */
  optional?: boolean
}

interface ControlAttributes {
  id: string
  className: string
  'aria-describedby'?: string
  'aria-invalid'?: true
}

/** A form control with its label, hint and error. */
export function Labelled({
  label,
  hint,
  error,
  optional,
  id,
  children,
}: LabelProps & { id?: string | undefined; children: (control: ControlAttributes) => ReactNode }) {
  const ownId = useId()
  const controlId = id ?? ownId
  const hintId = `${controlId}-hint`
  const errorId = `${controlId}-error`
  const describedBy = [error ? errorId : '', hint ? hintId : ''].filter(Boolean).join(' ')
  return (
    <div className={styles.field}>
      <label htmlFor={controlId} className={styles.label}>
        <span>{label}</span>
        {optional && <span className={styles.optional}> (optional)</span>}
      </label>
      {children({
        id: controlId,
        className: styles.control ?? '',
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
        ...(error ? { 'aria-invalid': true } : {}),
      })}
      <FieldError id={errorId} error={error} />
      {hint && (
        <p id={hintId} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (!error) return null
  return (
    <p id={id} className={styles.error}>
      <Icon name="warning" />
      <span>{error}</span>
    </p>
  )
}
