import { z } from 'zod'
import { IdentityError, invalid, missing } from '../protocol/errors.ts'

/** As many as an account may have: all of them are in each of its identity tokens. */
export const mostAttributes = 50

/** `[{Name, Value}]`, as clients send attributes. */
export const attributeListSchema = z
  .array(z.object({ Name: z.string().min(1).max(32), Value: z.string().max(2048).optional() }))
  .max(mostAttributes)

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

/** What people may say of themselves. All else that an account holds is said of them, by administrators. */
const writable = new Set(['address', 'birthdate', 'email', 'family_name', 'given_name', 'phone_number'])

/** Whether an attribute is one that administrators alone may write. */
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

/** Reads names of attributes that people take away from themselves. @throws IdentityError InvalidParameterException, NotAuthorizedException */
export function readAttributeNames(names: string[]): string[] {
  for (const name of names) {
    if (name === 'sub') throw invalid('Cannot modify an immutable attribute')
    if (isFlag(name)) throw invalid(`Cannot modify the non-mutable attribute ${name}`)
    if (!isKnown(name)) throw invalid(`Attribute does not exist in the schema: ${name}`)
    if (isForAdministrators(name)) throw unauthorized()
  }
  return names
}

/** How many attributes an account has; whether an address is verified is part of it. */
export function countAttributes(attributes: Record<string, string>): number {
  return Object.keys(attributes).filter((name) => !isFlag(name)).length
}

const isFlag = (name: string) => name === 'email_verified' || name === 'phone_number_verified'

/**
 * Reads attributes as an account may hold them.
 * @param byAdministrators who may say everything, `email_verified` and `phone_number_verified` as well.
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

/** `[{Name, Value}]`, as clients receive them, the `sub` first. */
export function listAttributes(sub: string, attributes: Record<string, string>): { Name: string; Value: string }[] {
  return [{ Name: 'sub', Value: sub }, ...Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }))]
}

/** `m***@e***`, `+*******1234`: enough to know one's own. Always small letters, however the address was typed. */
export function mask(medium: 'EMAIL' | 'SMS', destination: string): string {
  if (medium === 'SMS') return `+*******${destination.slice(-4)}`
  const [name = '', domain = ''] = destination.toLowerCase().split('@')
  return `${[...name][0] ?? ''}***@${[...domain][0] ?? ''}***`
}
