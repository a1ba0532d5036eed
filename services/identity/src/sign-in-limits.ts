import { signInLocked } from '@robokids/contracts/identity'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { IdentityError } from './errors.ts'
import type { Call } from './protocol.ts'
import { knownAddresses, limits, type User } from './schema.ts'
import { accountOf } from './users.ts'
import { waitAfter } from './rules.ts'

/** Whether the account is known or not: a name that nobody has is counted the same way. */
const nameOf = (poolId: string, name: string, user: User | undefined) => user?.id ?? `${poolId}:${name.toLowerCase()}`
const pairKey = (account: string, address: string) => `sign-in:${account}:${address}`
const accountKey = (account: string) => `sign-in:${account}`

/** Failures are forgotten after this long without another. */
const memory = { hours: 1 }

const tooMany = () => new IdentityError('NotAuthorizedException', 'Password attempts exceeded')

/**
 * Refuses a sign-in that has to wait after failures: of this account from this address, or, from an address that never
 * signed in to it, of this account from anywhere.
 * @throws IdentityError NotAuthorizedException
 */
export async function checkSignInWait(poolId: string, name: string, user: User | undefined, call: Call): Promise<void> {
  const { db, clock } = call.context
  const account = nameOf(poolId, name, user)
  const rows = await db
    .select()
    .from(limits)
    .where(inArray(limits.key, [pairKey(account, call.address), accountKey(account)]))
  const now = clock.now()
  for (const row of rows) {
    if (row.waitUntil === null || Temporal.Instant.compare(row.waitUntil, now) <= 0) continue
    if (row.key === accountKey(account) && user && (await isKnownAddress(user, call))) continue
    throw tooMany()
  }
}

async function isKnownAddress(user: User, { context, address }: Call): Promise<boolean> {
  const mine = and(eq(knownAddresses.userId, user.id), eq(knownAddresses.address, address))
  return (await context.db.$count(knownAddresses, mine)) > 0
}

/** Notes a failed sign-in. The person is told once, when the account begins to refuse. */
export async function noteFailure(
  tx: Transaction,
  poolId: string,
  name: string,
  user: User | undefined,
  { context, address }: Call,
): Promise<void> {
  const { config, clock } = context
  const now = clock.now()
  const account = nameOf(poolId, name, user)
  const expiresAt = now.add(memory)
  const note = async (key: string, free: number) => {
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
    return { first: failures === free + 1, waitUntil }
  }
  const pair = await note(pairKey(account, address), config.FREE_SIGN_IN_FAILURES)
  const all = await note(accountKey(account), config.ACCOUNT_FAILURES_AN_HOUR)
  const locked = all.first ? all : pair.first ? pair : undefined
  if (user && locked?.waitUntil) {
    await publish(tx, signInLocked, user.id, {
      ...accountOf(user),
      reason: 'too_many_attempts',
      until: locked.waitUntil.toString({ fractionalSecondDigits: 3 }),
    })
  }
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
