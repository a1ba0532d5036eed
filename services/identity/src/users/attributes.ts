import { z } from 'zod'
import { IdentityError, invalid, missing } from '../protocol/errors.ts'

/** Per account, because each ID token carries all of them. */
export const maxAttributes = 50

/** `[{Name, Value}]`, as clients send attributes. */
export const attributeListSchema = z
  .array(z.object({ Name: z.string().min(1).max(32), Value: z.string().max(2048).optional() }))
  .max(maxAttributes)

const standard = new Set([
  'address',
  'birthdate',
  'email',
  'family_name',
  'gender',
  'given_name',
  'locale',
  'middle_name',
  'name',
  'nickname',
  'phone_number',
  'picture',
  'preferred_username',
  'profile',
  'updated_at',
  'website',
  'zoneinfo',
])

/** Attributes that users may write; all others are written by administrators. */
const writable = new Set(['address', 'birthdate', 'email', 'family_name', 'given_name', 'phone_number'])

/** Whether only administrators may write the attribute. */
export function isForAdministrators(name: string): boolean {
  return isKnown(name) && !writable.has(name)
}

const unauthorized = () =>
  new IdentityError('NotAuthorizedException', 'A client attempted to write unauthorized attribute')

/** A date like 1990-02-28 that exists. */
function isDate(value: string): boolean {
  return z.iso.date().safeParse(value).success
}

function isKnown(name: string): boolean {
  return standard.has(name) || /^custom:[\w-]{1,20}$/.test(name)
}

/**
 * Validates the names of attributes to delete.
 * @throws IdentityError InvalidParameterException, NotAuthorizedException
 */
export function readAttributeNames(names: string[]): string[] {
  for (const name of names) {
    if (name === 'sub') throw invalid('Cannot modify an immutable attribute')
    if (isFlag(name)) throw invalid(`Cannot modify the non-mutable attribute ${name}`)
    if (!isKnown(name)) throw invalid(`Attribute does not exist in the schema: ${name}`)
    if (isForAdministrators(name)) throw unauthorized()
  }
  return names
}

/** Returns the number of attributes, not counting the verification flags. */
export function countAttributes(attributes: Record<string, string>): number {
  return Object.keys(attributes).filter((name) => !isFlag(name)).length
}

const isFlag = (name: string) => name === 'email_verified' || name === 'phone_number_verified'

/**
 * Validates attributes.
 * @param byAdministrators who may write all of them, including `email_verified` and `phone_number_verified`
 * @throws IdentityError InvalidParameterException, NotAuthorizedException
 */
export function readAttributes(
  list: z.infer<typeof attributeListSchema>,
  byAdministrators = false,
): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const { Name: name, Value: value = '' } of list) {
    const flag = isFlag(name)
    if (name === 'sub') throw invalid('Cannot modify an immutable attribute')
    if (flag && !byAdministrators) throw invalid(`Cannot modify the non-mutable attribute ${name}`)
    if (!flag && !isKnown(name)) {
      throw invalid(`Attributes did not conform to the schema: ${name}: Attribute does not exist in the schema.`)
    }
    if (!byAdministrators && isForAdministrators(name)) throw unauthorized()
    if (name === 'email' && !z.email().max(254).safeParse(value).success) throw invalid('Invalid email address format.')
    if (name === 'phone_number' && !/^\+[1-9]\d{6,14}$/.test(value)) throw invalid('Invalid phone number format.')
    if (name === 'birthdate' && value !== '' && !isDate(value)) {
      throw invalid('Attributes did not conform to the schema: birthdate: Invalid date format.')
    }
    if (flag && value !== 'true' && value !== 'false') throw invalid(`Invalid value for ${name}.`)
    attributes[name] = value
  }
  if (attributes['email_verified'] === 'true' && attributes['email'] === '') throw missing('email')
  return attributes
}

/** Attributes as `[{Name, Value}]`, the `sub` first. */
export function listAttributes(sub: string, attributes: Record<string, string>): { Name: string; Value: string }[] {
  return [{ Name: 'sub', Value: sub }, ...Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }))]
}

/** Masks an address as `m***@e***` or `+*******1234`: enough for its owner to recognize. Always lower case. */
export function mask(medium: 'EMAIL' | 'SMS', destination: string): string {
  if (medium === 'SMS') return `+*******${destination.slice(-4)}`
  const [name = '', domain = ''] = destination.toLowerCase().split('@')
  return `${[...name][0] ?? ''}***@${[...domain][0] ?? ''}***`
}
