import type { HoldMemberSeat, MemberHold } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { moveSeats } from './lock-registration.ts'
import { isoTime } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, seatsLeft } from './rules.ts'
import { classSessions, memberHolds } from './schema.ts'

export type MemberHoldRow = typeof memberHolds.$inferSelect

export function membersSessionOf(classDate: string) {
  return and(eq(classSessions.classType, 'membership'), eq(classSessions.date, classDate))
}

/**
 * The hold of an address, if it has one. Whoever does something with the seat of an address calls this first: it keeps
 * all others waiting, before any session's row is locked.
 */
export async function lockMemberHold(tx: Transaction, key: string): Promise<MemberHoldRow | undefined> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('member_hold'), hashtext(${key}))`)
  const [hold] = await tx.select().from(memberHolds).where(eq(memberHolds.emailKey, key))
  return hold
}

/** Removes a hold together with its seat. */
async function letGo(tx: Transaction, hold: MemberHoldRow): Promise<void> {
  await tx.delete(memberHolds).where(eq(memberHolds.emailKey, hold.emailKey))
  await moveSeats(tx, hold.classSessionId, { held: -1, sold: 0 })
}

/**
 * Holds a seat of a members' session for an address that goes on to pay, or holds the one it has for longer. Of another
 * date the seat is let go, in the same transaction: where the new one cannot be had, the first one stays.
 * @throws DomainError `class_not_offered`, `class_full`
 */
export async function holdMemberSeat(request: HoldMemberSeat, context: Context<Config>): Promise<MemberHold> {
  const { email, classDate, attemptId } = request
  const key = emailKey(email)
  return context.db.transaction(async (tx) => {
    const known = await lockMemberHold(tx, key)
    const [found] = await tx.select({ id: classSessions.id }).from(classSessions).where(membersSessionOf(classDate))
    if (!found) throw classNotOffered('classDate')
    // In one order everywhere, so that no two transactions wait for each other.
    const ids = known ? [found.id, known.classSessionId] : [found.id]
    const locked = await tx
      .select()
      .from(classSessions)
      .where(inArray(classSessions.id, ids))
      .orderBy(asc(classSessions.id))
      .for('no key update')
    const session = locked.find(({ id }) => id === found.id)
    const now = context.clock.now()
    if (!session || !isOffered(session, now)) throw classNotOffered('classDate')
    const heldUntil = now.add({ minutes: context.config.HOLD_MINUTES })
    const isSame = known?.classSessionId === session.id
    if (!isSame) {
      if (seatsLeft(session) < 1) throw classFull()
      if (known) await letGo(tx, known)
      await moveSeats(tx, session.id, { held: 1, sold: 0 })
    }
    const changes = { classSessionId: session.id, attemptId: attemptId ?? (isSame ? known.attemptId : null), heldUntil }
    await tx
      .insert(memberHolds)
      .values({ emailKey: key, ...changes })
      .onConflictDoUpdate({ target: memberHolds.emailKey, set: changes })
    return { classDate, heldUntil: isoTime(heldUntil) }
  })
}

/** A checkout ended unpaid: what was held for it is free, unless the address has begun a new one since. */
export async function endMemberHold(tx: Transaction, email: string, attemptId: string): Promise<void> {
  const hold = await lockMemberHold(tx, emailKey(email))
  if (hold?.attemptId === attemptId) await letGo(tx, hold)
}

/** No checkout came of it: a hold that is for none is let go. Safe to repeat. */
export async function releaseMemberHold(
  { email }: Pick<HoldMemberSeat, 'email'>,
  { db }: Context<Config>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const hold = await lockMemberHold(tx, emailKey(email))
    if (hold?.attemptId === null) await letGo(tx, hold)
  })
}

/** A seat was paid: the hold of it, if there is one of that session, is over. */
export async function takeHeldSeat(
  tx: Transaction,
  hold: MemberHoldRow | undefined,
  classSessionId: string,
): Promise<void> {
  if (hold?.classSessionId !== classSessionId) return
  await tx.delete(memberHolds).where(eq(memberHolds.emailKey, hold.emailKey))
  await moveSeats(tx, classSessionId, { held: -1, sold: 0 })
}

const batchSize = 100

/** Ends the holds that ran out, each in a transaction of its own, in the order in which everybody locks. */
export async function expireMemberHolds({ db, clock }: Context<Config>): Promise<void> {
  const now = clock.now()
  const due = await db
    .select({ emailKey: memberHolds.emailKey })
    .from(memberHolds)
    .where(lt(memberHolds.heldUntil, now))
    .limit(batchSize)
  for (const { emailKey: key } of due) {
    await db.transaction(async (tx) => {
      const hold = await lockMemberHold(tx, key)
      if (hold && Temporal.Instant.compare(hold.heldUntil, now) < 0) await letGo(tx, hold)
    })
  }
}
