import type { RenewHold, Registration } from '@robokids/contracts/enrollment'
import { registrationHeld } from '@robokids/contracts/enrollment'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { endHolds } from './end-hold.ts'
import { lockWithFamily, splitByVisibility } from './lock-family.ts'
import { changeSeats, serveLineOf } from './lock-registration.ts'
import { isoTime } from '../iso-time.ts'
import { factsOf, readRegistration, registrationNotFound, type RegistrationRow } from './read-registrations.ts'
import { findConflicts, isHeldLongEnough, seatsForRenewal } from '../rules.ts'
import { registrations } from '../schema.ts'
import { notifyFamilies } from './notify-families.ts'
import { lockUnpaid, checkUnpaidSeats } from './unpaid-seats.ts'

/**
 * Renews the hold of a registration that is about to be paid: extends it if it is too short, and takes the seats again if they
 * were released. The late event of an older checkout's end does not end a renewed hold. Releases a registration that was sent
 * to replace this one, unless that has a payment page.
 * @param attemptId sent by a BFF of the previous version: the checkout whose end ends this hold.
 * @throws DomainError `registration_not_found`, `registration_closed`, `class_not_offered`, `already_registered`, `class_full`, `too_many_unpaid`
 */
export async function renewHold(
  id: string,
  { attemptId, network, ownerId = null, browserId = null }: RenewHold,
  context: Context<Config>,
): Promise<Registration> {
  return context.db.transaction(async (tx) => {
    const applicant = { ownerId, browserId, network }
    await lockUnpaid(tx, applicant)
    const locked = await lockWithFamily(tx, id)
    if (!locked) throw registrationNotFound()
    const { registration, classSession, others } = locked
    const now = context.clock.now()
    const isChange = ({ status, replaces, attemptId: page }: RegistrationRow) =>
      status === 'held' && replaces === id && page === null
    const { changes = [], rest = [] } = Object.groupBy(others, (one) => (isChange(one) ? 'changes' : 'rest'))
    const wasReleased = registration.status === 'expired'
    const released = wasReleased ? changes : []
    const freed = released.reduce((sum, one) => sum + one.seats, 0)
    const after = { ...classSession, held: classSession.held - freed }
    const { visible: family, hidden } = splitByVisibility({ ownerId, browserId }, rest)
    const seats = seatsForRenewal(registration, after, family, now)
    // A BFF of an older version (which sends a checkout, or no network) calls this only if the hold has to be extended.
    if (attemptId === undefined && network !== undefined && isHeldLongEnough(registration, now)) {
      return readRegistration(tx, id)
    }
    await notifyFamilies(tx, findConflicts(hidden, registration), 'seat')
    const without = released.map((one) => one.id)
    if (wasReleased) await checkUnpaidSeats(tx, applicant, registration.seats, context, without)
    const freedIn = await endHolds(tx, released, now)
    // A BFF of the previous version sends no network, and does not report when the page is opened. A hold is never shortened.
    const { HOLD_MINUTES, UNOPENED_HOLD_MINUTES } = context.config
    const openedAt = network === undefined ? now : wasReleased ? null : registration.openedAt
    const fresh = now.add({ minutes: openedAt ? HOLD_MINUTES : UNOPENED_HOLD_MINUTES })
    const current = wasReleased ? null : registration.heldUntil
    const heldUntil = current && Temporal.Instant.compare(current, fresh) > 0 ? current : fresh
    await changeSeats(tx, classSession.id, seats)
    await tx
      .update(registrations)
      .set({
        status: 'held',
        ownerId: registration.ownerId,
        heldUntil,
        openedAt,
        network: wasReleased ? (network ?? null) : registration.network,
        holds: sql`${registrations.holds} + 1`,
        // Compared with the times of billing's events, which do not follow a test clock.
        heldSince: Temporal.Now.instant(),
        attemptId: attemptId ?? null,
        attemptCreatedAt: null,
        updatedAt: now,
      })
      .where(eq(registrations.id, id))
    for (const classSessionId of freedIn) await serveLineOf(tx, classSessionId, now)
    if (wasReleased) {
      await publish(tx, registrationHeld, id, { ...factsOf(registration), heldUntil: isoTime(heldUntil) })
    }
    return readRegistration(tx, id)
  })
}
