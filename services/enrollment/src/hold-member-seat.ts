import type { HoldMemberSeat, MemberHold } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Config } from './config.ts'
import { moveSeats } from './lock-registration.ts'
import { askForSeat, bindSeat, endCheckout, endOverdue, endRequest, seatsOf, type MemberHolds } from './member-holds.ts'
import { isoTime } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from './rules.ts'
import { classSessions, memberHolds, memberSeats, pendingMemberHolds } from './schema.ts'

export function membersSessionOf(classDate: string) {
  return and(eq(classSessions.classType, 'membership'), eq(classSessions.date, classDate))
}

/**
 * What an address holds. Whoever does something with the seat of an address calls this first: it keeps all others waiting,
 * before any session's row is locked.
 */
export async function lockMemberHolds(tx: Transaction, key: string): Promise<MemberHolds> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('member_hold'), hashtext(${key}))`)
  const [hold = null] = await tx.select().from(memberHolds).where(eq(memberHolds.emailKey, key))
  const [pending = null] = await tx.select().from(pendingMemberHolds).where(eq(pendingMemberHolds.emailKey, key))
  return { hold, pending }
}

/** Writes what an address holds from now on, and moves the seats. */
export async function saveMemberHolds(
  tx: Transaction,
  key: string,
  before: MemberHolds,
  { hold, pending }: MemberHolds,
): Promise<void> {
  if (hold && hold !== before.hold) {
    const row = { ...hold, emailKey: key }
    await tx.insert(memberHolds).values(row).onConflictDoUpdate({ target: memberHolds.emailKey, set: row })
  } else if (!hold && before.hold) await tx.delete(memberHolds).where(eq(memberHolds.emailKey, key))
  if (pending && pending !== before.pending) {
    const row = { ...pending, emailKey: key }
    await tx
      .insert(pendingMemberHolds)
      .values(row)
      .onConflictDoUpdate({ target: pendingMemberHolds.emailKey, set: row })
  } else if (!pending && before.pending) await tx.delete(pendingMemberHolds).where(eq(pendingMemberHolds.emailKey, key))
  const [had, has] = [seatsOf(before), seatsOf({ hold, pending })]
  // In one order everywhere, so that no two transactions wait for each other.
  for (const id of [...had.symmetricDifference(has)].toSorted()) {
    await moveSeats(tx, id, { held: has.has(id) ? 1 : -1, sold: 0 })
  }
}

/** Changes what an address holds. */
async function change(tx: Transaction, email: string, rule: (holds: MemberHolds) => MemberHolds): Promise<void> {
  const key = emailKey(email)
  const holds = await lockMemberHolds(tx, key)
  await saveMemberHolds(tx, key, holds, rule(holds))
}

/**
 * Holds a seat of a members' session for an address that asks for a checkout, or, by its id, for the checkout that it was
 * given. Where the seat cannot be had, all stays as it is.
 * @throws DomainError `class_not_offered`, `class_full`, or `already_member` where the checkout is paid already
 */
export async function holdMemberSeat(request: HoldMemberSeat, context: Context<Config>): Promise<MemberHold> {
  const { email, classDate, attemptId } = request
  const key = emailKey(email)
  return context.db.transaction(async (tx) => {
    const holds = await lockMemberHolds(tx, key)
    if (attemptId !== undefined && (await tx.$count(memberSeats, eq(memberSeats.attemptId, attemptId))) > 0) {
      throw new DomainError('already_member', 'This membership is paid already. Please log in to see it.')
    }
    const [found] = await tx.select({ id: classSessions.id }).from(classSessions).where(membersSessionOf(classDate))
    if (!found) throw classNotOffered('classDate')
    const had = seatsOf(holds)
    const locked = await tx
      .select()
      .from(classSessions)
      .where(inArray(classSessions.id, [found.id, ...had]))
      .orderBy(asc(classSessions.id))
      .for('no key update')
    const session = locked.find(({ id }) => id === found.id)
    const now = context.clock.now()
    if (!session || !isOffered(session, now)) throw classNotOffered('classDate')
    if (!had.has(session.id) && seatsLeft(session) < 1) throw classFull()
    const { id: classSessionId } = session
    const heldUntil = now.add({ minutes: context.config.HOLD_MINUTES })
    const after =
      attemptId === undefined
        ? askForSeat(holds, classSessionId, now)
        : bindSeat(holds, { classSessionId, attemptId, heldUntil }, now)
    await saveMemberHolds(tx, key, holds, after)
    const held = after.hold?.classSessionId === classSessionId ? after.hold : after.pending
    return { classDate, heldUntil: isoTime(held?.heldUntil ?? heldUntil) }
  })
}

/** A checkout ended unpaid. */
export async function endMemberHold(
  tx: Transaction,
  { email, attemptId }: { email: string; attemptId: string },
  { clock }: Context<Config>,
): Promise<void> {
  await change(tx, email, (holds) => endCheckout(holds, attemptId, clock.now()))
}

/** No checkout came of a request. */
export async function releaseMemberHold(
  { email }: Pick<HoldMemberSeat, 'email'>,
  { db, clock }: Context<Config>,
): Promise<void> {
  await db.transaction((tx) => change(tx, email, (holds) => endRequest(holds, clock.now())))
}

const batchSize = 100

/** Ends what has run out, each in a transaction of its own, in the order in which everybody locks. */
export async function expireMemberHolds({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  const now = clock.now()
  const due = await unionAll(
    db.select({ emailKey: memberHolds.emailKey }).from(memberHolds).where(lt(memberHolds.heldUntil, now)),
    db
      .select({ emailKey: pendingMemberHolds.emailKey })
      .from(pendingMemberHolds)
      .where(lt(pendingMemberHolds.heldUntil, now)),
  ).limit(batchSize)
  for (const { emailKey: key } of due) {
    if (signal.aborted) return
    await db.transaction((tx) => change(tx, key, (holds) => endOverdue(holds, now)))
  }
}
