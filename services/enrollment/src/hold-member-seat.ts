import type { HoldMemberSeat, MemberHold } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, asc, desc, eq, inArray, isNull, lt, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Config } from './config.ts'
import { moveSeats } from './lock-registration.ts'
import { askForSeat, bindSeat, endCheckout, endOverdue, endRequest, seatsOf, type MemberHolds } from './member-holds.ts'
import { isoTime } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from './rules.ts'
import { classSessions, memberHolds, memberSeats, pendingMemberHolds } from './schema.ts'
import { lockUnpaid, refuseTooMany } from './unpaid-seats.ts'

export function membersSessionOf(classDate: string) {
  return and(eq(classSessions.classType, 'membership'), eq(classSessions.date, classDate))
}

type Holder = Pick<HoldMemberSeat, 'email' | 'ownerId' | 'browserId'>

/**
 * Who holds a seat: an account or a browser, with the address it gave. Whoever gives the same address elsewhere cannot take it
 * from them. A BFF of the version before names an address alone.
 */
function keyOf({ email, ownerId, browserId }: Holder): string {
  const asker = ownerId ?? browserId
  return asker ? `${emailKey(email)} ${asker}` : emailKey(email)
}

/** Who holds a seat for a checkout; where no seat is known to be for that, whoever holds one with its address. */
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
 * What somebody holds. Whoever does something with their seat calls this first: it keeps all others waiting, before any
 * session's row is locked.
 */
export async function lockMemberHolds(tx: Transaction, holder: string): Promise<MemberHolds> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('member_hold'), hashtext(${holder}))`)
  const [hold = null] = await tx.select().from(memberHolds).where(eq(memberHolds.holder, holder))
  const [pending = null] = await tx.select().from(pendingMemberHolds).where(eq(pendingMemberHolds.holder, holder))
  return { hold, pending }
}

/** Writes what somebody holds from now on, and moves the seats. */
export async function saveMemberHolds(
  tx: Transaction,
  holder: string,
  before: MemberHolds,
  { hold, pending }: MemberHolds,
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
  const [had, has] = [seatsOf(before), seatsOf({ hold, pending })]
  // In one order everywhere, so that no two transactions wait for each other.
  for (const id of [...had.symmetricDifference(has)].toSorted()) {
    await moveSeats(tx, id, { held: has.has(id) ? 1 : -1, sold: 0 })
  }
}

/** Changes what somebody holds. */
async function change(tx: Transaction, holder: string, rule: (holds: MemberHolds) => MemberHolds): Promise<void> {
  const holds = await lockMemberHolds(tx, holder)
  await saveMemberHolds(tx, holder, holds, rule(holds))
}

/**
 * Holds a seat of a members' session for whoever asks for a checkout, or, by its id, for the checkout that it was
 * given. Where the seat cannot be had, all stays as it is.
 * @throws DomainError `class_not_offered`, `class_full`, `too_many_unpaid`, or `already_member` where the checkout is paid already
 */
export async function holdMemberSeat(request: HoldMemberSeat, context: Context<Config>): Promise<MemberHold> {
  const { classDate, attemptId, network, ownerId = null, browserId = null } = request
  const holder = keyOf(request)
  const applicant = { ownerId, browserId, network }
  return context.db.transaction(async (tx) => {
    await lockUnpaid(tx, applicant)
    const holds = await lockMemberHolds(tx, holder)
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
    const classSession = locked.find(({ id }) => id === found.id)
    const now = context.clock.now()
    if (!classSession || !isOffered(classSession, now)) throw classNotOffered('classDate')
    if (!had.has(classSession.id) && seatsLeft(classSession) < 1) throw classFull()
    const { id: classSessionId } = classSession
    // Until its payment page is opened, where the BFF is one that tells of that.
    const { HOLD_MINUTES, UNOPENED_HOLD_MINUTES } = context.config
    const heldUntil = now.add({ minutes: network === undefined ? HOLD_MINUTES : UNOPENED_HOLD_MINUTES })
    const asked = { classSessionId, network: network ?? null }
    const after =
      attemptId === undefined ? askForSeat(holds, asked, now) : bindSeat(holds, { ...asked, attemptId, heldUntil }, now)
    const more = seatsOf(after).size - had.size
    if (more > 0) await refuseTooMany(tx, applicant, more, context)
    await saveMemberHolds(tx, holder, holds, after)
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
  await change(tx, await findHolder(tx, attempt), (holds) => endCheckout(holds, attemptId, clock.now()))
}

/** No checkout came of a request. */
export async function releaseMemberHold(holder: Holder, { db, clock }: Context<Config>): Promise<void> {
  await db.transaction((tx) => change(tx, keyOf(holder), (holds) => endRequest(holds, clock.now())))
}

const batchSize = 100

/** Ends what has run out, each in a transaction of its own, in the order in which everybody locks. */
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
    await db.transaction((tx) => change(tx, holder, (holds) => endOverdue(holds, now)))
  }
}
