import { type ComponentProps, useState } from 'react'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { PasswordChecklist } from './PasswordChecklist.tsx'

export const weakPassword =
  '❌ Password must include 1 capital letter, 1 number, 1 special character, and be at least 8 characters.'

interface NewPasswordFieldsProps extends Pick<ComponentProps<typeof Field>, 'name' | 'error' | 'onChange'> {
  value: string
}

/** A new password with its rules, which can be made visible. */
export function NewPasswordFields(field: NewPasswordFieldsProps) {
  const [shown, setShown] = useState(false)
  return (
    <>
      <Field
        {...field}
        label="New password"
        type={shown ? 'text' : 'password'}
        autoComplete="new-password"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <Checkbox label="Show password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
      <PasswordChecklist password={field.value} />
    </>
  )
}
