import { z } from 'zod'
import { invalid, missing } from './errors.ts'

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

/** A date like 1990-02-28 that exists. */
function isDate(value: string): boolean {
  return z.iso.date().safeParse(value).success
}

function isKnown(name: string): boolean {
  return standard.has(name) || /^custom:[\w-]{1,20}$/.test(name)
}

/** Reads names of attributes that are to be taken away. @throws IdentityError InvalidParameterException */
export function readAttributeNames(names: string[]): string[] {
  for (const name of names) {
    if (name === 'sub') throw invalid('Cannot modify an immutable attribute')
    if (isFlag(name)) throw invalid(`Cannot modify the non-mutable attribute ${name}`)
    if (!isKnown(name)) throw invalid(`Attribute does not exist in the schema: ${name}`)
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
 * @param verified whether `email_verified` and `phone_number_verified` may be said: by administrators.
 * @throws IdentityError InvalidParameterException
 */
export function readAttributes(list: z.infer<typeof attributeListSchema>, verified = false): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const { Name: name, Value: value = '' } of list) {
    const flag = isFlag(name)
    if (name === 'sub') throw invalid('Cannot modify an immutable attribute')
    if (flag && !verified) throw invalid(`Cannot modify the non-mutable attribute ${name}`)
    if (!flag && !isKnown(name)) {
      throw invalid(`Attributes did not conform to the schema: ${name}: Attribute does not exist in the schema.`)
    }
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
