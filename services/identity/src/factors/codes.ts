import { randomUUID } from 'node:crypto'
import { readCode } from '@robokids/contracts/code'
import { emailKey, mailboxKey } from '@robokids/contracts/fields'
import type { CodePurpose } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { callerOf } from '../protocol/callers.ts'
import { countCode, countTry, hasTries, uncountTry } from '../limits/code-limits.ts'
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

/** How a purpose is named to who composes the message, and for how many minutes its code lives. */
function lifeOf(purpose: StoredCodePurpose, config: Config): [CodePurpose, number] {
  if (purpose === 'sign_up') return ['sign_up', config.SIGN_UP_CODE_MINUTES]
  if (purpose === 'password_reset') return ['password_reset', config.RESET_CODE_MINUTES]
  return ['attribute', config.ATTRIBUTE_CODE_MINUTES]
}

/** Which codes are meant: all that are outstanding for a purpose, of one subject. */
export interface CodeKey {
  poolId: string
  purpose: StoredCodePurpose
  subject: string
}

/**
 * What codes are kept under: the address that they go to, whoever has it. An account that is sent none is treated as a name
 * that nobody has is, which may be an address itself.
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

/** Codes that prove an account's own address are the account's. */
export const ownCodeKey = (user: User, purpose: 'verify_email' | 'verify_phone_number'): CodeKey => ({
  poolId: user.poolId,
  purpose,
  subject: `account:${user.id}`,
})

const codesOf = ({ poolId, purpose, subject }: CodeKey) =>
  and(eq(codes.poolId, poolId), eq(codes.purpose, purpose), eq(codes.subject, subject))

/** One at a time, also where there is none yet: two who ask at once from one place get the same. */
async function lockCodes(tx: Transaction, key: CodeKey) {
  const name = `codes:${key.poolId}:${key.purpose}:${key.subject}`
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
  return tx.select().from(codes).where(codesOf(key)).orderBy(codes.id)
}

const isOver = ({ expiresAt }: typeof codes.$inferSelect, { clock }: Context<Config>) =>
  Temporal.Instant.compare(expiresAt, clock.now()) <= 0

/** The tries of one caller since they last asked, and whether they have asked. */
const triesKey = ({ poolId, purpose, subject }: CodeKey, own: string) =>
  `tries:${poolId}:${purpose}:${subject}:of:${own}`
const askedKey = ({ poolId, purpose, subject }: CodeKey, own: string) => `asked:${poolId}:${purpose}:${subject}:${own}`

async function hasAsked(tx: Transaction, key: CodeKey, own: string, { context }: Call): Promise<boolean> {
  const asked = and(eq(limits.key, askedKey(key, own)), gt(limits.expiresAt, context.clock.now()))
  return (await tx.$count(limits, asked)) > 0
}

/** Who asks for a code or gives one: the account that it is of, and what the client says of itself. */
export interface Asker {
  user?: User | undefined
  deviceKey?: string | undefined
}

/** Versions of this service that run beside this one during a deployment count by it. */
const triesOfAll = 20

/**
 * Keeps a code: while one is outstanding it is that one, whoever asks, so that the newest in the mailbox is always good and
 * nobody's ends by what another does. Who asks has their tries again. @param to where it goes; undefined where it is only pretended to go.
 */
