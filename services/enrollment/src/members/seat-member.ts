import type { subscriptionActivated } from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { findHolder, lockMemberHolds, membersSessionOf, saveMemberHolds } from './hold-member-seat.ts'
import { lockMember, saveCredits } from './lock-member.ts'
import { moveSeats } from '../registrations/lock-registration.ts'
import { sessionIdsOf, takeSeat } from './member-holds.ts'
import { count } from '../metrics.ts'
import { decideMemberSeat } from '../rules.ts'
import { classSessions, memberSeats } from '../schema.ts'

/**
 * Gives a new membership a seat in the members' session of its date, once: the held one, or else a free one. If there is none,
 * the membership is rejected, and billing ends and refunds it. If its payment has gone back already, it gets none.
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
  const { seat, credits } = await lockMember(tx, attemptId)
  // Only the event of its end, which has no date, can have arrived first.
  if (seat && seat.classDate !== null) return
  const [classSession] = await tx.select().from(classSessions).where(membersSessionOf(classDate)).for('no key update')
  const now = context.clock.now()
  const isHeld = classSession !== undefined && sessionIdsOf(holds).has(classSession.id)
  const chosen = { classDate, classSessionId: classSession?.id ?? null, familyTimeZone }
  const withdrawn = credits.find((credit) => credit.isFirst && credit.withdrawn !== null)
  const outcome = decideMemberSeat(classSession, isHeld, now)
  const row = { ...chosen, outcome: withdrawn ? ('released' as const) : outcome }
  await tx
    .insert(memberSeats)
    .values({ attemptId, email, ownerId, eventTime, ...row, createdAt: now })
    .onConflictDoUpdate({ target: memberSeats.attemptId, set: row })
  if (withdrawn) {
    await saveCredits(tx, credits, [{ ...withdrawn, status: 'given_up', bookingId: attemptId }], now)
    if (classSession) await saveMemberHolds(tx, holder, holds, takeSeat(holds, classSession.id), now)
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
