import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import { changeAccount, takeAlias } from './accounts.ts'
import { countAttributes, maxAttributes } from './attributes.ts'
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

/** Whether the given attributes change an address of the account. */
export function changesAddress(user: User, given: Record<string, string>): boolean {
  return verifiable.some((name) => {
    const [before, now] = [user.attributes[name], given[name]]
    return now !== undefined && (before === undefined || !isSameAddress(name, before, now))
  })
}

/**
 * Sends the code that verifies an account's own address.
 * @throws IdentityError InvalidParameterException if it has none
 */
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

/** The changes of an account whose attributes become `attributes`, as events name them. */
function changesOf(user: User, attributes: Record<string, string>): string[] {
  const names = new Set([...Object.keys(user.attributes), ...Object.keys(attributes)])
  const changed = [...names].filter((name) => user.attributes[name] !== attributes[name])
  // A second factor is bound to an address, so another address is another factor.
  const moved = verifiable.some((name) => changed.includes(name) && user.mfa.includes(factorOf[name]))
  return moved ? [...changed, 'mfa'] : changed
}

/** Writes the attributes of an account; without its address, a second factor is removed. */
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
 * Changes attributes of an account whose row is locked. A new address stays unverified until its code is given, and
 * until then the previous verified one still signs in. A code is sent if the pool verifies that attribute.
 * @param given may contain `email_verified` and `phone_number_verified` if an administrator gives it
 * @throws IdentityError AliasExistsException for an address that is set as verified and belongs to another account
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
  if (count > maxAttributes && count > countAttributes(user.attributes)) {
    throw invalid(`A user can have at most ${maxAttributes} attributes.`)
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
      // Differing only in spelling, or back to the address that is still verified.
      attributes[flag] = String(isSame)
      const before = user.attributes[attribute]
      const isNew = before === undefined || !isSameAddress(attribute, before, value)
      if (!isSame && isNew) unproven.push(attribute)
      // Without an alias row to keep it, the verified address stays here for its second factor until the new one is
      // verified.
      if (!isSame && verified !== undefined && !pool.settings.aliases.includes(attribute)) kept[attribute] = verified
    }
    if (attributes[flag] === 'true' || given[flag] === 'false') delete kept[attribute]
    if (given[flag] === 'true') await takeAlias(tx, pool, user, attribute, value, call)
    if (given[flag] === 'false') await dropAlias(tx, user, attribute)
  }
  const written = await write(tx, user, attributes, verifiedBefore, kept, call)
  const details: CodeDeliveryDetails[] = []
  for (const attribute of unproven) {
    // A code for the previous address no longer verifies anything.
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

/** Removes attributes from an account whose row is locked; without its address, verification and alias go too. */
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

/** Marks an address as verified, and makes it an alias if the pool has such aliases. */
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
