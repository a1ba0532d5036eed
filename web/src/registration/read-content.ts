import { type LevelClassType, registrationRequestSchema } from '@robokids/contracts/enrollment'
import type { ZodType } from 'zod'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'
import { notOfTheForm, type RegistrationContent } from './registration-content.ts'
import { noChild, type SignUpValues } from './sign-up-values.ts'

const contentSchema = registrationRequestSchema.omit(notOfTheForm)

function readAge(typed: string): number | undefined {
  const text = typed.trim()
  if (text === '') return undefined
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : Number.NaN
}

/** Validates the form as the server will, and returns the request's content. */
export function readContent(
  values: SignUpValues,
  classType: LevelClassType,
): { content: RegistrationContent } | { errors: FieldErrors } {
  return readForm(values, classType, contentSchema)
}

/** As `readContent`, for a request with some of the form's fields. */
export function readForm<Content>(
  values: SignUpValues,
  classType: LevelClassType,
  schema: ZodType<Content>,
): { content: Content } | { errors: FieldErrors } {
  const { children, ...family } = values
  const [first = noChild, ...siblings] = children.map(({ childName, childAge }) => ({
    childName,
    childAge: readAge(childAge),
  }))
  const parsed = schema.safeParse({ ...family, ...first, siblings, classType })
  if (parsed.success) return { content: parsed.data }
  return { errors: errorsOfIssues(parsed.error.issues) }
}
