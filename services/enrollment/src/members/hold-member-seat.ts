import type { HoldMemberSeat, MemberHold } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import { earliest } from '@robokids/runtime/jobs'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, asc, desc, eq, inArray, isNull, lt, min, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Config } from '../config.ts'
import { moveSeats } from '../registrations/lock-registration.ts'
import {
  requestSeat,
  bindSeat,
  endCheckout,
  endExpired,
  endRequest,
  sessionIdsOf,
  type MemberHolds,
} from './member-holds.ts'
import { isoTime } from '../iso-time.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from '../rules.ts'
import { classSessions, memberHolds, memberSeats, pendingMemberHolds } from '../schema.ts'
import { lockUnpaid, checkUnpaidSeats } from '../registrations/unpaid-seats.ts'

export function membersSessionOf(classDate: string) {
  return and(eq(classSessions.classType, 'membership'), eq(classSessions.date, classDate))
}

type Holder = Pick<HoldMemberSeat, 'email' | 'ownerId' | 'browserId'>

/**
 * The key of a seat's holder: an account or a browser, with the email it gave, so that nobody else can take the seat by giving
 * the same email. A BFF of the previous version sends only the email.
 */
function keyOf({ email, ownerId, browserId }: Holder): string {
  const requesterId = ownerId ?? browserId
  return requesterId ? `${emailKey(email)} ${requesterId}` : emailKey(email)
}

/** Finds the holder of the seat for a checkout; if none is bound to it, a holder with the same email. */
export async function findHolder(
  tx: Transaction,
  { attemptId, email }: { attemptId: string; email: string },
): Promise<string> {
  const [bound] = await tx
    .select({ holder: memberHolds.holder })
    .from(memberHolds)
    .where(eq(memberHolds.attemptId, attemptId))
  if (bound) return bound.holder
  const key = emailKey(email)
  const [other] = await tx
    .select({ holder: memberHolds.holder })
    .from(memberHolds)
    .where(sql`split_part(${memberHolds.holder}, ' ', 1) = ${key}`)
    .orderBy(desc(isNull(memberHolds.attemptId)), asc(memberHolds.heldUntil))
    .limit(1)
  return other?.holder ?? key
}

/**
 * Locks and reads a holder's seats. Must be called before anything changes them, and before any session's row is locked.
 */
