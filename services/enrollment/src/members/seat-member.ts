import type { subscriptionActivated, subscriptionEnded } from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq, isNull } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { findHolder, lockMemberHolds, membersSessionOf, saveMemberHolds } from './hold-member-seat.ts'
import { moveSeats } from '../registrations/lock-registration.ts'
import { sessionIdsOf, takeSeat } from './member-holds.ts'
import { count } from '../metrics.ts'
import { decideMemberSeat } from '../rules.ts'
import { classSessions, memberSeats } from '../schema.ts'

/**
 * Gives a new membership a seat in the members' session of its date, once: the held one, or else a free one. If there is none,
 * the membership is rejected, and billing ends and refunds it. One that has already ended gets no seat.
 */
export async function seatMember(
  tx: Transaction,
  { data, time }: EventOf<typeof subscriptionActivated>,
  context: Context<Config>,
): Promise<void> {
  const { attemptId, email, ownerId = null, classDate, plan, amount, currency, receiptNumber, renewsAt } = data
  const { familyTimeZone = null } = data
  const eventTime = Temporal.Instant.from(time)
  const holder = await findHolder(tx, data)
  const holds = await lockMemberHolds(tx, holder)
  const [classSession] = await tx.select().from(classSessions).where(membersSessionOf(classDate)).for('no key update')
  const now = context.clock.now()
  const isHeld = classSession !== undefined && sessionIdsOf(holds).has(classSession.id)
  const outcome = decideMemberSeat(classSession, isHeld, now)
  const chosen = { classDate, classSessionId: classSession?.id ?? null, familyTimeZone }
  const written = await tx
    .insert(memberSeats)
    .values({ attemptId, email, ownerId, eventTime, ...chosen, outcome, createdAt: now })
    .onConflictDoNothing()
    .returning({ attemptId: memberSeats.attemptId })
  if (written.length === 0) {
    // The event of its end, which has no date, arrived first.
    const ended = await tx
      .update(memberSeats)
      .set(chosen)
      .where(and(eq(memberSeats.attemptId, attemptId), isNull(memberSeats.classDate)))
      .returning({ attemptId: memberSeats.attemptId })
    if (ended.length > 0 && classSession)
      await saveMemberHolds(tx, holder, holds, takeSeat(holds, classSession.id), now)
    return
  }
  count(context, 'member_seats_total', { outcome })
  const facts = { attemptId, email, plan, amount, currency, classDate }
  if (classSession && outcome === 'seated') {
    await saveMemberHolds(tx, holder, holds, takeSeat(holds, classSession.id), now)
    await moveSeats(tx, classSession.id, { held: 0, sold: 1 }, now)
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
  context.log.warn({ attemptId, classDate, reason }, 'rejected a paid membership: no seat on its date')
  await publish(tx, memberRejected, attemptId, { ...facts, reason })
}

/**
 * Releases the seat of a membership that ended before its class. If the event of its start arrives only later, the membership
 * gets no seat.
 */
export async function releaseMemberSeat(
  tx: Transaction,
  { data: { attemptId, email, ownerId }, time }: EventOf<typeof subscriptionEnded>,
  { clock }: Context<Config>,
): Promise<void> {
  const now = clock.now()
  const unknown = await tx
    .insert(memberSeats)
    .values({ attemptId, email, ownerId, eventTime: Temporal.Instant.from(time), outcome: 'released', createdAt: now })
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
  await moveSeats(tx, seat.classSessionId, { held: 0, sold: -1 }, now)
}
