import type { ComponentProps } from 'react'
import { Field } from '../ui/Field.tsx'

type EmailFieldProps = Pick<ComponentProps<typeof Field>, 'name' | 'value' | 'error' | 'onChange'>

/** The account's email, which a password manager stores as its name. */
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
