import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { heldUntilFor } from '../registrations/held-until.ts'
import { lockMemberHolds, saveMemberHolds } from './hold-member-seat.ts'
import { extendSeat } from './member-holds.ts'
import { isoTime } from '../iso-time.ts'
import { memberHolds } from '../schema.ts'

/** Holds the seat of a membership checkout whose payment page is about to be opened until the page expires. Idempotent. @throws DomainError `membership_not_found` if no seat is held for it */
export async function openMemberPage(attemptId: string, expiresAt: string | undefined, context: Context<Config>) {
  return context.db.transaction(async (tx) => {
    const notHeld = () =>
      new DomainError('membership_not_found', 'We no longer hold a seat for this membership. Please start again.')
    const [found] = await tx.select().from(memberHolds).where(eq(memberHolds.attemptId, attemptId))
    if (!found) throw notHeld()
    const holds = await lockMemberHolds(tx, found.holder)
    const extended = extendSeat(holds, attemptId, heldUntilFor(expiresAt, context))
    if (!extended.hold || extended === holds) throw notHeld()
    await saveMemberHolds(tx, found.holder, holds, extended, context.clock.now())
    return { heldUntil: isoTime(extended.hold.heldUntil) }
  })
}
