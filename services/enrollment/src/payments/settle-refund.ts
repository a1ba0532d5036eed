import type { paymentDisputed, paymentRefunded } from '@robokids/contracts/billing'
import { registrationCancelled } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { endMoves, findMovePayments, findPendingMoves, seatsOfMoves } from '../changes/end-moves.ts'
import { seatsToFree, sumSeats } from '../places/rules.ts'
import { lockRegistrations, lockWithPlaces, moveAllSeats } from '../registrations/lock-registration.ts'
import { factsOf } from '../registrations/read-registrations.ts'
import { disputeStatus, endsRegistration } from '../rules.ts'
import { disputes, payments, places, refunds, registrations } from '../schema.ts'

/**
 * Records the progress of a refund. A failed refund stays failed, whatever events arrive late.
 * @throws DomainError `registration_not_found`
 */
export async function recordRefund(
  tx: Transaction,
  refund: Pick<typeof refunds.$inferInsert, 'refundId' | 'paymentId' | 'amount'> & {
    registrationId: string | null
    changeId?: string | undefined
  },
  fact: { refunded?: true; failed?: true; underWayTotal?: number } = {},
): Promise<void> {
  const { refundId, paymentId, registrationId, amount, changeId = null } = refund
  // The refund of an order or a membership.
  if (registrationId === null) return
  await requireRegistration(tx, registrationId, `The refund ${refundId}`)
  await tx
    .insert(refunds)
    .values({ refundId, paymentId, registrationId, amount, changeId, ...fact })
    .onConflictDoUpdate({ target: refunds.refundId, set: fact })
}

/** Records a dispute: open until the bank's final decision. */
export async function recordDispute(
  tx: Transaction,
  { data: { disputeId, paymentId, registrationId, status } }: EventOf<typeof paymentDisputed>,
): Promise<void> {
  if (paymentId === null || registrationId === null) return
  await requireRegistration(tx, registrationId, `The dispute ${disputeId}`)
  const outcome = disputeStatus(status)
  const row = { disputeId, paymentId, registrationId, status: outcome }
  const insert = tx.insert(disputes).values(row)
  if (outcome === 'open') await insert.onConflictDoNothing()
  else await insert.onConflictDoUpdate({ target: disputes.disputeId, set: { status: outcome } })
}

async function requireRegistration(tx: Transaction, id: string, what: string): Promise<void> {
  if ((await tx.$count(registrations, eq(registrations.id, id))) > 0) return
  throw new DomainError('registration_not_found', `${what} is for ${id}, which was not found.`)
}

/** Records a refund. After the full refund of its payment, cancels the registration and releases its seats. */
export async function settleFullRefund(
  tx: Transaction,
  event: EventOf<typeof paymentRefunded>,
  context: Context<Config>,
): Promise<void> {
  const { registrationId, paymentId, refundedTotal, paidAmount, whole = refundedTotal >= paidAmount } = event.data
  await recordRefund(tx, event.data, { refunded: true })
  if (!whole) return
  await lockRegistrations(tx, [registrationId])
  const moves = await findPendingMoves(tx, registrationId)
  const held = seatsOfMoves(moves)
  const locked = await lockWithPlaces(tx, registrationId, [...held.keys()])
  if (!locked)
    throw new DomainError(
      'registration_not_found',
      `The refund of ${paymentId} is for ${registrationId}, which was not found.`,
    )
  const { registration, places: children } = locked
  const [known = { completed: false, refunded: false }] = await tx
    .select()
    .from(payments)
    .where(eq(payments.paymentId, paymentId))
  const isOver = endsRegistration(registration, paymentId, known)
  await tx
    .insert(payments)
    .values({ paymentId, registrationId, refunded: true })
    .onConflictDoUpdate({ target: payments.paymentId, set: { refunded: true } })
  if (!isOver) return
  const now = context.clock.now()
  await endMoves(tx, moves, 'withdrawn', now)
  await moveAllSeats(tx, sumSeats(seatsToFree(children), held), now)
  await tx
    .update(places)
    .set({ status: 'cancelled', cancelledAt: now, updatedAt: now })
    .where(and(eq(places.registrationId, registrationId), eq(places.status, 'seated')))
  await tx
    .update(registrations)
    .set({ status: 'cancelled', updatedAt: now })
    .where(eq(registrations.id, registrationId))
  const movePaymentIds = await findMovePayments(tx, registrationId)
  const reason = 'refunded' as const
  await publish(tx, registrationCancelled, registrationId, { ...factsOf(registration), reason, movePaymentIds })
}
