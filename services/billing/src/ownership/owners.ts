import { randomUUIDv7 } from 'node:crypto'
import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { wake, type Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { requestEnd } from '../membership/apply-membership.ts'
import type { BillingContext } from '../config.ts'
import { currentState, isSamePerson, ownershipOf, type AccountState, type Origin, type Ownership } from './rules.ts'
import { accountStates, checkoutAttempts, membershipAttempts, memberships, orders, type Membership } from '../schema.ts'

/**
 * Whose each purchase is. Identity's events come in any order; so each is kept, and what it may have changed is worked out
 * anew from all of them. Whoever begins a purchase shares this lock, whoever learns of an account has it alone.
 */
async function lockOwners(tx: Transaction, how: 'shared' | 'alone'): Promise<void> {
  const lock = how === 'alone' ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`
  await tx.execute(sql`select ${lock}(hashtext('owners'), 0)`)
}

/**
 * Whoever begins, or is about to judge, a membership of an address or an account holds this until the end of the
 * transaction, and is told whose it is.
 */
export async function lockMember(tx: Transaction, origin: Origin): Promise<Ownership> {
  await lockOwners(tx, 'shared')
  const ownership = await ownershipIn(tx, origin)
  const names = [origin.emailKey, ownership.emailKey, ownership.ownerId].filter((name) => name !== null)
  // In one order everywhere, so that no two transactions wait for each other.
  for (const name of new Set(names.toSorted())) {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('membership'), hashtext(${name}))`)
  }
  return ownership
}

/** Whose something is, by all that is known of accounts now. */
export async function ownershipIn(tx: Transaction, origin: Origin): Promise<Ownership> {
  return ownershipOf(origin, await statesAround(tx, [origin.ownerId], [origin.emailKey]))
}

/** Whether an account is known to be deleted or disabled. */
export async function isGone(tx: Transaction, userId: string): Promise<boolean> {
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  return (currentState(states, userId)?.status ?? 'active') !== 'active'
}

/** The addresses that an account has, or had. */
export async function addressesOf(tx: Transaction, userId: string): Promise<string[]> {
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  return [...new Set(states.flatMap(({ emailKey: key }) => (key === null ? [] : [key])))]
}

/** All that is known of these accounts, of those that had these addresses, and of whoever shares an address with them. */
async function statesAround(
  tx: Transaction,
  userIds: (string | null)[],
  emailKeys: (string | null)[],
): Promise<AccountState[]> {
  const users = new Set(userIds.filter((one) => one !== null))
  const keys = new Set(emailKeys.filter((one) => one !== null))
  for (;;) {
    const sharing = tx
      .select({ userId: accountStates.userId })
      .from(accountStates)
      .where(inArray(accountStates.emailKey, [...keys]))
    const states = await tx
      .select()
      .from(accountStates)
      .where(or(inArray(accountStates.userId, [...users]), inArray(accountStates.userId, sharing)))
    const before = users.size + keys.size
    for (const state of states) {
      users.add(state.userId)
      if (state.emailKey !== null) keys.add(state.emailKey)
    }
    if (users.size + keys.size === before) return states
  }
}

type AccountEvent = EventOf<typeof userConfirmed> | EventOf<typeof userUpdated> | EventOf<typeof userDeleted>

/** An account is there, is another one by now, or is gone: what belongs to it moves, comes or ends with that. */
export async function followAccount(tx: Transaction, event: AccountEvent, context: BillingContext): Promise<void> {
  const { id, type, time, data } = event
  const { userId } = data
  const at = Temporal.Instant.from(time)
  const status = type === 'user.deleted' ? 'deleted' : data.enabled === false ? 'disabled' : 'active'
  const address = verifiedAddress(event)
  const states = [state({ id, userId, at, status }, address)]
  // What it was until then, of which nothing may be known.
  const before = (type === 'user.updated' ? event.data.previousEmail : null) ?? (status === 'active' ? null : address)
  if (before !== null) {
    const until = { id: randomUUIDv7(), userId, at: at.subtract({ milliseconds: 1 }), status: 'active' as const }
    states.unshift(state(until, before))
  }
  await learn(tx, context, userId, states)
}

