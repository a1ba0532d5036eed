import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { changeAccount, takeAlias } from './accounts.ts'
import { countAttributes, mostAttributes } from './attributes.ts'
import { dropCodes, issueOwnCode, ownCodeKey } from '../factors/codes.ts'
import { invalid } from '../protocol/errors.ts'
import type { CodeDeliveryDetails } from '../factors/one-time-codes.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { aliases, type User } from '../schema.ts'
import { isSameAddress, isVerified, verifiedAddress, type Verifiable } from './users.ts'

const verifiable = ['email', 'phone_number'] as const
export const codePurposeOf = { email: 'verify_email', phone_number: 'verify_phone_number' } as const
const mediumOf = { email: 'EMAIL', phone_number: 'SMS' } as const
const factorOf = { email: 'EMAIL_OTP', phone_number: 'SMS_MFA' } as const

export function isVerifiable(attribute: string): attribute is Verifiable {
  return (verifiable as readonly string[]).includes(attribute)
}

/** Whether what is given is another address than the account has. */
export function changesAddress(user: User, given: Record<string, string>): boolean {
  return verifiable.some((name) => {
    const [before, now] = [user.attributes[name], given[name]]
    return now !== undefined && (before === undefined || !isSameAddress(name, before, now))
  })
}

/** Sends the code that proves an account's own address. @throws IdentityError InvalidParameterException where it has none. */
export async function sendVerificationCode(
  tx: Transaction,
  user: User,
  attribute: Verifiable,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const destination = user.attributes[attribute]
  if (!destination) throw invalid(`User does not have attribute ${attribute}.`)
  return issueOwnCode(tx, user, codePurposeOf[attribute], { medium: mediumOf[attribute], destination }, call)
}

/** What is new in an account whose attributes become `attributes`, by the names that events tell. */
function changesOf(user: User, attributes: Record<string, string>): string[] {
  const names = new Set([...Object.keys(user.attributes), ...Object.keys(attributes)])
  const changed = [...names].filter((name) => user.attributes[name] !== attributes[name])
  // A second factor goes to an address: another address is another factor.
  const moved = verifiable.some((name) => changed.includes(name) && user.mfa.includes(factorOf[name]))
  return moved ? [...changed, 'mfa'] : changed
}

/** Writes the attributes of an account; a second factor goes with the address that it is sent to. */
async function write(
  tx: Transaction,
  user: User,
  attributes: Record<string, string>,
  verifiedBefore: string | undefined,
  keptAddresses: User['keptAddresses'],
  call: Call,
): Promise<User> {
  const changed = changesOf(user, attributes)
  const { email } = attributes
  const isSame = verifiedBefore !== undefined && email !== undefined && isSameAddress('email', verifiedBefore, email)
  const previousEmail = changed.includes('email') && !isSame ? (verifiedBefore ?? null) : null
  const gone = verifiable.filter((name) => attributes[name] === undefined).map((name) => factorOf[name] as string)
  const mfa = user.mfa.filter((factor) => !gone.includes(factor))
  const preferredMfa = user.preferredMfa !== null && gone.includes(user.preferredMfa) ? null : user.preferredMfa
  return changeAccount(
    tx,
    user,
    { attributes, mfa, preferredMfa, keptAddresses, emailKey: email === undefined ? null : emailKey(email) },
    changed,
    call,
    previousEmail,
  )
}

/**
 * Changes attributes of an account whose row is locked. An address that is new counts as unverified until its code is
 * given, and the verified one before it still signs in until then; it is sent a code where the pool verifies by itself.
 * @param given may say `email_verified` and `phone_number_verified`, if an administrator gives it.
 * @throws IdentityError AliasExistsException for an address that is said to be verified and is another account's.
 */
export async function changeAttributes(
  tx: Transaction,
  user: User,
  pool: Pool,
  given: Record<string, string>,
  call: Call,
): Promise<CodeDeliveryDetails[]> {
  const attributes = { ...user.attributes, ...given }
  const count = countAttributes(attributes)
  if (count > mostAttributes && count > countAttributes(user.attributes)) {
    throw invalid(`A user can have at most ${mostAttributes} attributes.`)
  }
  const verifiedBefore = await verifiedAddress(tx, user, 'email')
  const unproven: Verifiable[] = []
  const kept = { ...user.keptAddresses }
  for (const attribute of verifiable) {
    const value = attributes[attribute]
    const flag = `${attribute}_verified`
    if (value === undefined) {
      if (given[flag] === 'true') throw invalid(`${attribute} is required to be verified.`)
      delete attributes[flag]
      delete kept[attribute]
      continue
    }
    const verified = await verifiedAddress(tx, user, attribute)
    const isSame = verified !== undefined && isSameAddress(attribute, verified, value)
    if (given[flag] === undefined && given[attribute] !== undefined) {
      // Written another way, or back to the one that still counts, it is the address that was proven.
      attributes[flag] = String(isSame)
      const before = user.attributes[attribute]
      const isNew = before === undefined || !isSameAddress(attribute, before, value)
      if (!isSame && isNew) unproven.push(attribute)
      // No alias remembers it: a second factor that goes there still does, until the new one is verified.
      if (!isSame && verified !== undefined && !pool.settings.aliases.includes(attribute)) kept[attribute] = verified
    }
    if (attributes[flag] === 'true' || given[flag] === 'false') delete kept[attribute]
    if (given[flag] === 'true') await takeAlias(tx, pool, user, attribute, value, call)
    if (given[flag] === 'false') await dropAlias(tx, user, attribute)
  }
  const written = await write(tx, user, attributes, verifiedBefore, kept, call)
  const details: CodeDeliveryDetails[] = []
  for (const attribute of unproven) {
    // A code for the address before this one proves nothing any more.
    await dropCode(tx, user, attribute)
    if (!pool.settings.autoVerified.includes(attribute)) continue
    details.push(await sendVerificationCode(tx, written, attribute, call))
  }
  return details
}

async function dropAlias(tx: Transaction, user: User, attribute: Verifiable): Promise<void> {
  await tx.delete(aliases).where(and(eq(aliases.userId, user.id), eq(aliases.attribute, attribute)))
}

const dropCode = (tx: Transaction, user: User, attribute: Verifiable) =>
  dropCodes(tx, ownCodeKey(user, codePurposeOf[attribute]))

/** Takes attributes away from an account whose row is locked; with an address go its verification and its sign-in. */
export async function removeAttributes(tx: Transaction, user: User, names: string[], call: Call): Promise<void> {
  const attributes = { ...user.attributes }
  const kept = { ...user.keptAddresses }
  for (const name of names) {
    delete attributes[name]
    if (!isVerifiable(name)) continue
    delete attributes[`${name}_verified`]
    delete kept[name]
  }
  const verifiedBefore = await verifiedAddress(tx, user, 'email')
  for (const attribute of names.filter(isVerifiable)) {
    await dropAlias(tx, user, attribute)
    await dropCode(tx, user, attribute)
  }
  await write(tx, user, attributes, verifiedBefore, kept, call)
}

/** Counts an address as proven, and lets the account sign in by it where the pool does. */
export async function verifyAttribute(
  tx: Transaction,
  user: User,
  pool: Pool,
  attribute: Verifiable,
  value: string,
  call: Call,
): Promise<void> {
  await takeAlias(tx, pool, user, attribute, value, call)
  const flag = `${attribute}_verified`
  if (isVerified(user, attribute)) return
  const { [attribute]: _successor, ...keptAddresses } = user.keptAddresses
  await changeAccount(tx, user, { attributes: { ...user.attributes, [flag]: 'true' }, keptAddresses }, [flag], call)
}
