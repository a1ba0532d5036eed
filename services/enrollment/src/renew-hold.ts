import type { RenewHold, Registration } from '@robokids/contracts/enrollment'
import { registrationHeld } from '@robokids/contracts/enrollment'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import { known, lockWithFamily } from './lock-family.ts'
import { moveSeats } from './lock-registration.ts'
import { factsOf, isoTime, readRegistration, registrationNotFound, type RegistrationRow } from './read-registrations.ts'
import { conflicts, isHeldForLong, renewHold } from './rules.ts'
import { registrations } from './schema.ts'
import { tellFamilies } from './tell-families.ts'
import { lockUnpaid, refuseTooMany } from './unpaid-seats.ts'

/**
 * Somebody goes on to pay a registration: its seats are held for long enough for that, and taken again where they had been let
 * go. Where they are held for longer, or again, the end of an older checkout, of which enrollment may hear only now, does not
 * end that. One that was sent instead of it gives its seats back, as long as it has no payment page.
 * @param attemptId a BFF of the version before names a checkout, whose end is the end of this hold.
 * @throws DomainError `registration_not_found`, `registration_closed`, `class_not_offered`, `already_registered`, `class_full`, `too_many_unpaid`
 */
export async function holdAgain(
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
    const isBack = registration.status === 'expired'
    const given = isBack ? changes : []
    const freed = given.reduce((sum, one) => sum + one.seats, 0)
    const after = { ...classSession, held: classSession.held - freed }
    const { standing: family, hidden } = known({ ownerId, browserId }, rest)
    const seats = renewHold(registration, after, family, now)
    // A BFF that names a checkout, or tells no network, is one of the versions before, which decided it themselves.
    if (attemptId === undefined && network !== undefined && isHeldForLong(registration, now)) {
      return readRegistration(tx, id)
    }
    await tellFamilies(tx, conflicts(hidden, registration), 'seat')
    const without = given.map((one) => one.id)
    if (isBack) await refuseTooMany(tx, applicant, registration.seats, context, without)
    await letGo(tx, given, now)
    // Until its payment page is opened (again), where the BFF is one that tells of that. What stands is never cut short.
    const { HOLD_MINUTES, UNOPENED_HOLD_MINUTES } = context.config
    const openedAt = network === undefined ? now : isBack ? null : registration.openedAt
    const fresh = now.add({ minutes: openedAt ? HOLD_MINUTES : UNOPENED_HOLD_MINUTES })
    const standing = isBack ? null : registration.heldUntil
    const heldUntil = standing && Temporal.Instant.compare(standing, fresh) > 0 ? standing : fresh
    await moveSeats(tx, classSession.id, seats)
    await tx
      .update(registrations)
      .set({
        status: 'held',
        ownerId: registration.ownerId,
        heldUntil,
        openedAt,
        network: isBack ? (network ?? null) : registration.network,
        holds: sql`${registrations.holds} + 1`,
        // Compared with the times of billing's events, which a set clock does not move.
        heldSince: Temporal.Now.instant(),
        attemptId: attemptId ?? null,
        attemptCreatedAt: null,
        updatedAt: now,
      })
      .where(eq(registrations.id, id))
    if (isBack) {
      await publish(tx, registrationHeld, id, { ...factsOf(registration), heldUntil: isoTime(heldUntil) })
    }
    return readRegistration(tx, id)
  })
}