export async function lockMemberHolds(tx: Transaction, holder: string): Promise<MemberHolds> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('member_hold'), hashtext(${holder}))`)
  const [hold = null] = await tx.select().from(memberHolds).where(eq(memberHolds.holder, holder))
  const [pending = null] = await tx.select().from(pendingMemberHolds).where(eq(pendingMemberHolds.holder, holder))
  return { hold, pending }
}

/** Stores a holder's new seats, and updates the sessions' counts. */
export async function saveMemberHolds(
  tx: Transaction,
  holder: string,
  before: MemberHolds,
  { hold, pending }: MemberHolds,
  now: Temporal.Instant,
): Promise<void> {
  if (hold && hold !== before.hold) {
    const row = { ...hold, holder }
    await tx.insert(memberHolds).values(row).onConflictDoUpdate({ target: memberHolds.holder, set: row })
  } else if (!hold && before.hold) await tx.delete(memberHolds).where(eq(memberHolds.holder, holder))
  if (pending && pending !== before.pending) {
    const row = { ...pending, holder }
    await tx.insert(pendingMemberHolds).values(row).onConflictDoUpdate({ target: pendingMemberHolds.holder, set: row })
  } else if (!pending && before.pending)
    await tx.delete(pendingMemberHolds).where(eq(pendingMemberHolds.holder, holder))
  const [had, has] = [sessionIdsOf(before), sessionIdsOf({ hold, pending })]
  // Always in the same order, to avoid deadlocks.
  for (const id of [...had.symmetricDifference(has)].toSorted()) {
    await moveSeats(tx, id, { held: has.has(id) ? 1 : -1, sold: 0 }, now)
  }
}

async function change(
  tx: Transaction,
  holder: string,
  rule: (holds: MemberHolds, now: Temporal.Instant) => MemberHolds,
  now: Temporal.Instant,
): Promise<void> {
  const holds = await lockMemberHolds(tx, holder)
  await saveMemberHolds(tx, holder, holds, rule(holds, now), now)
}

/**
 * Holds a seat in a members' session for the requester of a checkout or, with `attemptId`, for that checkout. If it throws,
 * nothing has changed.
 * @throws DomainError `class_not_offered`, `class_full`, `too_many_unpaid`, or `already_member` if the checkout is already paid
 */
export async function holdMemberSeat(request: HoldMemberSeat, context: Context<Config>): Promise<MemberHold> {
  const { classDate, attemptId, network, ownerId = null, browserId = null } = request
  const holder = keyOf(request)
  const applicant = { ownerId, browserId, network }
  return context.db.transaction(async (tx) => {
    await lockUnpaid(tx, applicant)
    const holds = await lockMemberHolds(tx, holder)
    if (attemptId !== undefined && (await tx.$count(memberSeats, eq(memberSeats.attemptId, attemptId))) > 0) {
      throw new DomainError('already_member', 'This membership is already paid. Please log in to see it.')
    }
    const [found] = await tx.select({ id: classSessions.id }).from(classSessions).where(membersSessionOf(classDate))
    if (!found) throw classNotOffered('classDate')
    const had = sessionIdsOf(holds)
    const locked = await tx
      .select()
      .from(classSessions)
      .where(inArray(classSessions.id, [found.id, ...had]))
      .orderBy(asc(classSessions.id))
      .for('no key update')
    const classSession = locked.find(({ id }) => id === found.id)
    const now = context.clock.now()
    if (!classSession || !isOffered(classSession, now)) throw classNotOffered('classDate')
    if (!had.has(classSession.id) && seatsLeft(classSession) < 1) throw classFull()
    const { id: classSessionId } = classSession
    // A BFF of the previous version sends no network, and does not report when the payment page is opened.
    const { HOLD_MINUTES, UNOPENED_HOLD_MINUTES } = context.config
    const heldUntil = now.add({ minutes: network === undefined ? HOLD_MINUTES : UNOPENED_HOLD_MINUTES })
    const requested = { classSessionId, network: network ?? null }
    const after =
      attemptId === undefined
        ? requestSeat(holds, requested, now)
        : bindSeat(holds, { ...requested, attemptId, heldUntil }, now)
    const more = sessionIdsOf(after).size - had.size
    if (more > 0) await checkUnpaidSeats(tx, applicant, more, context)
    await saveMemberHolds(tx, holder, holds, after, now)
    const held = after.hold?.classSessionId === classSessionId ? after.hold : after.pending
    return { classDate, heldUntil: isoTime(held?.heldUntil ?? heldUntil) }
  })
}

/** A checkout ended unpaid. */
export async function endMemberHold(
  tx: Transaction,
  attempt: { email: string; attemptId: string },
  { clock }: Context<Config>,
): Promise<void> {
  const { attemptId } = attempt
  await change(tx, await findHolder(tx, attempt), (holds, now) => endCheckout(holds, attemptId, now), clock.now())
}

/** Releases the seat of a request that created no checkout. */
export async function releaseMemberHold(holder: Holder, { db, clock }: Context<Config>): Promise<void> {
  await db.transaction((tx) => change(tx, keyOf(holder), endRequest, clock.now()))
}

const batchSize = 100

/** Ends expired holds, each in its own transaction, with the usual lock order. */
export async function expireMemberHolds({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  const now = clock.now()
  const due = await unionAll(
    db.select({ holder: memberHolds.holder }).from(memberHolds).where(lt(memberHolds.heldUntil, now)),
    db
      .select({ holder: pendingMemberHolds.holder })
      .from(pendingMemberHolds)
      .where(lt(pendingMemberHolds.heldUntil, now)),
  ).limit(batchSize)
  for (const { holder } of due) {
    if (signal.aborted) return
    await db.transaction((tx) => change(tx, holder, endExpired, now))
  }
}

/** When the next of these holds expires, as `nextHoldEnd`. */
export async function nextMemberHoldEnd({ db }: Context<Config>): Promise<Temporal.Instant | null> {
  const [held] = await db.select({ at: min(memberHolds.heldUntil) }).from(memberHolds)
  const [pending] = await db.select({ at: min(pendingMemberHolds.heldUntil) }).from(pendingMemberHolds)
  return earliest(held?.at, pending?.at)
}
