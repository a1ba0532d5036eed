import { randomUUID } from 'node:crypto'
import { readCode } from '@robokids/contracts/code'
import { emailKey, mailboxKey } from '@robokids/contracts/fields'
import type { CodePurpose } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { callerOf } from '../protocol/callers.ts'
import { countCode, countTry, hasTries, revertTry } from '../limits/code-limits.ts'
import type { Config } from '../config.ts'
import { attemptsExceeded, expiredCode, wrongCode, type IdentityError } from '../protocol/errors.ts'
import { count, countWithin } from '../limits/limits.ts'
import {
  addressSubject,
  codeOf,
  deliveryDetails,
  guessedAt,
  isCodeOf,
  publishCode,
  type CodeDeliveryDetails,
  type Destination,
} from './one-time-codes.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import { codes, limits, type StoredCodePurpose, type User } from '../schema.ts'
import { placeholderUsername, simulateAccount } from '../users/simulated-account.ts'
import { checkCountry, countText } from '../limits/text-limits.ts'
import { addressKind } from '../users/usernames.ts'
import { codesName } from '../users/users.ts'

/** The purpose as notifications knows it, and the validity of its codes in minutes. */
function validityOf(purpose: StoredCodePurpose, config: Config): [CodePurpose, number] {
  if (purpose === 'sign_up') return ['sign_up', config.SIGN_UP_CODE_MINUTES]
  if (purpose === 'password_reset') return ['password_reset', config.RESET_CODE_MINUTES]
  return ['attribute', config.ATTRIBUTE_CODE_MINUTES]
}

/** Identifies the outstanding codes of one purpose and subject. */
export interface CodeKey {
  poolId: string
  purpose: StoredCodePurpose
  subject: string
}

/**
 * Returns the key that codes are stored under: the destination address, whichever account has it. An account that is
 * sent no code is treated like an unknown username, which may itself be an address.
 */
export async function codeSubject(
  tx: Transaction,
  pool: Pool,
  name: string,
  user: User | undefined,
  to: Destination | undefined,
): Promise<string> {
  if (to) return addressSubject(to.destination)
  if (user) return user.emailKey === null ? `name:${user.username}` : `EMAIL:${user.emailKey}`
  const known = await placeholderUsername(tx, pool, name)
  const kind = addressKind(pool, known)
  return kind === undefined ? `name:${known}` : `${kind === 'email' ? 'EMAIL' : 'SMS'}:${known}`
}

/** The key of codes that verify an account's own address. */
export const ownCodeKey = (user: User, purpose: 'verify_email' | 'verify_phone_number'): CodeKey => ({
  poolId: user.poolId,
  purpose,
  subject: `account:${user.id}`,
})

const codesOf = ({ poolId, purpose, subject }: CodeKey) =>
  and(eq(codes.poolId, poolId), eq(codes.purpose, purpose), eq(codes.subject, subject))

/** An advisory lock, because there may be no row to lock yet: two concurrent requests get the same code. */
async function lockCodes(tx: Transaction, key: CodeKey) {
  const name = `codes:${key.poolId}:${key.purpose}:${key.subject}`
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
  return tx.select().from(codes).where(codesOf(key)).orderBy(codes.id)
}

const isOver = ({ expiresAt }: typeof codes.$inferSelect, { clock }: Context<Config>) =>
  Temporal.Instant.compare(expiresAt, clock.now()) <= 0

/** Limit keys: one caller's attempts since the last request, and whether this caller has requested a code. */
const triesKey = ({ poolId, purpose, subject }: CodeKey, own: string) =>
  `tries:${poolId}:${purpose}:${subject}:of:${own}`
const askedKey = ({ poolId, purpose, subject }: CodeKey, own: string) => `asked:${poolId}:${purpose}:${subject}:${own}`

async function hasAsked(tx: Transaction, key: CodeKey, own: string, { context }: Call): Promise<boolean> {
  const asked = and(eq(limits.key, askedKey(key, own)), gt(limits.expiresAt, context.clock.now()))
  return (await tx.$count(limits, asked)) > 0
}

/**
 * The caller of a code operation: the account that the code belongs to, and the device that the client claims to be.
 */
export interface Asker {
  user?: User | undefined
  deviceKey?: string | undefined
}

/** Only for processes of the previous version during a rollout, which count attempts by it. */
const legacyTriesLeft = 20

/**
 * Stores a code. An outstanding code is kept, no matter who requests it: the newest message is always valid, and nobody can
 * invalidate another person's code. A request resets the caller's attempts.
 * @param to the destination; undefined if sending is simulated
 */
