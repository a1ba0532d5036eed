import { latestAdultBirthdate } from '@robokids/contracts/adult'
import { composeAddress, signUpBodySchema } from '@robokids/contracts/auth'
import type { MemberValues } from '../account/pending-user.ts'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'

const memberSchema = signUpBodySchema.omit({ password: true, middle_name: true })

/** The form's values for the request, without the password and with the address in one line. */
export type Member = Omit<MemberValues, 'plan' | 'classDate'> & { address: string }

/** Validates the registration as the server will, except its password and class date. */
export function readMember(values: MemberValues, now: Date): { member: Member } | { errors: FieldErrors } {
  const parsed = memberSchema.safeParse(values)
  const errors = parsed.success ? {} : { ...errorsOfIssues(parsed.error.issues) }
  if (!errors['birthdate'] && values.birthdate > latestAdultBirthdate(now.toISOString()))
    errors['birthdate'] = 'You must be 18 or older to register.'
  if (!parsed.success || errors['birthdate']) return { errors }
  return { member: { ...parsed.data, address: composeAddress(parsed.data) } }
}
