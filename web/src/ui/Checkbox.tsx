import { type ComponentProps, type ReactNode, useId } from 'react'
import styles from './Checkbox.module.css'
import { FieldError } from './Labelled.tsx'

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  label: ReactNode
  error?: string | undefined
}

export function Checkbox({ label, error, id, ...input }: CheckboxProps) {
  const ownId = useId()
  const boxId = id ?? ownId
  const errorId = `${boxId}-error`
  return (
    <div className={styles.field}>
      <label htmlFor={boxId} className={styles.label}>
        <input
          {...input}
          type="checkbox"
          id={boxId}
          className={styles.box}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? errorId : undefined}
        />
        <span>{label}</span>
      </label>
      <FieldError id={errorId} error={error} />
    </div>
  )
}
