import { Field } from '../ui/Field.tsx'

interface EmailFieldProps {
  value: string
  error?: string | undefined
  onChange: (email: string) => void
}

/** Whose account it is: the name that a password manager keeps. */
export function EmailField({ value, error, onChange }: EmailFieldProps) {
  return (
    <Field
      label="Email"
      error={error}
      name="email"
      type="email"
      inputMode="email"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      required
    />
  )
}
