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
import { count, countWithin } from './limits.ts'
import type { Pool } from './pools.ts'
import type { Call } from './protocol.ts'
import { codes, limits, type StoredCodePurpose, type User } from './schema.ts'
import { countCode, countText } from './sign-in-limits.ts'
import { nobodysName, simulateAccount } from './simulated-account.ts'
import { addressKind } from './usernames.ts'
import { aliasValue, codesName, isSameAddress, isVerified } from './users.ts'

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
export function hashCode(id: string, code: string, { MAC_KEYS }: Config): string {
  return MAC_KEYS.mac(`${id}:${code}`, 'code').toString('base64url')
}

/** The code of an id, by the key that derives now and by those that did before. */
function codesOfId(id: string, { MAC_KEYS }: Config): string[] {
  return MAC_KEYS.macs(id, 'code-digits').map((mac) => String(mac.readUIntBE(0, 6) % 1_000_000).padStart(6, '0'))
}

/** The code of an id: it can be sent again without being kept. */
function codeOf(id: string, config: Config): string {
  const [code] = codesOfId(id, config)
  if (code === undefined) throw new Error('There is no key to derive a code from.')
  return code
}

/** Whether it is the code of an id, also as it was sent before the keys changed. */
const isCodeOf = (id: string, given: string, config: Config) =>
  codesOfId(id, config).some((code) => isSameSecret(code, given))

export function matchesCode(hash: string, id: string, code: string, { MAC_KEYS }: Config): boolean {
  return MAC_KEYS.macs(`${id}:${code}`, 'code').some((mac) => isSameSecret(mac.toString('base64url'), hash))
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
  const { config } = call.context
  await countCode(tx, { poolId: user.poolId, name: codesName(user), user }, to.medium, call)
  const id = randomUUID()
  const code = codeOf(id, config)
  await publishCode(tx, user, { purpose, to, code, expiresAt }, config)
  return { id, hash: hashCode(id, code, config) }
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
    // An address that nobody has proven may be a stranger's: they are not written what somebody calls themselves.
    givenName: purpose === 'invitation' || isProven(user, to) ? (user.attributes['given_name'] ?? null) : null,
    ...to,
    sealedCode: CODE_SEALING_KEYS.seal(code, `code:${codeId}`),
    expiresAt: expiresAt.toString({ fractionalSecondDigits: 3 }),
  })
}

function isProven(user: User, { medium, destination }: Destination): boolean {
  const attribute = medium === 'EMAIL' ? 'email' : 'phone_number'
  return isVerified(user, attribute) && isSameAddress(attribute, user.attributes[attribute] ?? '', destination)
}

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
  if (to) return `${to.medium}:${aliasValue(to.medium === 'EMAIL' ? 'email' : 'phone_number', to.destination)}`
  if (user) return user.emailKey === null ? `name:${user.username}` : `EMAIL:${user.emailKey}`
  const known = await nobodysName(tx, pool, name)
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

/** The tries of one address at codes that are all the same to it. */
const triesKey = ({ poolId, purpose, subject }: CodeKey, { address }: Call) =>
  `tries:${poolId}:${purpose}:${subject}:${address}`

/** As if a try were counted, without being one. */
async function hasTries(tx: Transaction, key: CodeKey, call: Call): Promise<boolean> {
  const [tries] = await tx
    .select()
    .from(limits)
    .where(eq(limits.key, triesKey(key, call)))
  return (tries?.count ?? 0) < call.context.config.CODE_TRIES
}

/** Tries are counted by address, so that who guesses does not use up the owner's; all together have this many times as many. */
const othersTries = 4
/** So many who asked have a code of their own; whoever asks then gets one of theirs. */
const mostOpen = 10

/**
 * Keeps a code for who asks. While theirs is outstanding and they have tries left, it is that one again; nobody else's is
 * touched. @param to where it goes; undefined where it is only pretended to go.
 */
async function keepCode(tx: Transaction, key: CodeKey, to: Destination | undefined, call: Call) {
  const { config, clock } = call.context
  const good = (await lockCodes(tx, key)).filter(
    (code) =>
      !isOver(code, call.context) &&
      code.triesLeft > 0 &&
      (!to || code.destination === null || code.destination.toLowerCase() === to.destination.toLowerCase()),
  )
  const own = good.find(({ askedFrom }) => askedFrom === call.address)
  const again = own && (await hasTries(tx, key, call)) ? own : undefined
  if (!again) await tx.delete(limits).where(eq(limits.key, triesKey(key, call)))
  const kept = again ?? (own === undefined && good.length >= mostOpen ? good[0] : undefined)
  const [, minutes] = lifeOf(key.purpose, config)
  const values = {
    id: kept?.id ?? randomUUID(),
    destination: to?.destination ?? kept?.destination ?? null,
    triesLeft: kept?.triesLeft ?? config.CODE_TRIES * othersTries,
    expiresAt: clock.now().add({ seconds: Math.round(minutes * 60) }),
  }
  await tx
    .insert(codes)
    .values({ ...key, askedFrom: kept?.askedFrom ?? call.address, ...values })
    .onConflictDoUpdate({ target: [codes.poolId, codes.purpose, codes.subject, codes.askedFrom], set: values })
  return values
}

