import { randomUUIDv7 } from 'node:crypto'
import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { wakeJob, type Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { requestMembershipEnd } from './request-membership-end.ts'
import type { BillingContext } from '../config.ts'
import {
  currentState,
  isSamePerson,
  resolveOwnership,
  type AccountState,
  type Origin,
  type Ownership,
} from './rules.ts'
import { accountStates, checkoutAttempts, membershipAttempts, memberships, orders, type Membership } from '../schema.ts'

/**
 * Guards the owners of purchases. Identity's events arrive in any order, so all are stored and the owners are computed again
 * from all of them. Starting a purchase takes the lock shared, recording an account takes it exclusively.
 */
async function lockOwners(tx: Transaction, mode: 'shared' | 'exclusive'): Promise<void> {
  const lock = mode === 'exclusive' ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`
  await tx.execute(sql`select ${lock}(hashtext('owners'), 0)`)
}

/**
 * Locks the memberships of an address and an account until the transaction ends, and returns the owner. To be held by every
 * transaction that starts or validates one.
 */
export async function lockMember(tx: Transaction, origin: Origin): Promise<Ownership> {
  await lockOwners(tx, 'shared')
  const ownership = await readOwnership(tx, origin)
  const names = [origin.emailKey, ownership.emailKey, ownership.ownerId].filter((name) => name !== null)
  // Always in the same order, to avoid deadlocks.
  for (const name of new Set(names.toSorted())) {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('membership'), hashtext(${name}))`)
  }
  return ownership
}

/** Resolves the owner of a purchase by the account states recorded so far. */
export async function readOwnership(tx: Transaction, origin: Origin): Promise<Ownership> {
  return resolveOwnership(origin, await readRelatedStates(tx, [origin.ownerId], [origin.emailKey]))
}

/** Whether an account is deleted or disabled. */
export async function isAccountGone(tx: Transaction, userId: string): Promise<boolean> {
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  return (currentState(states, userId)?.status ?? 'active') !== 'active'
}

/** Returns the keys of all addresses that an account has or had. */
export async function readEmailKeys(tx: Transaction, userId: string): Promise<string[]> {
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  return [...new Set(states.flatMap(({ emailKey: key }) => (key === null ? [] : [key])))]
}

/** Returns the states of these accounts, of accounts that had these addresses, and, transitively, of those that shared one. */
async function readRelatedStates(
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

/** Records a created, changed or deleted account, and updates its purchases. */
export async function applyAccountEvent(tx: Transaction, event: AccountEvent, context: BillingContext): Promise<void> {
  const { id, type, time, data } = event
  const { userId } = data
  const at = Temporal.Instant.from(time)
  const status = type === 'user.deleted' ? 'deleted' : data.enabled === false ? 'disabled' : 'active'
  const address = verifiedAddress(event)
  const states = [state({ id, userId, at, status }, address)]
  // Its state before the event, which may never have been recorded.
  const before = (type === 'user.updated' ? event.data.previousEmail : null) ?? (status === 'active' ? null : address)
  if (before !== null) {
    const until = { id: randomUUIDv7(), userId, at: at.subtract({ milliseconds: 1 }), status: 'active' as const }
    states.unshift(state(until, before))
  }
  await recordStates(tx, context, userId, states)
}

/**
 * Records the account of a signed-in user if no event of it has arrived yet: unowned purchases at its address become its own.
 * Later events of the account build on that.
 */
export async function recordAccount(
  tx: Transaction,
  context: BillingContext,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  if ((await tx.$count(accountStates, eq(accountStates.userId, userId))) > 0) return
  await lockOwners(tx, 'exclusive')
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
  await recordStates(tx, context, userId, [
    state({ id: randomUUIDv7(), userId, at: beforeAnyEvent, status: 'active' }, email),
  ])
}

/** Earlier than any event. */
const beforeAnyEvent = Temporal.Instant.fromEpochMilliseconds(0)

/** The verified address of an account, according to an event. */
function verifiedAddress({ type, data }: AccountEvent): string | null {
  if (data.verifiedEmail !== undefined) return data.verifiedEmail
  if (data.emailVerified) return data.email
  // The previous version publishes a change to an unverified address so.
  return type === 'user.updated' && 'previousEmail' in data ? data.previousEmail : null
}

type Row = typeof accountStates.$inferInsert

function state(of: Omit<Row, 'email' | 'emailKey'>, email: string | null): Row {
  return { ...of, email, emailKey: email === null ? null : emailKey(email) }
}

async function recordStates(tx: Transaction, context: BillingContext, userId: string, newStates: Row[]): Promise<void> {
  await lockOwners(tx, 'exclusive')
  await tx.insert(accountStates).values(newStates).onConflictDoNothing()
  const keys = await readEmailKeys(tx, userId)
  await updateMembershipOwners(tx, context, { userId, keys })
  await updateOrderOwners(tx, { userId, keys })
  const states = await tx.select().from(accountStates).where(eq(accountStates.userId, userId))
  const ends = states.filter(({ status }) => status !== 'active').map(({ at }) => at)
  const endedAt = ends.toSorted((a, b) => Temporal.Instant.compare(a, b)).at(-1)
  if (endedAt) await requestPageCloses(tx, context, { userId, keys }, endedAt)
}

interface AccountAddresses {
  userId: string
  /** The keys of all addresses that the account has or had. */
  keys: string[]
}

async function updateMembershipOwners(
  tx: Transaction,
  context: BillingContext,
  { userId, keys }: AccountAddresses,
): Promise<void> {
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
    const ownership = await readOwnership(tx, toOrigin(attempt))
    await tx.update(memberships).set(ownershipColumns(ownership)).where(eq(memberships.attemptId, attempt.id))
    if (membership.status !== 'active' || !isNewEnd(membership.accountEndedAt, ownership.accountEndedAt)) continue
    await requestMembershipEnd(tx, context, attempt.id, 'at_period_end')
  }
}

