import type { checkoutCreated } from '@robokids/contracts/billing'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import { lockWithReplaced } from './lock-registration.ts'
import { isNewestAttempt } from './rules.ts'
import { registrations } from './schema.ts'

/**
 * Remembers which checkout belongs to the present hold, so that the end of an older one does not end it. Now that the
 * registration has a payment page, the seats of the one that it was sent instead of are let go.
 */
export async function noteAttempt(
  tx: Transaction,
  event: EventOf<typeof checkoutCreated>,
  context: Context<Config>,
): Promise<void> {
  const { registrationId, attemptId } = event.data
  const createdAt = Temporal.Instant.from(event.time)
  const locked = await lockWithReplaced(tx, registrationId)
  if (!locked || !isNewestAttempt(locked.registration, createdAt)) return
  await tx
    .update(registrations)
    .set({ attemptId, attemptCreatedAt: createdAt, replaces: null })
    .where(eq(registrations.id, registrationId))
  if (locked.replaced) await letGo(tx, [locked.replaced], context.clock.now())
}
