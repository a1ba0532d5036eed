import type { checkoutCreated } from '@robokids/contracts/billing'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { lockRegistration } from './lock-registration.ts'
import { isNewestAttempt } from './rules.ts'
import { registrations } from './schema.ts'

/** Remembers which checkout belongs to the present hold, so that the end of an older one does not end it. */
export async function noteAttempt(tx: Transaction, event: EventOf<typeof checkoutCreated>): Promise<void> {
  const { registrationId, attemptId } = event.data
  const createdAt = Temporal.Instant.from(event.time)
  const locked = await lockRegistration(tx, registrationId)
  if (!locked || !isNewestAttempt(locked.registration, createdAt)) return
  await tx
    .update(registrations)
    .set({ attemptId, attemptCreatedAt: createdAt })
    .where(eq(registrations.id, registrationId))
}
