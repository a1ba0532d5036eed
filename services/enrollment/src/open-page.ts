import type { OpenPage, Registration } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockMemberHolds, saveMemberHolds } from './hold-member-seat.ts'
import { lockWithReplaced } from './lock-registration.ts'
import { bindAttempt } from './record-attempt.ts'
import { extendSeat } from './member-holds.ts'
import { isoTime, readRegistration, registrationNotFound } from './read-registrations.ts'
import { checkOpenable } from './rules.ts'
import { memberHolds, registrations } from './schema.ts'

/** How long after a page has expired its outcome may still arrive. */
const outcomeGracePeriod = Temporal.Duration.from({ minutes: 5 })

/**
 * How long a seat is held for an opened payment page: until the page expires, however often it is opened.
 * @param expiresAt when the page expires; undefined from a BFF of the previous version.
 */
function heldUntilFor(expiresAt: string | undefined, { clock, config }: Context<Config>): Temporal.Instant {
  const longest = clock.now().add({ minutes: config.HOLD_MINUTES })
  const end = expiresAt === undefined ? longest : Temporal.Instant.from(expiresAt).add(outcomeGracePeriod)
  return Temporal.Instant.compare(end, longest) < 0 ? end : longest
}

/**
 * Holds the seats of a registration whose payment page is about to be opened until the page expires. The late event of an older
 * page's end does not release them. A hold that has just expired stays expired and must not be paid. Idempotent.
 * @param page undefined from a BFF of the previous version.
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
    checkOpenable(locked.registration.status)
    if (page) {
      const createdAt = Temporal.Instant.from(page.createdAt)
      await bindAttempt(tx, locked, { attemptId: page.attemptId, createdAt, isOpened: true }, context)
    }
    const now = clock.now()
    const heldUntil = isoTime(heldUntilFor(page?.expiresAt, context))
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

/** As `openPage`, for a membership checkout. @throws DomainError `membership_not_found` if no seat is held for it */
export async function openMemberPage(attemptId: string, expiresAt: string | undefined, context: Context<Config>) {
  return context.db.transaction(async (tx) => {
    const notHeld = () =>
      new DomainError('membership_not_found', 'We no longer hold a seat for this membership. Please start again.')
    const [found] = await tx.select().from(memberHolds).where(eq(memberHolds.attemptId, attemptId))
    if (!found) throw notHeld()
    const holds = await lockMemberHolds(tx, found.holder)
    const extended = extendSeat(holds, attemptId, heldUntilFor(expiresAt, context))
    if (!extended.hold || extended === holds) throw notHeld()
    await saveMemberHolds(tx, found.holder, holds, extended)
    return { heldUntil: isoTime(extended.hold.heldUntil) }
  })
}
