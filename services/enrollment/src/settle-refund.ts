import type { paymentRefunded } from '@robokids/contracts/billing'
import { registrationCancelled } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockRegistration, moveSeats } from './lock-registration.ts'
import { factsOf } from './read-registrations.ts'
import { settleRefund } from './rules.ts'
import { payments, registrations } from './schema.ts'

/** All of a payment went back: the registration that it had confirmed is cancelled, and its seats are free again. */
export async function settleFullRefund(
  tx: Transaction,
  event: EventOf<typeof paymentRefunded>,
  context: Context<Config>,
): Promise<void> {
  const { registrationId, paymentId, refundedTotal, paidAmount } = event.data
  if (refundedTotal < paidAmount) return
  const locked = await lockRegistration(tx, registrationId)
  if (!locked)
    throw new DomainError(
      'registration_not_found',
      `The refund of ${paymentId} is for ${registrationId}, which is not here.`,
    )
  const { registration, session } = locked
  const [known = { completed: false, refunded: false }] = await tx
    .select()
    .from(payments)
    .where(eq(payments.paymentId, paymentId))
  const seats = settleRefund(registration, paymentId, known)
  await tx
    .insert(payments)
    .values({ paymentId, registrationId, refunded: true })
    .onConflictDoUpdate({ target: payments.paymentId, set: { refunded: true } })
  if (!seats) return
  await moveSeats(tx, session.id, seats)
  await tx
    .update(registrations)
    .set({ status: 'cancelled', updatedAt: context.clock.now() })
    .where(eq(registrations.id, registrationId))
  await publish(tx, registrationCancelled, registrationId, { ...factsOf(registration), reason: 'refunded' })
}
