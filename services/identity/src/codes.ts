import { randomInt, randomUUID } from 'node:crypto'
import { emailKey } from '@robokids/contracts/fields'
import { codeIssued, type CodeMedium, type CodePurpose } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { isSameSecret } from '@robokids/runtime/same-secret'
import type { Context } from '@robokids/runtime/service'
import { and, eq, sql } from 'drizzle-orm'
import { mask } from './attributes.ts'
import type { Config } from './config.ts'
import { attemptsExceeded, expiredCode, wrongCode, type IdentityError } from './errors.ts'
import { count } from './limits.ts'
import type { Pool } from './pools.ts'
import type { Call } from './protocol.ts'
import { codes, limits, type StoredCodePurpose, type User } from './schema.ts'
import { countCode } from './sign-in-limits.ts'
import { simulateAccount } from './simulated-account.ts'

/** As clients are told where a code went. */
export interface CodeDeliveryDetails {
  Destination: string
  DeliveryMedium: CodeMedium
  AttributeName: string
}

export interface Destination {
  medium: CodeMedium
  destination: string
}

function deliveryDetails({ medium, destination }: Destination): CodeDeliveryDetails {
  return {
    Destination: mask(medium, destination),
    DeliveryMedium: medium,
    AttributeName: medium === 'EMAIL' ? 'email' : 'phone_number',
  }
}

/** Six digits have too little in them for a plain hash: whoever reads the database could try them all. */
export function hashCode(id: string, code: string, { SEALING_KEYS }: Config): string {
  return SEALING_KEYS.mac(`${id}:${code}`, 'code').toString('base64url')
}

export function matchesCode(hash: string, id: string, code: string, config: Config): boolean {
  return isSameSecret(hashCode(id, code, config), hash)
}

/** Makes a code and has it sent, once `tx` commits. */
async function makeCode(
  tx: Transaction,
  user: User,
  purpose: CodePurpose,
  to: Destination,
  expiresAt: Temporal.Instant,
  { config }: Context<Config>,
): Promise<{ id: string; hash: string }> {
  const code = String(randomInt(0, 1_000_000)).padStart(6, '0')
  const id = await publishCode(tx, user, { purpose, to, code, expiresAt }, config)
  return { id, hash: hashCode(id, code, config) }
}

/**
 * Makes a code and has it sent, once `tx` commits.
 * @throws IdentityError LimitExceededException where too many were asked for within the hour.
 */
export async function sendCode(
  tx: Transaction,
  user: User,
  purpose: CodePurpose,
  to: Destination,
  expiresAt: Temporal.Instant,
  call: Call,
): Promise<{ id: string; hash: string }> {
  await countCode(tx, { poolId: user.poolId, name: user.username, user }, call)
  return makeCode(tx, user, purpose, to, expiresAt, call.context)
}

/** Has a code, or a temporary password, sent, sealed on its way. @returns its id. */
export async function publishCode(
  tx: Transaction,
  user: User,
  {
    purpose,
    to,
    code,
    expiresAt,
  }: { purpose: CodePurpose; to: Destination; code: string; expiresAt: Temporal.Instant },
  { CODE_SEALING_KEYS }: Config,
): Promise<string> {
  const codeId = randomUUID()
  await publish(tx, codeIssued, user.id, {
    codeId,
    purpose,
    userId: user.id,
    username: user.username,
    givenName: user.attributes['given_name'] ?? null,
    ...to,
    sealedCode: CODE_SEALING_KEYS.seal(code, `code:${codeId}`),
    expiresAt: expiresAt.toString({ fractionalSecondDigits: 3 }),
  })
  return codeId
}

/** How a purpose is named to who composes the message, and for how many minutes its code lives. */
function lifeOf(purpose: StoredCodePurpose, config: Config): [CodePurpose, number] {
  if (purpose === 'sign_up') return ['sign_up', config.SIGN_UP_CODE_MINUTES]
  if (purpose === 'password_reset') return ['password_reset', config.RESET_CODE_MINUTES]
  return ['attribute', config.ATTRIBUTE_CODE_MINUTES]
}

function endOfLife(purpose: StoredCodePurpose, { config, clock }: Context<Config>): Temporal.Instant {
  return clock.now().add({ seconds: Math.round(lifeOf(purpose, config)[1] * 60) })
}

/**
 * Sends a code and keeps it as the one that is outstanding for its purpose: the one before it is worth nothing any more.
 * @throws IdentityError LimitExceededException where too many were asked for within the hour.
 */
export async function issueCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  await countCode(tx, { poolId: user.poolId, name: user.username, user }, call)
  return keepCode(tx, user, purpose, to, call.context)
}

/** The code that a sign-up sends by itself. It counts nowhere: how many more are sent would tell who just signed up. */
export async function issueFirstCode(
  tx: Transaction,
  user: User,
  to: Destination,
  context: Context<Config>,
): Promise<CodeDeliveryDetails> {
  return keepCode(tx, user, 'sign_up', to, context)
}

