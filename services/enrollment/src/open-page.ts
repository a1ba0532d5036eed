import type { OpenPage, Registration } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockMemberHolds, saveMemberHolds } from './hold-member-seat.ts'
import { lockWithReplaced } from './lock-registration.ts'
import { bindAttempt } from './record-attempt.ts'
import { keepSeat } from './member-holds.ts'
import { isoTime, readRegistration, registrationNotFound } from './read-registrations.ts'
import { refuseOpening } from './rules.ts'
import { memberHolds, registrations } from './schema.ts'

/** How long after a page's end what came of it may still be on its way. */
const untilOutcome = Temporal.Duration.from({ minutes: 5 })

/**
 * Until when a seat is held for a page that is opened: as long as the page can be paid, however often it is opened.
 * @param expiresAt the page's end; undefined where a BFF of the version before asks.
 */
function heldFor(expiresAt: string | undefined, { clock, config }: Context<Config>): Temporal.Instant {
  const longest = clock.now().add({ minutes: config.HOLD_MINUTES })
  const end = expiresAt === undefined ? longest : Temporal.Instant.from(expiresAt).add(untilOutcome)
  return Temporal.Instant.compare(end, longest) < 0 ? end : longest
}

/**
 * The payment page of a registration is about to be opened: its seats are held for as long as it can be paid there, and the
 * end of an older page, of which enrollment may hear only now, does not end them. One that ran out a moment before stays so,
 * and is not to be paid. Safe to repeat.
 * @param page undefined where a BFF of the version before asks.
 * @throws DomainError `registration_not_found`, `registration_closed`
 */
export async function openPage(
  id: string,
  page: OpenPage | undefined,
  context: Context<Config>,
): Promise<Registration> {
  const { db, clock } = context
  return db.transaction(async (tx) => {
    const locked = await lockWithReplaced(tx, id)
    if (!locked) throw registrationNotFound()
    refuseOpening(locked.registration.status)
    if (page) {
      const createdAt = Temporal.Instant.from(page.createdAt)
      await bindAttempt(tx, locked, { attemptId: page.attemptId, createdAt, isOpened: true }, context)
    }
    const now = clock.now()
    const heldUntil = isoTime(heldFor(page?.expiresAt, context))
    await tx
      .update(registrations)
      .set({
        openedAt: locked.registration.openedAt ?? now,
        heldUntil: sql`greatest(${registrations.heldUntil}, ${heldUntil}::timestamptz)`,
        updatedAt: now,
      })
      .where(eq(registrations.id, id))
    return readRegistration(tx, id)
  })
}

/** As `openPage`, of a membership's checkout. @throws DomainError `membership_not_found` where no seat is held for it */
export async function openMemberPage(attemptId: string, expiresAt: string | undefined, context: Context<Config>) {
  return context.db.transaction(async (tx) => {
    const gone = () => new DomainError('membership_not_found', 'The seat of this membership was let go.')
    const [found] = await tx.select().from(memberHolds).where(eq(memberHolds.attemptId, attemptId))
    if (!found) throw gone()
    const holds = await lockMemberHolds(tx, found.holder)
    const kept = keepSeat(holds, attemptId, heldFor(expiresAt, context))
    if (!kept.hold || kept === holds) throw gone()
    await saveMemberHolds(tx, found.holder, holds, kept)
    return { heldUntil: isoTime(kept.hold.heldUntil) }
  })
}
