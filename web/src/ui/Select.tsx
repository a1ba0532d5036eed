import type { ComponentProps } from 'react'
import { Labelled, type LabelProps } from './Labelled.tsx'

type SelectProps = LabelProps & Omit<ComponentProps<'select'>, 'className'>

/** A select; its `<option>`s are the children. */
export function Select({ label, hint, error, optional = false, id, children, ...select }: SelectProps) {
  return (
    <Labelled label={label} hint={hint} error={error} optional={optional} id={id}>
      {(control) => (
        <select {...select} {...control}>
          {children}
        </select>
      )}
    </Labelled>
  )
}
