import { randomUUID } from 'node:crypto'
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
import { nobodysName, simulateAccount } from './simulated-account.ts'
import { addressKind } from './usernames.ts'
import { codesName } from './users.ts'

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

/** The code of an id: it can be sent again without being kept. */
function codeOf(id: string, { SEALING_KEYS }: Config): string {
  return String(SEALING_KEYS.mac(id, 'code-digits').readUIntBE(0, 6) % 1_000_000).padStart(6, '0')
}

export function matchesCode(hash: string, id: string, code: string, config: Config): boolean {
  return isSameSecret(hashCode(id, code, config), hash)
}

/** Has the code of an id sent, once `tx` commits. @returns its hash. */
async function mailCode(
  tx: Transaction,
  user: User,
  id: string,
  letter: { purpose: CodePurpose; to: Destination; expiresAt: Temporal.Instant },
  config: Config,
): Promise<string> {
  const code = codeOf(id, config)
  await publishCode(tx, user, { ...letter, code }, config)
  return hashCode(id, code, config)
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
  const id = randomUUID()
  return { id, hash: await mailCode(tx, user, id, { purpose, to, expiresAt }, call.context.config) }
}

/** Has a code, or a temporary password, sent, sealed on its way. */
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
): Promise<void> {
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
 * Sends a code and keeps it as the one that is outstanding for its purpose. While one is, and whoever asks still has tries,
 * it is that one again: a stranger who asks makes nobody's code worthless.
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
  return keepCode(tx, user, purpose, to, call)
}

/** The code that a sign-up sends by itself. It counts nowhere: how many more are sent would tell who just signed up. */
export async function issueFirstCode(
  tx: Transaction,
  user: User,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  return keepCode(tx, user, 'sign_up', to, call)
}

async function keepCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const { config, clock } = call.context
  const [stored] = await tx
    .select()
    .from(codes)
    .where(and(eq(codes.userId, user.id), eq(codes.purpose, purpose)))
    .for('update')
  const isGood =
    stored !== undefined &&
    Temporal.Instant.compare(stored.expiresAt, clock.now()) > 0 &&
    stored.triesLeft > 0 &&
    stored.destination === to.destination &&
    matchesCode(stored.hash, stored.id, codeOf(stored.id, config), config) &&
    (await hasTries(tx, stored.id, call))
  const id = isGood ? stored.id : randomUUID()
  const triesLeft = isGood ? stored.triesLeft : config.CODE_TRIES * othersTries
  const expiresAt = endOfLife(purpose, call.context)
  const hash = await mailCode(tx, user, id, { purpose: lifeOf(purpose, config)[0], to, expiresAt }, config)
  const values = { id, hash, destination: to.destination, triesLeft, expiresAt }
  await tx
    .insert(codes)
    .values({ userId: user.id, purpose, ...values })
    .onConflictDoUpdate({ target: [codes.userId, codes.purpose], set: values })
  return deliveryDetails(to)
}

/** Tries are counted by address, so that who guesses does not use up the owner's; all together have this many times as many. */
const othersTries = 4

const triesKey = (code: string, address: string) => `tries:${code}:${address}`

async function mayTry(tx: Transaction, code: string, { context, address }: Call): Promise<boolean> {
  const tries = await count(tx, context, { key: triesKey(code, address), within: { hours: 24 } })
  return tries <= context.config.CODE_TRIES
}

/** As `mayTry`, without being a try. */
async function hasTries(tx: Transaction, code: string, { context, address }: Call): Promise<boolean> {
  const [tries] = await tx
    .select()
    .from(limits)
    .where(eq(limits.key, triesKey(code, address)))
  return (tries?.count ?? 0) < context.config.CODE_TRIES
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

/** Of an account it is counted as its codes are: by whichever of its names, as for a name that nobody has. */
async function pretended(
  tx: Transaction,
  pool: Pool,
  purpose: StoredCodePurpose,
  name: string,
  user: User | undefined,
): Promise<string> {
  return `pretended:${purpose}:${pool.id}:${user ? codesName(user) : await nobodysName(tx, pool, name)}`
}

/** What is pretended to be outstanding. */
async function findPretended(tx: Transaction, key: string, { context }: Call) {
  const [row] = await tx.select().from(limits).where(eq(limits.key, key)).for('update')
  return row && Temporal.Instant.compare(row.expiresAt, context.clock.now()) > 0 ? row : undefined
}

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
  const known = await nobodysName(tx, pool, name)
  await countCode(tx, { poolId: pool.id, name: known, user }, call)
  const key = await pretended(tx, pool, purpose, name, user)
  const sent = await findPretended(tx, key, call)
  const isGood =
    sent !== undefined &&
    sent.count < config.CODE_TRIES * othersTries &&
    (await hasTries(tx, `${key}:${sent.since.epochMilliseconds}`, call))
  const values = {
    count: isGood ? sent.count : 0,
    since: isGood ? sent.since : clock.now(),
    expiresAt: endOfLife(purpose, call.context),
  }
  await tx
    .insert(limits)
    .values({ key, ...values })
    .onConflictDoUpdate({ target: limits.key, set: values })
  const { destinations } = simulateAccount(pool, known, config)
  return addressKind(pool, known) === 'phone_number'
    ? { Destination: destinations.SMS, DeliveryMedium: 'SMS', AttributeName: 'phone_number' }
    : { Destination: destinations.EMAIL, DeliveryMedium: 'EMAIL', AttributeName: 'email' }
}

/** Refuses a code of a name that nobody has as a wrong one is refused. To be returned from the transaction. */
export async function pretendTry(
  tx: Transaction,
  pool: Pool,
  purpose: StoredCodePurpose,
  name: string,
  user: User | undefined,
  call: Call,
): Promise<IdentityError> {
  const { config, clock } = call.context
  const key = await pretended(tx, pool, purpose, name, user)
  let sent = await findPretended(tx, key, call)
  if (!sent) {
    if (purpose !== 'sign_up') return expiredCode()
    // A sign-up has sent one by itself: that nobody asked for another says nothing.
    const values = { count: 0, since: clock.now(), expiresAt: endOfLife(purpose, call.context) }
    ;[sent] = await tx
      .insert(limits)
      .values({ key, ...values })
      .onConflictDoUpdate({ target: limits.key, set: values })
      .returning()
  }
  if (!sent || sent.count >= config.CODE_TRIES * othersTries) return attemptsExceeded()
  if (!(await mayTry(tx, `${key}:${sent.since.epochMilliseconds}`, call))) return attemptsExceeded()
  await tx
    .update(limits)
    .set({ count: sql`${limits.count} + 1` })
    .where(eq(limits.key, key))
  return wrongCode()
}
