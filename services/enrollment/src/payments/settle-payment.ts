import type { paymentCompleted } from '@robokids/contracts/billing'
import { registrationCancelled, registrationConfirmed, registrationRejected } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { readSchedule } from '../classes/meetings.ts'
import { firstPlaces } from '../places/read-places.ts'
import { releaseSeats } from '../registrations/end-hold.ts'
import { lockWithFamily, toFamilyRegistration } from '../registrations/lock-family.ts'
import { moveSeats } from '../registrations/lock-registration.ts'
import { factsOf } from '../registrations/read-registrations.ts'
import { settlePayment } from '../rules.ts'
import { payments, places, registrations } from '../schema.ts'
import { endWaiting } from '../waitlist/end-waiting.ts'

/**
 * Confirms the registration of a payment if it still has its seats or can get them again; otherwise rejects it. Ends unpaid
 * holds for the same children, and the registration that it replaces.
 */
export async function settle(
  tx: Transaction,
  event: EventOf<typeof paymentCompleted>,
  context: Context<Config>,
): Promise<void> {
  const { registrationId, paymentId, receiptNumber, amount, currency, paidAt } = event.data
  const locked = await lockWithFamily(tx, registrationId)
  // A payment is never dropped: it stays a dead letter until an operator resolves it.
  if (!locked)
    throw new DomainError(
      'registration_not_found',
      `Payment ${paymentId} is for ${registrationId}, which was not found.`,
    )
  const { registration, classSession, others, replaced } = locked
  const [known = { completed: false, refunded: false }] = await tx
    .select()
    .from(payments)
    .where(eq(payments.paymentId, paymentId))
  const now = context.clock.now()
  const outcome = settlePayment(registration, classSession, known, others.map(toFamilyRegistration), now)
  await tx
    .insert(payments)
    .values({ paymentId, registrationId, completed: true })
    .onConflictDoUpdate({ target: payments.paymentId, set: { completed: true } })
  if (outcome.kind === 'nothing') return

  await moveSeats(tx, classSession.id, outcome.seats, now)
  const status = ({ confirm: 'confirmed', reject: 'rejected', cancel: 'cancelled' } as const)[outcome.kind]
  await tx
    .update(registrations)
    .set({
      status,
      ownerId: registration.ownerId,
      replaces: null,
      heldUntil: null,
      rejectionReason: outcome.kind === 'reject' ? outcome.reason : null,
      paymentId,
      receiptNumber,
      paidAmount: amount,
      paidCurrency: currency,
      paidAt: Temporal.Instant.from(paidAt),
      updatedAt: now,
    })
    .where(eq(registrations.id, registrationId))

  if (outcome.kind === 'confirm') {
    const { unitAmount, paidSeats } = event.data
    const quoted = unitAmount !== undefined && paidSeats !== undefined ? { unitAmount, paidSeats } : undefined
    await tx
      .insert(places)
      .values(firstPlaces(registration, { amount, quoted }, now))
      .onConflictDoNothing()
  }

  const facts = factsOf(registration)
  const payment = { paymentId, receiptNumber, amount, currency }
  switch (outcome.kind) {
    case 'confirm': {
      const schedule = await readSchedule(tx, classSession)
      await publish(tx, registrationConfirmed, registrationId, { ...facts, payment, ...schedule })
      await endWaiting(tx, registration, now)
      const ended = others.filter((one) => outcome.endedIds.includes(one.id))
      return releaseSeats(tx, replaced && !ended.includes(replaced) ? [...ended, replaced] : ended, now)
    }
    case 'reject': {
      const { reason, duplicateOf } = outcome
      return publish(tx, registrationRejected, registrationId, { ...facts, payment, reason, duplicateOf })
    }
    case 'cancel':
      return publish(tx, registrationCancelled, registrationId, { ...facts, reason: 'refunded' })
  }
}
