import type { Issue } from '@robokids/contracts/errors'

/** Messages by field, named as in the server's issues: `zipCode`, `siblings.0.childAge`. */
export type FieldErrors = Readonly<Record<string, string>>

/** The first message of each field. */
export function errorsByField(issues: readonly Issue[]): FieldErrors {
  const errors: Record<string, string> = {}
  for (const { path, message } of issues) errors[path] ??= message
  return errors
}

/** Errors of a schema, by field. */
export function errorsOfIssues(issues: readonly { path: readonly PropertyKey[]; message: string }[]): FieldErrors {
  return errorsByField(issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })))
}