/** Keeps a code and has it sent, once `tx` commits. */
async function sendKept(
  tx: Transaction,
  user: User,
  key: CodeKey,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const { config } = call.context
  const { id, expiresAt } = await keepCode(tx, key, to, call)
  const [purpose] = lifeOf(key.purpose, config)
  await publishCode(tx, user, { purpose, to, code: codeOf(id, config), expiresAt }, config)
  return deliveryDetails(to)
}

/**
 * Sends a code to who asks for one by a name.
 * @throws IdentityError LimitExceededException where too many were asked for within the hour.
 */
export async function issueCode(
  tx: Transaction,
  user: User,
  pool: Pool,
  purpose: 'sign_up' | 'password_reset',
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  await countCode(tx, { poolId: pool.id, name: codesName(user), user }, to.medium, call)
  const subject = await codeSubject(tx, pool, user.username, user, to)
  return sendKept(tx, user, { poolId: pool.id, purpose, subject }, to, call)
}

/**
 * The code that a sign-up sends by itself. How many are sent to an address that is signed up with again and again is
 * limited; that one was not sent is told to nobody, since it would tell of the other sign-ups.
 */
export async function issueFirstCode(
  tx: Transaction,
  user: User,
  pool: Pool,
  to: Destination,
  call: Call,
): Promise<CodeDeliveryDetails> {
  await countText(tx, to.medium, call)
  const subject = await codeSubject(tx, pool, user.username, user, to)
  const key: CodeKey = { poolId: pool.id, purpose: 'sign_up', subject }
  const sent = await count(tx, call.context, { key: `sign-ups:${pool.id}:${subject}`, within: { hours: 1 } })
  if (sent <= call.context.config.CODES_AN_HOUR) return sendKept(tx, user, key, to, call)
  await keepCode(tx, key, to, call)
  return deliveryDetails(to)
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
  await countCode(tx, { poolId: user.poolId, name: `account:${user.id}`, user }, to.medium, call)
  await countWithin(tx, call.context, {
    key: `claims:${user.poolId}:${to.destination.toLowerCase()}`,
    most: call.context.config.CODES_AN_HOUR,
    within: { hours: 1 },
  })
  return sendKept(tx, user, ownCodeKey(user, purpose), to, call)
}

/**
 * Takes a code: it works once, a few tries, for a while. To be called with the account's row locked. What is answered to
 * who does not know one depends on what they did themselves, never on what others did or have.
 * @param tellsUsers whether the client may be told that a code is outstanding, or that none is. To others one of a sign-up
 * always is, since that sends one by itself.
 * @returns what it was sent to, or the refusal, which is to be returned from the transaction: a wrong try counts.
 */
export async function takeCode(
  tx: Transaction,
  key: CodeKey,
  code: string,
  call: Call,
  { tellsUsers = false } = {},
): Promise<{ destination: string } | IdentityError> {
  const { context, address } = call
  const { config, clock } = context
  const known = await lockCodes(tx, key)
  const open = known.filter((one) => !isOver(one, context))
  const isOwn = key.purpose === 'verify_email' || key.purpose === 'verify_phone_number'
  const isAsked =
    (key.purpose === 'sign_up' && !tellsUsers) ||
    open.some(({ askedFrom }) => isOwn || tellsUsers || askedFrom === address)
  const within = { hours: 24 }
  const tries = await count(tx, context, { key: triesKey(key, call), within })
  if (tries > config.CODE_TRIES) return isAsked ? attemptsExceeded() : expiredCode()
  for (const one of open) {
    // One address has its few tries at each, however often it asks for another.
    const mine = await count(tx, context, { key: `tries:${one.id}:${address}`, within })
    if (one.triesLeft <= 0 || mine > config.CODE_TRIES) continue
    if (one.destination === null || !isCodeOf(one.id, code, config)) {
      await tx
        .update(codes)
        .set({ triesLeft: sql`${codes.triesLeft} - 1` })
        .where(eq(codes.id, one.id))
      continue
    }
    // It stays, as one that is over: who gives it again is told so. The others prove nothing any more.
    await tx.update(codes).set({ triesLeft: 0 }).where(codesOf(key))
    await tx.update(codes).set({ expiresAt: clock.now() }).where(eq(codes.id, one.id))
    await tx.delete(limits).where(eq(limits.key, triesKey(key, call)))
    return { destination: one.destination }
  }
  const wasOne = known.some((one) => isOver(one, context) && isSent(one) && isCodeOf(one.id, code, config))
  return isAsked && !wasOne ? wrongCode() : expiredCode()
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
export async function pretendCode(
  tx: Transaction,
  pool: Pool,
  purpose: 'sign_up' | 'password_reset',
  name: string,
  user: User | undefined,
  to: Destination | undefined,
  call: Call,
): Promise<CodeDeliveryDetails> {
  const known = await nobodysName(tx, pool, name)
  // Under the account where there is one, as the codes that it is sent: two doors in turn have one count, as for a name that nobody has.
  const medium = addressKind(pool, known) === 'phone_number' ? 'SMS' : 'EMAIL'
  await countCode(tx, { poolId: pool.id, name: user ? codesName(user) : known, user }, medium, call)
  const subject = await codeSubject(tx, pool, name, user, to)
  await keepCode(tx, { poolId: pool.id, purpose, subject }, undefined, call)
  const { destinations } = simulateAccount(pool, known, call.context.config)
  return {
    Destination: destinations[medium],
    DeliveryMedium: medium,
    AttributeName: medium === 'SMS' ? 'phone_number' : 'email',
  }
}
