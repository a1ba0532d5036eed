import type { checkoutCreated } from '@robokids/contracts/billing'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { releaseSeats } from './end-hold.ts'
import { lockWithReplaced } from './lock-registration.ts'
import type { RegistrationRow } from './read-registrations.ts'
import { isNewestAttempt } from '../rules.ts'
import { registrations } from '../schema.ts'

interface NewAttempt {
  attemptId: string
  createdAt: Temporal.Instant
  /** Whether its page is being opened right now. */
  isOpened?: boolean
}

/**
 * Records which checkout belongs to the current hold of a locked registration, so that the end of an older checkout does not
 * end the hold. Releases the seats of the registration that it replaces, now that it has a payment page.
 */
export async function bindAttempt(
  tx: Transaction,
  { registration, replaced }: { registration: RegistrationRow; replaced: RegistrationRow | undefined },
  { attemptId, createdAt, isOpened }: NewAttempt,
  context: Context<Config>,
): Promise<void> {
  if (!isNewestAttempt(registration, createdAt, isOpened)) return
  await tx
    .update(registrations)
    .set({ attemptId, attemptCreatedAt: createdAt, replaces: null })
    .where(eq(registrations.id, registration.id))
  if (replaced) await releaseSeats(tx, [replaced], context.clock.now())
}

export async function recordAttempt(
  tx: Transaction,
  { data, time }: EventOf<typeof checkoutCreated>,
  context: Context<Config>,
): Promise<void> {
  const { registrationId, attemptId } = data
  const locked = await lockWithReplaced(tx, registrationId)
  if (locked) await bindAttempt(tx, locked, { attemptId, createdAt: Temporal.Instant.from(time) }, context)
}
