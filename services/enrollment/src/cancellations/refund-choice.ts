import { randomUUIDv7 } from 'node:crypto'
import type { Transaction } from '@robokids/runtime/db'
import { eq } from 'drizzle-orm'
import { cancelNow } from '../changes/cancel-places.ts'
import { findPendingMoves, isAbout } from '../changes/end-moves.ts'
import { toQuote } from '../changes/quotes.ts'
import { classFacts } from '../changes/read-changeable.ts'
import { cancelLine, limitBack, sumsOf } from '../changes/rules.ts'
import { isoTime } from '../iso-time.ts'
import { leftToGiveBack, readChoice } from '../places/read-choices.ts'
import { hasPlaces } from '../places/rules.ts'
import { lockRegistrations, lockWithPlaces } from '../registrations/lock-registration.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import { choices, kitShipments } from '../schema.ts'

/** How long a refund waits for the bank: a dispute's decision, or another refund of the same payment. */
const bankWait = { hours: 24 }

/**
 * Refunds the children of a family that has not chosen by the deadline, once. While a move is being paid, or the money is with the
 * bank, it waits.
 */
export async function refundChoice(tx: Transaction, choiceId: string, now: Temporal.Instant): Promise<void> {
  const found = await readChoice(tx, choiceId)
  if (!found) return
  const { registrationId, classSessionId, placeIds } = found
  await lockRegistrations(tx, [registrationId])
  const locked = await lockWithPlaces(tx, registrationId, [classSessionId])
  const choice = await readChoice(tx, choiceId)
  if (!locked || !choice || choice.endedAt !== null || Temporal.Instant.compare(choice.dueAt, now) > 0) return
  const isThis = eq(choices.id, choiceId)
  const { registration, places } = locked
  const chosen = places.filter(
    ({ id, status, classSessionId: at }) => placeIds.includes(id) && status === 'seated' && at === classSessionId,
  )
  if (chosen.length === 0 || !hasPlaces(registration.status)) {
    await tx.update(choices).set({ endedAt: now }).where(isThis)
    return
  }
  const pending = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, placeIds))
  const heldUntil = pending.flatMap((move) => move.heldUntil ?? []).toSorted((a, b) => Temporal.Instant.compare(a, b))
  const state = (await readPaymentStates(tx, [registration])).get(registrationId) ?? 'paid'
  const isAtBank = state === 'disputed' || state === 'refund_under_way'
  if (pending.length > 0 || isAtBank) {
    const wait = heldUntil.at(-1)?.add({ minutes: 1 })
    const dueAt = wait && Temporal.Instant.compare(wait, now) > 0 ? wait : now.add(isAtBank ? bankWait : { minutes: 1 })
    await tx.update(choices).set({ dueAt }).where(isThis)
    return
  }
  // What the bank has taken back after a dispute is with the family already.
  const percent = state === 'paid' || state === 'won' ? 100 : 0
  const full = chosen.map((place) => cancelLine(place, percent))
  const lines = limitBack(full, await leftToGiveBack(tx, registration, places))
  const [kit] = await tx.select().from(kitShipments).where(eq(kitShipments.registrationId, registrationId))
  const quote = toQuote({
    kind: 'cancel',
    registrationId,
    lines,
    from: await classFacts(tx, classSessionId),
    to: null,
    ...sumsOf(lines),
    rule: { validFrom: isoTime(choice.cancelledAt), percent, until: isoTime(choice.chooseUntil), moves: null },
    kitShipped: kit?.status === 'shipped',
    school: { choiceId, by: 'deadline' },
  })
  await tx.update(choices).set({ endedAt: now }).where(isThis)
  const made = { id: randomUUIDv7(), ownerId: null }
  await cancelNow(tx, { registration, places, chosen }, quote, made, new Map(), now)
}