/**
 * Somebody is signed in with an account that has this address. Where no event has told of the account, what is nobody's at
 * that address is its own from now on; what events come to tell of it goes on from there.
 */
export async function noteAccount(
  tx: Transaction,
  context: BillingContext,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  if ((await tx.$count(accountStates, eq(accountStates.userId, userId))) > 0) return
  await lockOwners(tx, 'alone')
  await tx
    .update(membershipAttempts)
    .set({ ownerId: userId, email: sql`${memberships.email}`, emailKey: sql`${memberships.emailKey}` })
    .from(memberships)
    .where(
      and(
        eq(memberships.attemptId, membershipAttempts.id),
        isNull(memberships.userId),
        eq(memberships.emailKey, emailKey(email)),
      ),
    )
  await learn(tx, context, userId, [state({ id: randomUUIDv7(), userId, at: longAgo, status: 'active' }, email)])
}

/** Before whatever an event may tell of. */
const longAgo = Temporal.Instant.fromEpochMilliseconds(0)

/** What an event says of the address that an account has proven to have. */
function verifiedAddress({ type, data }: AccountEvent): string | null {
  if (data.verifiedEmail !== undefined) return data.verifiedEmail
  if (data.emailVerified) return data.email
  // As the version before tells of an address that is not verified yet.
  return type === 'user.updated' && 'previousEmail' in data ? data.previousEmail : null
}

type Row = typeof accountStates.$inferInsert

function state(of: Omit<Row, 'email' | 'emailKey'>, email: string | null): Row {
  return { ...of, email, emailKey: email === null ? null : emailKey(email) }
}

async function learn(tx: Transaction, context: BillingContext, userId: string, news: Row[]): Promise<void> {
  await lockOwners(tx, 'alone')
  await tx.insert(accountStates).values(news).onConflictDoNothing()
  const keys = await addressesOf(tx, userId)
  await settleMemberships(tx, context, { userId, keys })
  await settleOrders(tx, { userId, keys })
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  const ends = states.filter(({ status }) => status !== 'active').map(({ at }) => at)
  const endedAt = ends.toSorted((a, b) => Temporal.Instant.compare(a, b)).at(-1)
  if (endedAt) await closePages(tx, context, { userId, keys }, endedAt)
}

interface Whose {
  userId: string
  /** The addresses that the account has had. */
  keys: string[]
}

async function settleMemberships(tx: Transaction, context: BillingContext, { userId, keys }: Whose): Promise<void> {
  const rows = await tx
    .select({ attempt: membershipAttempts, membership: memberships })
    .from(memberships)
    .innerJoin(membershipAttempts, eq(membershipAttempts.id, memberships.attemptId))
    .where(
      or(
        eq(memberships.userId, userId),
        eq(membershipAttempts.ownerId, userId),
        inArray(memberships.emailKey, keys),
        inArray(membershipAttempts.emailKey, keys),
      ),
    )
    .orderBy(memberships.attemptId)
  for (const { attempt, membership } of rows) {
    const ownership = await ownershipIn(tx, originOf(attempt))
    await tx.update(memberships).set(ownershipColumns(ownership)).where(eq(memberships.attemptId, attempt.id))
    if (membership.status !== 'active' || !isNewEnd(membership.accountEndedAt, ownership.accountEndedAt)) continue
    await requestEnd(tx, context, attempt.id, 'at_period_end')
  }
}

function isNewEnd(known: Temporal.Instant | null, now: Temporal.Instant | null): boolean {
  return now !== null && (known === null || Temporal.Instant.compare(known, now) < 0)
}