async function keepCode(tx: Transaction, key: CodeKey, to: Destination | undefined, asker: Asker, call: Call) {
  const { config, clock } = call.context
  const kept = (await lockCodes(tx, key)).find(
    (code) =>
      !isOver(code, call.context) &&
      code.triesLeft > 0 &&
      (!to || code.destination === null || code.destination.toLowerCase() === to.destination.toLowerCase()),
  )
  const [, minutes] = lifeOf(key.purpose, config)
  const now = clock.now()
  const expiresAt = now.add({ seconds: Math.round(minutes * 60) })
  const values = {
    id: kept?.id ?? randomUUID(),
    destination: to?.destination ?? kept?.destination ?? null,
    triesLeft: triesOfAll,
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
 * Whether a mailbox may be sent more at the asking of strangers. Of its own address that is so for as long as its own code is
 * sent; all that differ from it in what follows a plus have room together, and take none of the first one's.
 */
async function hasRoom(tx: Transaction, poolId: string, { destination }: Destination, call: Call): Promise<boolean> {
  const mailbox = mailboxKey(destination)
  if (mailbox === emailKey(destination)) return true
  const sent = await count(tx, call.context, { key: `tagged:${poolId}:${mailbox}`, within: { hours: 1 } })
  return sent <= call.context.config.CODES_AN_HOUR
}

/**
 * Keeps a code and has it sent, once `tx` commits.
 * @param isAtWill whether it is sent however often it was: strangers have the same one sent a few times an hour, and after
 * that it is in the mailbox already.
 */
async function sendKept(
  tx: Transaction,
  user: User,
  key: CodeKey,
  to: Destination,
  isAtWill: boolean,
  call: Call,
  deviceKey?: string,
): Promise<CodeDeliveryDetails> {
  const { config } = call.context
  const { id, expiresAt } = await keepCode(tx, key, to, { user, deviceKey }, call)
  const guessed = guessedAt(key.purpose, key.poolId, user, to.destination, deviceKey)
  const isShort = await hasTries(tx, guessed, config.CODE_TRIES_A_DAY, call)
  // Of a sign-up, all codes of the mailbox: it is signed up with again once one is used. Of a new password each on its own,
  // so that who has used one is sent the next.
  const { purpose: what, poolId, subject } = key
  const whose = what === 'sign_up' ? `${poolId}:${what}:${mailboxKey(subject)}` : id
  const mailed = { key: `mailed:${whose}:${isShort ? 'short' : 'long'}`, within: { hours: 1 } }
  const mayBeSent =
    isAtWill ||
    ((await count(tx, call.context, mailed)) <= config.CODES_AN_HOUR && (await hasRoom(tx, poolId, to, call)))
  if (mayBeSent) {
    const [purpose] = lifeOf(key.purpose, config)
    await publishCode(tx, user, { purpose, to, code: codeOf(id, isShort, config), expiresAt }, call.context)
  }
  return deliveryDetails(to)
}

/**
 * Sends a code to who asks for one by a name.
 * @throws IdentityError LimitExceededException where they asked for too many within the hour.
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
 * The code that a sign-up sends by itself. How many are sent to an address that is signed up with again and again, or asked
 * for, is limited; that one was not sent is told to nobody, since it would tell of the other sign-ups.
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

/** Counts a code to an address that an account only claims, whichever accounts claim it. @throws IdentityError LimitExceededException */
export async function countClaim(tx: Transaction, poolId: string, address: string, { context }: Call): Promise<void> {
  const key = `claims:${poolId}:${mailboxKey(address)}`
  await countWithin(tx, context, { key, most: context.config.CODES_AN_HOUR, within: { hours: 1 } })
}

/**
 * Sends the code that proves an account's own address. Counted by the account, whichever addresses it claims, and by the
 * address, whichever accounts claim it.
 * @throws IdentityError LimitExceededException where too many were asked for within the hour.
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
    most: call.context.config.CODES_AN_HOUR,
    within: { hours: 1 },
  })
  await countClaim(tx, user.poolId, to.destination, call)
  return sendKept(tx, user, ownCodeKey(user, purpose), to, true, call)
}

/**
 * Takes a code: it works once, a few tries, for a while. To be called with the account's row locked. What is answered to
 * who does not know one depends on what they did themselves and on how often it was tried, never on who has an account.
 * @param asker its `user` is the account that the code is of.
 * @param tellsUsers whether the client may be told that a code is outstanding, or that none is. To others one of a sign-up
 * always is, since that sends one by itself.
 * @returns what it was sent to, or the refusal, which is to be returned from the transaction: a wrong try counts.
 */
export async function takeCode(
  tx: Transaction,
  key: CodeKey,
  code: string,
  call: Call,
  { user, deviceKey, tellsUsers = false }: Asker & { tellsUsers?: boolean } = {},
): Promise<{ destination: string } | IdentityError> {
  const { context } = call
  const { config, clock } = context
  const given = readCode(code)
  const known = await lockCodes(tx, key)
  const open = known.filter((one) => !isOver(one, context) && one.triesLeft > 0)
  const { own } = await callerOf(tx, user, deviceKey, call)
  const isOwn = key.purpose === 'verify_email' || key.purpose === 'verify_phone_number'
  const isAsked =
    isOwn || tellsUsers ? open.length > 0 : key.purpose === 'sign_up' || (await hasAsked(tx, key, own, call))
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
    if (canBeShort) await uncountTry(tx, guessed, call)
    // It stays, as one that is over: who gives it again is told so.
    await tx.update(codes).set({ triesLeft: 0 }).where(codesOf(key))
    await tx.update(codes).set({ expiresAt: clock.now() }).where(eq(codes.id, taken.id))
    await tx.delete(limits).where(inArray(limits.key, [triesKey(key, own), askedKey(key, own)]))
    return { destination: taken.destination }
  }
  const wasOne = known.some((one) => isOver(one, context) && isSent(one) && isCode(one))
  return isAsked && canBeShort && !wasOne ? wrongCode() : expiredCode()
}

const isSent = ({ destination }: typeof codes.$inferSelect) => destination !== null

/** No code of these is worth anything any more. */
export async function dropCodes(tx: Transaction, key: CodeKey): Promise<void> {
  await tx.delete(codes).where(codesOf(key))
}

/**
 * Acts as if a code had been sent to a name that nobody has, or whose account gets none: what is told and counted from
 * then on is what it would be with one.
 * @param to where an account's would go.
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
  // Under the account where there is one, as the codes that it is sent: two doors in turn have one count, as for a name that nobody has.
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
