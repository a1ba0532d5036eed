import type { ComponentProps } from 'react'
import { Field } from '../ui/Field.tsx'

type CodeFieldProps = Omit<ComponentProps<typeof Field>, 'autoComplete' | 'inputMode' | 'label' | 'onChange'> & {
  label?: string
  onChange: (code: string) => void
}

/** A code that was sent, or that an app shows. */
export function CodeField({ label = 'Code', onChange, ...field }: CodeFieldProps) {
  return (
    <Field
      {...field}
      label={label}
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
      required
    />
  )
}