async function keepCode(tx: Transaction, key: CodeKey, to: Destination | undefined, asker: Asker, call: Call) {
  const { config, clock } = call.context
  const kept = (await lockCodes(tx, key)).find(
    (code) =>
      !isOver(code, call.context) &&
      code.triesLeft > 0 &&
      (!to || code.destination === null || code.destination.toLowerCase() === to.destination.toLowerCase()),
  )
  const [, minutes] = validityOf(key.purpose, config)
  const now = clock.now()
  const expiresAt = now.add({ seconds: Math.round(minutes * 60) })
  const values = {
    id: kept?.id ?? randomUUID(),
    destination: to?.destination ?? kept?.destination ?? null,
    triesLeft: legacyTriesLeft,
    expiresAt,
  }
  await tx
    .insert(codes)
    .values({ ...key, askedFrom: kept?.askedFrom ?? 'anywhere', ...values })
    .onConflictDoUpdate({ target: [codes.poolId, codes.purpose, codes.subject, codes.askedFrom], set: values })
  const { own } = await callerOf(tx, asker.user, asker.deviceKey, call)
  await tx.delete(limits).where(eq(limits.key, triesKey(key, own)))
  await tx
    .insert(limits)
    .values({ key: askedKey(key, own), count: 1, since: now, expiresAt })
    .onConflictDoUpdate({ target: limits.key, set: { since: now, expiresAt } })
  return values
}

/**
 * Whether a mailbox may get more codes requested by unknown callers. The plain address has no limit here beyond that of
 * its code; all plus-tagged variants of it share one limit.
 */
async function hasRoom(tx: Transaction, poolId: string, { destination }: Destination, call: Call): Promise<boolean> {
  const mailbox = mailboxKey(destination)
  if (mailbox === emailKey(destination)) return true
  const sent = await count(tx, call.context, { key: `tagged:${poolId}:${mailbox}`, within: { hours: 1 } })
  return sent <= call.context.config.CODES_AN_HOUR
}

/**
 * Stores a code and publishes it when `tx` commits.
 * @param isUnlimited whether it is sent however often it was before: for unknown callers the same code is resent only a
 * few times per hour, since it is already in the mailbox
 */
async function sendKept(
  tx: Transaction,
  user: User,
  key: CodeKey,
  to: Destination,
  isUnlimited: boolean,
  call: Call,
  deviceKey?: string,
): Promise<CodeDeliveryDetails> {
  const { config } = call.context
  const { id, expiresAt } = await keepCode(tx, key, to, { user, deviceKey }, call)
  const guessed = guessedAt(key.purpose, key.poolId, user, to.destination, deviceKey)
  const isShort = await hasTries(tx, guessed, config.CODE_TRIES_A_DAY, call)
  // Sign-up codes are counted per mailbox, since an address can be signed up again once a code is used; reset codes per
  // code, so that the next one is sent after one was used.
  const { purpose: what, poolId, subject } = key
  const whose = what === 'sign_up' ? `${poolId}:${what}:${mailboxKey(subject)}` : id
  const mailed = { key: `mailed:${whose}:${isShort ? 'short' : 'long'}`, within: { hours: 1 } }
  const mayBeSent =
    isUnlimited ||
    ((await count(tx, call.context, mailed)) <= config.CODES_AN_HOUR && (await hasRoom(tx, poolId, to, call)))
  if (mayBeSent) {
    const [purpose] = validityOf(key.purpose, config)
    await publishCode(tx, user, { purpose, to, code: codeOf(id, isShort, config), expiresAt }, call.context)
  }
  return deliveryDetails(to)
}

/**
 * Sends a code requested by username or address.
 * @throws IdentityError LimitExceededException after too many requests within the hour
 */
export async function issueCode(
  tx: Transaction,
  user: User,
  pool: Pool,
  purpose: 'sign_up' | 'password_reset',
  to: Destination,
  call: Call,
  deviceKey?: string,
): Promise<CodeDeliveryDetails> {
  const target = { poolId: pool.id, name: codesName(user), user, deviceKey }
  const isKnown = await countCode(tx, target, to.medium, call)
  const subject = await codeSubject(tx, pool, user.username, user, to)
  return sendKept(tx, user, { poolId: pool.id, purpose, subject }, to, isKnown, call, deviceKey)
}

/**
 * Sends the first code of a sign-up. The number of codes to one address is limited, but the response never says that
 * none was sent: it would reveal other sign-ups.
 */
export async function issueFirstCode(
  tx: Transaction,
  user: User,
  pool: Pool,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  if (to.medium === 'SMS') await countText(tx, call)
  const subject = await codeSubject(tx, pool, user.username, user, to)
  const key: CodeKey = { poolId: pool.id, purpose: 'sign_up', subject }
  return sendKept(tx, user, key, to, false, call)
}

/**
 * Counts a code to an address that is only claimed, over all accounts that claim it.
 * @throws IdentityError LimitExceededException
 */
export async function countClaim(tx: Transaction, poolId: string, address: string, { context }: Call): Promise<void> {
  const key = `claims:${poolId}:${mailboxKey(address)}`
  await countWithin(tx, context, { key, max: context.config.CODES_AN_HOUR, within: { hours: 1 } })
}