async function keepCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  to: Destination,
  context: Context<Config>,
): Promise<CodeDeliveryDetails> {
  const { config } = context
  const expiresAt = endOfLife(purpose, context)
  const { id, hash } = await makeCode(tx, user, lifeOf(purpose, config)[0], to, expiresAt, context)
  const values = { id, hash, destination: to.destination, triesLeft: config.CODE_TRIES * othersTries, expiresAt }
  await tx
    .insert(codes)
    .values({ userId: user.id, purpose, ...values })
    .onConflictDoUpdate({ target: [codes.userId, codes.purpose], set: values })
  return deliveryDetails(to)
}

/** Tries are counted by address, so that who guesses does not use up the owner's; all together have this many times as many. */
const othersTries = 4

async function mayTry(tx: Transaction, code: string, { context, address }: Call): Promise<boolean> {
  const tries = await count(tx, context, { key: `tries:${code}:${address}`, within: { hours: 24 } })
  return tries <= context.config.CODE_TRIES
}

/**
 * Takes a code: it works once, a few tries, for a while. To be called with the account's row locked.
 * @returns what it was sent to, or the refusal, which is to be returned from the transaction: a wrong try counts.
 */
export async function takeCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  code: string,
  call: Call,
): Promise<{ destination: string } | IdentityError> {
  const { config, clock } = call.context
  const mine = and(eq(codes.userId, user.id), eq(codes.purpose, purpose))
  const [stored] = await tx.select().from(codes).where(mine).for('update')
  if (!stored || Temporal.Instant.compare(stored.expiresAt, clock.now()) <= 0) return expiredCode()
  if (stored.triesLeft <= 0 || !(await mayTry(tx, stored.id, call))) return attemptsExceeded()
  if (!matchesCode(stored.hash, stored.id, code, config)) {
    await tx
      .update(codes)
      .set({ triesLeft: sql`${codes.triesLeft} - 1` })
      .where(mine)
    return wrongCode()
  }
  // It stays, as one that is over: who gives it again is told so.
  await tx.update(codes).set({ expiresAt: clock.now() }).where(mine)
  return { destination: stored.destination }
}

/** Whether this is the account's last code for the purpose, even if it is used or too old. */
export async function wasCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  code: string,
  { context }: Call,
): Promise<boolean> {
  const [stored] = await tx
    .select()
    .from(codes)
    .where(and(eq(codes.userId, user.id), eq(codes.purpose, purpose)))
  return stored !== undefined && matchesCode(stored.hash, stored.id, code, context.config)
}

const pretended = (pool: Pool, purpose: StoredCodePurpose, name: string) =>
  `pretended:${purpose}:${pool.id}:${emailKey(name)}`

/**
 * Acts as if a code had been sent to a name that nobody has, or whose account gets none: what is told and counted from
 * then on is what it would be with one.
 */
export async function pretendCode(
  tx: Transaction,
  pool: Pool,
  purpose: StoredCodePurpose,
  name: string,
  user: User | undefined,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const { clock, config } = call.context
  // Under the account where there is one, as the codes that it is sent: two doors in turn have one count, as for a name that nobody has.
  await countCode(tx, { poolId: pool.id, name, user }, call)
  const values = { count: 0, since: clock.now(), expiresAt: endOfLife(purpose, call.context) }
  await tx
    .insert(limits)
    .values({ key: pretended(pool, purpose, name), ...values })
    .onConflictDoUpdate({ target: limits.key, set: values })
  const { destinations } = simulateAccount(pool, name, config)
  const isSms = pool.settings.aliases.includes('phone_number') && /^\+\d+$/.test(name)
  return isSms
    ? { Destination: destinations.SMS, DeliveryMedium: 'SMS', AttributeName: 'phone_number' }
    : { Destination: destinations.EMAIL, DeliveryMedium: 'EMAIL', AttributeName: 'email' }
}

/** Refuses a code of a name that nobody has as a wrong one is refused. To be returned from the transaction. */
export async function pretendTry(
  tx: Transaction,
  pool: Pool,
  purpose: StoredCodePurpose,
  name: string,
  call: Call,
): Promise<IdentityError> {
  const { config, clock } = call.context
  const key = pretended(pool, purpose, name)
  const [row] = await tx.select().from(limits).where(eq(limits.key, key)).for('update')
  const outstanding = row !== undefined && Temporal.Instant.compare(row.expiresAt, clock.now()) > 0
  // A sign-up has sent one by itself: that nobody asked for another says nothing.
  if (!outstanding && purpose !== 'sign_up') return expiredCode()
  const since = outstanding ? row.since.epochMilliseconds : 0
  if (outstanding && row.count >= config.CODE_TRIES * othersTries) return attemptsExceeded()
  if (!(await mayTry(tx, `${key}:${since}`, call))) return attemptsExceeded()
  if (outstanding)
    await tx
      .update(limits)
      .set({ count: sql`${limits.count} + 1` })
      .where(eq(limits.key, key))
  return wrongCode()
}
