import { type ComponentProps, useEffect, useId } from 'react'
import { Field } from '../ui/Field.tsx'

type CodeFieldProps = Omit<
  ComponentProps<typeof Field>,
  'autoComplete' | 'inputMode' | 'label' | 'name' | 'onChange'
> & {
  label?: string
  /** As errors name it. */
  name?: string
  /** It opened where a button was pressed: keys go on here. */
  awaited?: boolean
  onChange: (code: string) => void
}

/** A code that was sent, or that an app shows. */
export function CodeField({ label = 'Code', name = 'code', awaited = false, onChange, ...field }: CodeFieldProps) {
  const id = useId()
  useEffect(() => {
    if (awaited) document.getElementById(id)?.focus()
  }, [awaited, id])
  return (
    <Field
      {...field}
      id={id}
      label={label}
      name={name}
      inputMode="numeric"
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
      required
    />
  )
}