/**
 * Sends the code that verifies an account's own address. Counted per account, over all addresses, and per address, over
 * all accounts.
 * @throws IdentityError LimitExceededException after too many requests within the hour
 */
export async function issueOwnCode(
  tx: Transaction,
  user: User,
  purpose: 'verify_email' | 'verify_phone_number',
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  if (to.medium === 'SMS') await countText(tx, call)
  await countWithin(tx, call.context, {
    key: `codes:${user.poolId}:account:${user.id}`,
    max: call.context.config.CODES_AN_HOUR,
    within: { hours: 1 },
  })
  await countClaim(tx, user.poolId, to.destination, call)
  return sendKept(tx, user, ownCodeKey(user, purpose), to, true, call)
}

/**
 * Redeems a code: once, within a few attempts, until it expires. The account's row must be locked. For a wrong code the
 * error depends only on what this caller did and on the number of attempts, never on whether an account exists.
 * @param asker its `user` is the account that the code belongs to
 * @param revealsUsers whether the client may learn that a code is outstanding or not. For other clients a sign-up code
 * always counts as outstanding, since each sign-up sends one.
 * @returns the destination, or an error to be returned from the transaction, so that a wrong attempt is counted
 */
export async function takeCode(
  tx: Transaction,
  key: CodeKey,
  code: string,
  call: Call,
  { user, deviceKey, revealsUsers = false }: Asker & { revealsUsers?: boolean } = {},
): Promise<{ destination: string } | IdentityError> {
  const { context } = call
  const { config, clock } = context
  const given = readCode(code)
  const known = await lockCodes(tx, key)
  const open = known.filter((one) => !isOver(one, context) && one.triesLeft > 0)
  const { own } = await callerOf(tx, user, deviceKey, call)
  const isOwn = key.purpose === 'verify_email' || key.purpose === 'verify_phone_number'
  const isAsked =
    isOwn || revealsUsers ? open.length > 0 : key.purpose === 'sign_up' || (await hasAsked(tx, key, own, call))
  const tries = await count(tx, context, { key: triesKey(key, own), within: { hours: 24 } })
  if (tries > config.CODE_TRIES) return isAsked ? attemptsExceeded() : expiredCode()
  const to = open.find(isSent)?.destination
  const guessed = to
    ? guessedAt(key.purpose, key.poolId, user, to, deviceKey)
    : { poolId: key.poolId, purpose: key.purpose, subject: key.subject, user: undefined }
  const canBeShort = await countTry(tx, guessed, config.CODE_TRIES_A_DAY, call)
  const isCode = ({ id }: typeof codes.$inferSelect) =>
    (canBeShort && isCodeOf(id, true, given, config)) || isCodeOf(id, false, given, config)
  const taken = open.find((one) => isSent(one) && isCode(one))
  if (taken?.destination) {
    if (canBeShort) await revertTry(tx, guessed, call)
    // Kept as expired, so that giving it again is reported as such.
    await tx.update(codes).set({ triesLeft: 0 }).where(codesOf(key))
    await tx.update(codes).set({ expiresAt: clock.now() }).where(eq(codes.id, taken.id))
    await tx.delete(limits).where(inArray(limits.key, [triesKey(key, own), askedKey(key, own)]))
    return { destination: taken.destination }
  }
  const wasOne = known.some((one) => isOver(one, context) && isSent(one) && isCode(one))
  return isAsked && canBeShort && !wasOne ? wrongCode() : expiredCode()
}

const isSent = ({ destination }: typeof codes.$inferSelect) => destination !== null

/** Deletes all codes of a key. */
export async function dropCodes(tx: Transaction, key: CodeKey): Promise<void> {
  await tx.delete(codes).where(codesOf(key))
}

/**
 * Simulates sending a code for an unknown username, or for an account that gets none: later responses and counts are
 * the same as with a real code.
 * @param to where the account's code would go
 */
export async function simulateCode(
  tx: Transaction,
  pool: Pool,
  purpose: 'sign_up' | 'password_reset',
  name: string,
  user: User | undefined,
  to: Destination | undefined,
  call: Call,
  deviceKey?: string,
): Promise<CodeDeliveryDetails> {
  const known = await placeholderUsername(tx, pool, name)
  // Counted under the account, if there is one, like its real codes: both ways to request a code share one count, as
  // for an unknown username.
  const medium = addressKind(pool, known) === 'phone_number' ? 'SMS' : 'EMAIL'
  if (medium === 'SMS') checkCountry(known, call.context.config)
  await countCode(tx, { poolId: pool.id, name: user ? codesName(user) : known, user, deviceKey }, medium, call)
  const subject = await codeSubject(tx, pool, name, user, to)
  await keepCode(tx, { poolId: pool.id, purpose, subject }, undefined, { user, deviceKey }, call)
  const { destinations } = simulateAccount(pool, known, call.context.config)
  return {
    Destination: destinations[medium],
    DeliveryMedium: medium,
    AttributeName: medium === 'SMS' ? 'phone_number' : 'email',
  }
}