function isNewEnd(known: Temporal.Instant | null, now: Temporal.Instant | null): boolean {
  return now !== null && (known === null || Temporal.Instant.compare(known, now) < 0)
}

/** Returns the running membership of the same person, if any. */
export async function findRunningMembership(tx: Transaction, owned: Ownership): Promise<Membership | undefined> {
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

/** The origin of a membership attempt. */
export function toOrigin(attempt: {
  email: string
  emailKey: string
  ownerId: string | null
  createdAt: Temporal.Instant
}): Origin {
  const { email, emailKey, ownerId, createdAt } = attempt
  return { email, emailKey, ownerId, at: createdAt }
}

/** The columns of `memberships` for an ownership. */
export function ownershipColumns({ ownerId, ownedAt, email, emailKey, accountEndedAt }: Ownership) {
  return { userId: ownerId, ownedAt, email, emailKey, accountEndedAt }
}

async function updateOrderOwners(tx: Transaction, { userId, keys }: AccountAddresses): Promise<void> {
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
  for (const order of rows) await updateOrderOwner(tx, order)
}

/** Assigns an unowned order to the account with the address that was entered on its payment page. */
export async function claimOrder(tx: Transaction, orderId: string): Promise<void> {
  await lockOwners(tx, 'shared')
  const [order] = await tx.select().from(orders).where(eq(orders.id, orderId)).for('update')
  if (order) await updateOrderOwner(tx, order)
}

async function updateOrderOwner(tx: Transaction, order: typeof orders.$inferSelect): Promise<void> {
  if (order.email === null) return
  const placed = order.placedWith ?? { email: order.email, ownerId: order.ownerId }
  const { ownerId, email } = await readOwnership(tx, {
    ...placed,
    emailKey: emailKey(placed.email),
    at: order.createdAt,
  })
  if (ownerId === order.ownerId && email === order.email) return
  await tx.update(orders).set({ ownerId, email, placedWith: placed }).where(eq(orders.id, order.id))
}

/** Requests that the payment pages of a deleted or disabled account are closed. */
async function requestPageCloses(
  tx: Transaction,
  { clock }: BillingContext,
  { userId, keys }: AccountAddresses,
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
    const { accountEndedAt } = await readOwnership(tx, toOrigin(attempt))
    if (accountEndedAt === null) continue
    await tx.update(membershipAttempts).set(requested).where(eq(membershipAttempts.id, attempt.id))
    await wakeJob(tx, 'end-memberships')
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
  if (closed.length > 0) await wakeJob(tx, 'close-checkouts')
}
