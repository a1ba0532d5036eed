import { latestAdultBirthdate } from '@robokids/contracts/adult'
import { type Profile, profileChangeSchema } from '@robokids/contracts/auth'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'

export type ProfileValues = Pick<
  Profile,
  'email' | 'givenName' | 'familyName' | 'birthdate' | 'phoneNumber' | 'address'
>

/** Validates the changes as the server will; unchanged values, empty ones too, are not sent. */
export function readProfileChange(
  values: ProfileValues,
  before: ProfileValues,
  now: Date,
): { change: Partial<ProfileValues> } | { errors: FieldErrors } {
  const names = Object.keys(values) as (keyof ProfileValues)[]
  const changed = Object.fromEntries(
    names.filter((name) => values[name] !== before[name]).map((name) => [name, values[name]]),
  )
  const parsed = profileChangeSchema.safeParse(changed)
  if (!parsed.success) return { errors: errorsOfIssues(parsed.error.issues) }
  const { birthdate } = parsed.data
  if (birthdate !== undefined && birthdate > latestAdultBirthdate(now.toISOString()))
    return { errors: { birthdate: 'You must be 18 or older.' } }
  const sent = Object.entries(parsed.data).filter(([, value]) => value !== undefined)
  return { change: Object.fromEntries(sent) as Partial<ProfileValues> }
}
