import { type LevelClassType, registrationRequestSchema } from '@robokids/contracts/enrollment'
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
  const { children, ...family } = values
  const [first = noChild, ...siblings] = children.map(({ childName, childAge }) => ({
    childName,
    childAge: readAge(childAge),
  }))
  const parsed = contentSchema.safeParse({ ...family, ...first, siblings, classType })
  if (parsed.success) return { content: parsed.data }
  return { errors: errorsOfIssues(parsed.error.issues) }
}
