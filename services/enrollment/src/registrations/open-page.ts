import type { OpenPage, Registration } from '@robokids/contracts/enrollment'
import type { Context } from '@robokids/runtime/service'
import { eq, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { heldUntilFor } from './held-until.ts'
import { lockWithReplaced } from './lock-registration.ts'
import { bindAttempt } from './record-attempt.ts'
import { isoTime } from '../iso-time.ts'
import { readRegistration, registrationNotFound } from './read-registrations.ts'
import { checkOpenable } from '../rules.ts'
import { registrations } from '../schema.ts'

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
