import type { ComponentProps } from 'react'
import { Labelled, type LabelProps } from './Labelled.tsx'

type FieldProps = LabelProps & Omit<ComponentProps<'input'>, 'className'>

/** A text input. */
export function Field({ label, hint, error, optional = false, id, ...input }: FieldProps) {
  return (
    <Labelled label={label} hint={hint} error={error} optional={optional} id={id}>
      {(control) => <input {...input} {...control} />}
    </Labelled>
  )
}