/** The running membership of the same person, if there is one. */
export async function runningMembership(tx: Transaction, owned: Ownership): Promise<Membership | undefined> {
  const { ownerId, emailKey } = owned
  const running = await tx
    .select()
    .from(memberships)
    .where(
      and(
        eq(memberships.status, 'active'),
        or(eq(memberships.emailKey, emailKey), ownerId === null ? undefined : eq(memberships.userId, ownerId)),
      ),
    )
    .orderBy(memberships.activatedAt, memberships.attemptId)
  return running.find((one) => isSamePerson(owned, { ownerId: one.userId, emailKey: one.emailKey }))
}

/** How a membership was asked for. */
export function originOf(attempt: {
  email: string
  emailKey: string
  ownerId: string | null
  createdAt: Temporal.Instant
}): Origin {
  const { email, emailKey, ownerId, createdAt } = attempt
  return { email, emailKey, ownerId, at: createdAt }
}

/** As a membership's row keeps it. */
export function ownershipColumns({ ownerId, ownedAt, email, emailKey, accountEndedAt }: Ownership) {
  return { userId: ownerId, ownedAt, email, emailKey, accountEndedAt }
}

async function settleOrders(tx: Transaction, { userId, keys }: Whose): Promise<void> {
  const placedEmail = sql`lower(${orders.placedWith} ->> 'email')`
  const rows = await tx
    .select()
    .from(orders)
    .where(
      and(
        isNotNull(orders.email),
        or(
          eq(orders.ownerId, userId),
          sql`${orders.placedWith} ->> 'ownerId' = ${userId}`,
          inArray(sql`lower(${orders.email})`, keys),
          inArray(placedEmail, keys),
        ),
      ),
    )
    .orderBy(orders.id)
    .for('update')
  for (const order of rows) await settleOrder(tx, order)
}

/** An order's payment page was told an address: it is the account's that has it, if it was nobody's. */
export async function claimOrder(tx: Transaction, orderId: string): Promise<void> {
  await lockOwners(tx, 'shared')
  const [order] = await tx.select().from(orders).where(eq(orders.id, orderId)).for('update')
  if (order) await settleOrder(tx, order)
}

async function settleOrder(tx: Transaction, order: typeof orders.$inferSelect): Promise<void> {
  if (order.email === null) return
  const placed = order.placedWith ?? { email: order.email, ownerId: order.ownerId }
  const { ownerId, email } = await ownershipIn(tx, {
    ...placed,
    emailKey: emailKey(placed.email),
    at: order.createdAt,
  })
  if (ownerId === order.ownerId && email === order.email) return
  await tx.update(orders).set({ ownerId, email, placedWith: placed }).where(eq(orders.id, order.id))
}

/** With the account gone, nobody is to pay any more on the pages that were opened for it. */
async function closePages(
  tx: Transaction,
  { clock }: BillingContext,
  { userId, keys }: Whose,
  endedAt: Temporal.Instant,
): Promise<void> {
  const requested = { closeRequestedAt: clock.now(), tries: 0, nextTryAt: clock.now() }
  const open = await tx
    .select()
    .from(membershipAttempts)
    .where(
      and(
        inArray(membershipAttempts.status, ['creating', 'open']),
        isNull(membershipAttempts.closeRequestedAt),
        or(eq(membershipAttempts.ownerId, userId), inArray(membershipAttempts.emailKey, keys)),
      ),
    )
  for (const attempt of open) {
    const { accountEndedAt } = await ownershipIn(tx, originOf(attempt))
    if (accountEndedAt === null) continue
    await tx.update(membershipAttempts).set(requested).where(eq(membershipAttempts.id, attempt.id))
    await wake(tx, 'end-memberships')
  }
  const closed = await tx
    .update(checkoutAttempts)
    .set(requested)
    .where(
      and(
        eq(checkoutAttempts.ownerId, userId),
        inArray(checkoutAttempts.status, ['creating', 'open']),
        isNull(checkoutAttempts.closeRequestedAt),
        lt(checkoutAttempts.createdAt, endedAt),
      ),
    )
    .returning({ id: checkoutAttempts.id })
  if (closed.length > 0) await wake(tx, 'close-checkouts')
}
