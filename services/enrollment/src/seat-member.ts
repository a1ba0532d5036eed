import type { subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq, isNull } from 'drizzle-orm'
import type { Config } from './config.ts'
import { findHolder, lockMemberHolds, membersSessionOf, saveMemberHolds } from './hold-member-seat.ts'
import { moveSeats } from './lock-registration.ts'
import { seatsOf, takeSeat } from './member-holds.ts'
import { count } from './metrics.ts'
import { judgeMemberSeat } from './rules.ts'
import { classSessions, memberSeats } from './schema.ts'

/**
 * A membership began: it takes a seat in the members' session of its date, once; the one that was held for it, else one
 * that is free. Where none is to be had, the membership is turned away, and billing ends it and returns its money. One
 * that is known to have ended gets none.
 */
export async function seatMember(
  tx: Transaction,
  { data, time }: EventOf<typeof subscriptionActivated>,
  context: Context<Config>,
): Promise<void> {
  const { attemptId, email, ownerId = null, classDate, plan, amount, currency, receiptNumber, renewsAt } = data
  const { familyTimeZone = null } = data
  const toldAt = Temporal.Instant.from(time)
  const holder = await findHolder(tx, data)
  const holds = await lockMemberHolds(tx, holder)
  const [classSession] = await tx.select().from(classSessions).where(membersSessionOf(classDate)).for('no key update')
  const now = context.clock.now()
  const isHeld = classSession !== undefined && seatsOf(holds).has(classSession.id)
  const outcome = judgeMemberSeat(classSession, isHeld, now)
  const chosen = { classDate, classSessionId: classSession?.id ?? null, familyTimeZone }
  const written = await tx
    .insert(memberSeats)
    .values({ attemptId, email, ownerId, toldAt, ...chosen, outcome, createdAt: now })
    .onConflictDoNothing()
    .returning({ attemptId: memberSeats.attemptId })
  if (written.length === 0) {
    // Its end was told first, without the date that had been chosen.
    const ended = await tx
      .update(memberSeats)
      .set(chosen)
      .where(and(eq(memberSeats.attemptId, attemptId), isNull(memberSeats.classDate)))
      .returning({ attemptId: memberSeats.attemptId })
    if (ended.length > 0 && classSession) await saveMemberHolds(tx, holder, holds, takeSeat(holds, classSession.id))
    return
  }
  count(context, 'member_seats_total', { outcome })
  const facts = { attemptId, email, plan, amount, currency, classDate }
  if (classSession && outcome === 'seated') {
    await saveMemberHolds(tx, holder, holds, takeSeat(holds, classSession.id))
    await moveSeats(tx, classSession.id, { held: 0, sold: 1 })
    const { id: classSessionId, startTime, durationMinutes, timeZone } = classSession
    await publish(tx, memberSeated, attemptId, {
      ...facts,
      classSessionId,
      startTime,
      durationMinutes,
      timeZone,
      receiptNumber: receiptNumber ?? null,
      renewsAt: renewsAt ?? null,
      familyTimeZone,
    })
    return
  }
  const reason = outcome === 'seated' ? 'class_not_offered' : outcome
  context.log.warn(
    { attemptId, classDate, reason },
    'a paid membership got no seat on its date: it ends and its money goes back',
  )
  await publish(tx, memberRejected, attemptId, { ...facts, reason })
}

/**
 * A membership ended before its class: the seat is free for another member. One that has not been seated yet never will
 * be: the news of its beginning may come after that of its end.
 */
export async function releaseMemberSeat(
  tx: Transaction,
  { data: { attemptId, email, ownerId }, time }: EventOf<typeof subscriptionEnded>,
  { clock }: Context<Config>,
): Promise<void> {
  const now = clock.now()
  const unknown = await tx
    .insert(memberSeats)
    .values({ attemptId, email, ownerId, toldAt: Temporal.Instant.from(time), outcome: 'released', createdAt: now })
    .onConflictDoNothing()
    .returning({ attemptId: memberSeats.attemptId })
  if (unknown.length > 0) return
  const [seat] = await tx
    .select({ classSessionId: memberSeats.classSessionId, startsAt: classSessions.startsAt })
    .from(memberSeats)
    .innerJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
    .where(and(eq(memberSeats.attemptId, attemptId), eq(memberSeats.outcome, 'seated')))
    .for('no key update')
  if (!seat?.classSessionId || Temporal.Instant.compare(seat.startsAt, now) <= 0) return
  await tx.update(memberSeats).set({ outcome: 'released' }).where(eq(memberSeats.attemptId, attemptId))
  await moveSeats(tx, seat.classSessionId, { held: 0, sold: -1 })
}
