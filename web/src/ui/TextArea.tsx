import type { ComponentProps } from 'react'
import { Labelled, type LabelProps } from './Labelled.tsx'

type TextAreaProps = LabelProps & Omit<ComponentProps<'textarea'>, 'className'>

/** A multi-line text input. */
export function TextArea({ label, hint, error, optional = false, id, rows = 7, ...area }: TextAreaProps) {
  return (
    <Labelled label={label} hint={hint} error={error} optional={optional} id={id}>
      {(control) => <textarea {...area} {...control} rows={rows} />}
    </Labelled>
  )
}
