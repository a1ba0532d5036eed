import type { HoldAgain, Registration } from '@robokids/contracts/enrollment'
import { registrationHeld } from '@robokids/contracts/enrollment'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockRegistration, moveSeats } from './lock-registration.ts'
import { factsOf, isoTime, readRegistration, registrationNotFound } from './read-registrations.ts'
import { renewHold } from './rules.ts'
import { registrations } from './schema.ts'

/**
 * Makes the seats of a registration last for another checkout: takes them again where they had been let go. The end of
 * the checkout that is named is the end of this hold.
 * @throws DomainError `registration_not_found`, `registration_closed`, `class_not_offered`, `class_full`
 */
export async function holdAgain(id: string, { attemptId }: HoldAgain, context: Context<Config>): Promise<Registration> {
  return context.db.transaction(async (tx) => {
    const locked = await lockRegistration(tx, id)
    if (!locked) throw registrationNotFound()
    const { registration, session } = locked
    const now = context.clock.now()
    const seats = renewHold(registration, session, now)
    const heldUntil = now.add({ minutes: context.config.HOLD_MINUTES })
    await moveSeats(tx, session.id, seats)
    await tx
      .update(registrations)
      .set({
        status: 'held',
        heldUntil,
        holds: sql`${registrations.holds} + 1`,
        // Compared with the times of billing's events, which a set clock does not move.
        heldSince: Temporal.Now.instant(),
        attemptId: attemptId ?? null,
        attemptCreatedAt: null,
        updatedAt: now,
      })
      .where(eq(registrations.id, id))
    if (registration.status === 'expired') {
      await publish(tx, registrationHeld, id, { ...factsOf(registration), heldUntil: isoTime(heldUntil) })
    }
    return readRegistration(tx, id)
  })
}
