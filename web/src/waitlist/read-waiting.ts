import type { LevelClassType } from '@robokids/contracts/enrollment'
import { waitlistRequestSchema } from '@robokids/contracts/waitlist'
import type { FieldErrors } from '../forms/field-errors.ts'
import { readForm } from '../registration/read-content.ts'
import type { SignUpValues } from '../registration/sign-up-values.ts'

const contentSchema = waitlistRequestSchema.omit({ id: true, familyTimeZone: true })
export type WaitingContent = ReturnType<typeof contentSchema.parse>

/** Validates the form as the server will. The address is not needed to wait. */
export function readWaiting(
  values: SignUpValues,
  classType: LevelClassType,
): { content: WaitingContent } | { errors: FieldErrors } {
  return readForm(values, classType, contentSchema)
}
