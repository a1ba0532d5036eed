import { type ComponentProps, useEffect, useId } from 'react'
import { Field } from '../ui/Field.tsx'

type CodeFieldProps = Omit<ComponentProps<typeof Field>, 'autoComplete' | 'inputMode' | 'label'> & {
  label?: string
  /** Focuses the field when it appears after a button was pressed. */
  awaited?: boolean
}

/** A code from a message or an authenticator app. */
export function CodeField({ label = 'Code', awaited = false, ...field }: CodeFieldProps) {
  const id = useId()
  useEffect(() => {
    if (awaited) document.getElementById(id)?.focus()
  }, [awaited, id])
  return (
    <Field
      {...field}
      id={id}
      label={label}
      inputMode="numeric"
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      required
    />
  )
}
