import { createHash, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { codeIssued, type CodeMedium, type CodePurpose } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, sql } from 'drizzle-orm'
import { expiredCode, IdentityError, wrongCode } from './errors.ts'
import { mask } from './attributes.ts'
import { countWithin } from './limits.ts'
import type { Call } from './protocol.ts'
import { codes, type StoredCodePurpose, type User } from './schema.ts'

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

export function deliveryDetails({ medium, destination }: Destination): CodeDeliveryDetails {
  return {
    Destination: mask(medium, destination),
    DeliveryMedium: medium,
    AttributeName: medium === 'EMAIL' ? 'email' : 'phone_number',
  }
}

/** Six digits have too little in them to be hashed alone: the id makes each hash its own. */
export function hashCode(id: string, code: string): string {
  return createHash('sha256').update(`${id}:${code}`).digest('base64url')
}

export function matchesCode(hash: string, id: string, code: string): boolean {
  const expected = Buffer.from(hash)
  const given = Buffer.from(hashCode(id, code))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/**
 * Makes a code and has it sent, once `tx` commits.
 * @throws IdentityError LimitExceededException where the account was sent too many within the hour.
 */
export async function sendCode(
  tx: Transaction,
  user: User,
  purpose: CodePurpose,
  to: Destination,
  expiresAt: Temporal.Instant,
  { context }: Call,
): Promise<{ id: string; hash: string }> {
  const { config } = context
  await countWithin(tx, context, { key: `codes:${user.id}`, most: config.CODES_AN_HOUR, within: { hours: 1 } })
  const id = randomUUID()
  const code = String(randomInt(0, 1_000_000)).padStart(6, '0')
  await publishCode(tx, user, { id, purpose, to, code, expiresAt }, config.CODE_SEALING_KEYS.seal(code, `code:${id}`))
  return { id, hash: hashCode(id, code) }
}

/** Has a code, or a temporary password, sent as it is. */
export async function publishCode(
  tx: Transaction,
  user: User,
  letter: { id: string; purpose: CodePurpose; to: Destination; expiresAt: Temporal.Instant; code: string },
  sealedCode: string,
): Promise<void> {
  const { id, purpose, to, expiresAt } = letter
  await publish(tx, codeIssued, user.id, {
    codeId: id,
    purpose,
    userId: user.id,
    username: user.username,
    givenName: user.attributes['given_name'] ?? null,
    ...to,
    sealedCode,
    expiresAt: expiresAt.toString({ fractionalSecondDigits: 3 }),
  })
}

/** Sends a code and keeps it as the one that is outstanding for its purpose: the one before it is worth nothing any more. */
export async function issueCode(
  tx: Transaction,
  user: User,
  purpose: StoredCodePurpose,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const { config, clock } = call.context
  const [sentAs, minutes] = {
    sign_up: ['sign_up', config.SIGN_UP_CODE_MINUTES] as const,
    password_reset: ['password_reset', config.RESET_CODE_MINUTES] as const,
    verify_email: ['attribute', config.ATTRIBUTE_CODE_MINUTES] as const,
    verify_phone_number: ['attribute', config.ATTRIBUTE_CODE_MINUTES] as const,
  }[purpose]
  const expiresAt = clock.now().add({ seconds: Math.round(minutes * 60) })
  const { id, hash } = await sendCode(tx, user, sentAs, to, expiresAt, call)
  const values = { id, hash, destination: to.destination, triesLeft: config.CODE_TRIES, expiresAt }
  await tx
    .insert(codes)
    .values({ userId: user.id, purpose, ...values })
    .onConflictDoUpdate({ target: [codes.userId, codes.purpose], set: values })
  return deliveryDetails(to)
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
  { context }: Call,
): Promise<{ destination: string } | IdentityError> {
  const mine = and(eq(codes.userId, user.id), eq(codes.purpose, purpose))
  const [stored] = await tx.select().from(codes).where(mine).for('update')
  if (!stored || Temporal.Instant.compare(stored.expiresAt, context.clock.now()) <= 0) return expiredCode()
  if (stored.triesLeft <= 0)
    return new IdentityError('LimitExceededException', 'Attempt limit exceeded, please try after some time.')
  if (!matchesCode(stored.hash, stored.id, code)) {
    await tx
      .update(codes)
      .set({ triesLeft: sql`${codes.triesLeft} - 1` })
      .where(mine)
    return wrongCode()
  }
  await tx.delete(codes).where(mine)
  return { destination: stored.destination }
}
