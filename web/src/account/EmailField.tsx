import type { ComponentProps } from 'react'
import { Field } from '../ui/Field.tsx'

type EmailFieldProps = Pick<ComponentProps<typeof Field>, 'name' | 'value' | 'error' | 'onChange'>

/** Whose account it is: the name that a password manager keeps. */
export function EmailField(field: EmailFieldProps) {
  return (
    <Field
      {...field}
      label="Email"
      type="email"
      inputMode="email"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      required
    />
  )
}
