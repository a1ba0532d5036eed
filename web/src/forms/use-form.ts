import { type Submission, useSubmit } from './use-submit.ts'

interface FieldProps {
  name: string
  value: string
  error: string | undefined
  onChange: (event: { target: { value: string } }) => void
}

interface TextForm<Values> extends Submission {
  values: Values
  /** Changes values, and clears the errors of these fields. */
  change: (changes: Partial<Values>) => void
  /** The props of a text field. */
  field: (name: keyof Values & string) => FieldProps
}

/**
 * A form of text fields: their values and errors, and its submission. `Form` shows the message and focuses the
 * first field with an error.
 * @param state the values and their setter, as from `useState`: some forms also store a draft, or are filled from the account
 */
export function useForm<Values extends { [Name in keyof Values]: string }>(
  [values, setValues]: readonly [Values, (values: Values) => void],
  defaultMessage: string,
): TextForm<Values> {
  const submission = useSubmit(defaultMessage)
  const change = (changes: Partial<Values>) => {
    setValues({ ...values, ...changes })
    submission.clearError(...Object.keys(changes))
  }
  return {
    ...submission,
    values,
    change,
    field: (name) => ({
      name,
      value: values[name],
      error: submission.errors[name],
      onChange: ({ target }) => change({ [name]: target.value } as Partial<Values>),
    }),
  }
}
