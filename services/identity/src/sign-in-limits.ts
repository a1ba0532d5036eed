import { signInLocked, type CodeMedium } from '@robokids/contracts/identity'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { IdentityError } from './errors.ts'
import { countWithin } from './limits.ts'
import type { Call } from './protocol.ts'
import { waitAfter } from './rules.ts'
import { knownAddresses, limits, type User } from './schema.ts'
import { accountOf } from './users.ts'

/** Who is signed in to. `user` is undefined for a name that nobody has: it is counted the same way. */
export interface Target {
  poolId: string
  /** As `nobodysName` writes it. */
  name: string
  user: User | undefined
}

const accountName = ({ poolId, name, user }: Target) => user?.id ?? `${poolId}:${name}`
const pairKey = (account: string, address: string) => `sign-in:${account}:${address}`
const accountKey = (account: string) => `sign-in:${account}`

/** Failures are forgotten after this long without another. */
const memory = { hours: 1 }

const tooMany = () => new IdentityError('NotAuthorizedException', 'Password attempts exceeded')

async function isKnownAddress(tx: Transaction | Database, user: User | undefined, address: string): Promise<boolean> {
  if (!user) return false
  const mine = and(eq(knownAddresses.userId, user.id), eq(knownAddresses.address, address))
  return (await tx.$count(knownAddresses, mine)) > 0
}

/**
 * Refuses a sign-in that has to wait after failures: of this account from this address, or, from an address that never
 * signed in to it, of this account from anywhere.
 * @throws IdentityError NotAuthorizedException
 */
export async function checkSignInWait(
  tx: Transaction | Database,
  target: Target,
  { context, address }: Call,
): Promise<void> {
  const account = accountName(target)
  const rows = await tx
    .select()
    .from(limits)
    .where(inArray(limits.key, [pairKey(account, address), accountKey(account)]))
  const now = context.clock.now()
  for (const row of rows) {
    if (row.waitUntil === null || Temporal.Instant.compare(row.waitUntil, now) <= 0) continue
    if (row.key === accountKey(account) && (await isKnownAddress(tx, target.user, address))) continue
    throw tooMany()
  }
}

/** Notes a failed proof: a password, a code, a passkey. The person is told once, when the account begins to refuse. */
export async function noteFailure(tx: Transaction, target: Target, { context, address }: Call): Promise<void> {
  const { config, clock } = context
  const now = clock.now()
  const account = accountName(target)
  const expiresAt = now.add(memory)
  const note = async (key: string, free: number) => {
    const [before] = await tx.select().from(limits).where(eq(limits.key, key)).for('update')
    const waiting = before?.waitUntil ? Temporal.Instant.compare(before.waitUntil, now) > 0 : false
    const [row] = await tx
      .insert(limits)
      .values({ key, count: 1, since: now, expiresAt })
      .onConflictDoUpdate({
        target: limits.key,
        set: {
          count: sql`case when ${limits.expiresAt} <= ${now.toString()}::timestamptz then 1 else ${limits.count} + 1 end`,
          expiresAt,
        },
      })
      .returning({ count: limits.count })
    const failures = row?.count ?? 1
    const wait = waitAfter(failures, free, config.MAX_SIGN_IN_WAIT_SECONDS)
    const waitUntil = wait === 0 ? null : now.add({ seconds: wait })
    await tx.update(limits).set({ waitUntil }).where(eq(limits.key, key))
    return { first: failures === free + 1, waitUntil, waiting }
  }
  const pair = await note(pairKey(account, address), config.FREE_SIGN_IN_FAILURES)
  // One of a flood that was let in before the first of them failed: it would have been refused, and counts for its own
  // address alone. So no address can by itself make the account's other addresses wait.
  if (pair.waiting) return
  const all = await note(accountKey(account), config.ACCOUNT_FAILURES_AN_HOUR)
  const locked = all.first ? all : pair.first ? pair : undefined
  if (target.user && locked?.waitUntil) {
    await publish(tx, signInLocked, target.user.id, {
      ...(await accountOf(tx, target.user)),
      reason: 'too_many_attempts',
      until: locked.waitUntil.toString({ fractionalSecondDigits: 3 }),
    })
  }
}

/** Counts a text message that an address has sent. @throws IdentityError LimitExceededException */
export async function countText(tx: Transaction, medium: CodeMedium, { context, address }: Call): Promise<void> {
  if (medium !== 'SMS') return
  const most = context.config.ADDRESS_TEXTS_AN_HOUR
  await countWithin(tx, context, { key: `texts:${address}`, most, within: { hours: 1 } })
}

/**
 * Counts a code that an account is sent: so many an hour that one address asks for, and so many for all addresses
 * that it was never signed in to from, so that no stranger can use its codes up.
 * @param target its `name` is what is counted by: `codesName` of an account.
 * @throws IdentityError LimitExceededException
 */
export async function countCode(tx: Transaction, target: Target, medium: CodeMedium, call: Call): Promise<void> {
  await countText(tx, medium, call)
  const { context, address } = call
  const { CODES_AN_HOUR, ACCOUNT_CODES_AN_HOUR } = context.config
  const { poolId, name, user } = target
  const key = `codes:${poolId}:${name}`
  const within = { hours: 1 }
  await countWithin(tx, context, { key: `${key}:${address}`, most: CODES_AN_HOUR, within })
  if (await isKnownAddress(tx, user, address)) return
  await countWithin(tx, context, { key, most: ACCOUNT_CODES_AN_HOUR, within })
}

/** A sign-in succeeded: its address is known from now on, and its failures are forgotten. */
export async function rememberAddress(tx: Transaction, user: User, { context, address }: Call): Promise<void> {
  const lastSeenAt = context.clock.now()
  await tx
    .insert(knownAddresses)
    .values({ userId: user.id, address, lastSeenAt })
    .onConflictDoUpdate({ target: [knownAddresses.userId, knownAddresses.address], set: { lastSeenAt } })
  await tx.delete(limits).where(eq(limits.key, pairKey(user.id, address)))
}
