import { useState } from 'react'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { PasswordChecklist } from './PasswordChecklist.tsx'

export const weakPassword =
  '❌ Password must include 1 capital letter, 1 number, 1 special character, and be at least 8 characters.'

interface NewPasswordFieldsProps {
  label?: string
  /** As errors name it. */
  name: string
  value: string
  error?: string | undefined
  onChange: (password: string) => void
}

/** A password that is chosen now: shown if wished, with its rules. */
export function NewPasswordFields({ label = 'New password', name, value, error, onChange }: NewPasswordFieldsProps) {
  const [shown, setShown] = useState(false)
  return (
    <>
      <Field
        label={label}
        error={error}
        name={name}
        type={shown ? 'text' : 'password'}
        autoComplete="new-password"
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        required
      />
      <Checkbox label="Show password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
      <PasswordChecklist password={value} />
    </>
  )
}
