import { placesCancelled, type Cancel, type Change, type ChangeQuote } from '@robokids/contracts/changes'
import { publish } from '@robokids/runtime/outbox'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { seatsToFree, sumSeats } from '../places/rules.ts'
import { lockRegistrations, moveAllSeats } from '../registrations/lock-registration.ts'
import { isoTime } from '../iso-time.ts'
import type { SeatChange } from '../rules.ts'
import { endMoves, findPendingMoves, isAbout, seatsOfMoves } from './end-moves.ts'
import { toQuote, requireConfirmed } from './quotes.ts'
import { classFacts, readChangeable, type Changeable, type ChangeRequest } from './read-changeable.ts'
import { cancelLine, limitBack, refundShare, sumsOf } from './rules.ts'
import { changeFacts, findChange, insertChange, presentChange, writePlaces, type ChangeRow } from './write-change.ts'

async function composeQuote(
  tx: Transaction,
  { registration, chosen, from, policy, kitShipped, choice, left }: Changeable,
  now: Temporal.Instant,
): Promise<ChangeQuote> {
  const { percent, until } = choice ? { percent: 100, until: choice.chooseUntil } : refundShare(policy, from, now)
  const all = chosen.map((place) => cancelLine(place, percent))
  const lines = limitBack(all, left)
  const validFrom = choice ? choice.cancelledAt : policy.validFrom
  return toQuote({
    kind: 'cancel',
    registrationId: registration.id,
    lines,
    from: await classFacts(tx, from.id),
    to: null,
    ...sumsOf(lines),
    rule: { validFrom: isoTime(validFrom), percent, until: until && isoTime(until), moves: null },
    kitShipped,
    ...(choice ? { school: { choiceId: choice.id, by: 'family' } } : {}),
  })
}

/** What the cancellation of these places would do now. @throws DomainError as `readChangeable` */
export async function quoteCancellation(
  registrationId: string,
  request: ChangeRequest,
  { db, clock }: Context<Config>,
): Promise<ChangeQuote> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    return composeQuote(tx, await readChangeable(tx, registrationId, request, now), now)
  })
}

/**
 * Cancels places as confirmed: their seats are free at once, and what goes back is refunded by billing. Repeating a request
 * returns the same.
 * @throws DomainError `quote_outdated`, `id_reused`, and as `readChangeable`
 */
export async function cancelPlaces(
  registrationId: string,
  request: Cancel,
  { db, clock }: Context<Config>,
): Promise<Change> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    // Locked first, so that the second of two concurrent requests with one id sees the change of the first.
    await lockRegistrations(tx, [registrationId])
    const known = await findChange(tx, request, registrationId, 'cancel')
    if (known) return presentChange(known)
    const moves = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, request.placeIds))
    const held = seatsOfMoves(moves)
    const options = { lock: true, others: [...held.keys()] }
    const changeable = await readChangeable(tx, registrationId, request, now, options)
    const quote = await composeQuote(tx, changeable, now)
    requireConfirmed(quote, request.quoteId)
    await endMoves(tx, moves, 'withdrawn', now)
    const made = { id: request.id, ownerId: request.ownerId ?? null }
    return presentChange(await cancelNow(tx, changeable, quote, made, held, now))
  })
}

/**
 * Writes a cancellation, as quoted, of places that are locked.
 * @param held the seats of unpaid moves that end with it
 */
export async function cancelNow(
  tx: Transaction,
  { registration, places, chosen }: Pick<Changeable, 'registration' | 'places' | 'chosen'>,
  quote: ChangeQuote,
  made: { id: string; ownerId: string | null },
  held: Map<string, SeatChange>,
  now: Temporal.Instant,
): Promise<ChangeRow> {
  const backOf = new Map(quote.terms.lines.map(({ placeId, back }) => [placeId, back]))
  const change = await insertChange(tx, quote, { ...made, status: 'done' }, now)
  const all = places.map((place) => {
    const back = backOf.get(place.id)
    if (back === undefined) return place
    const paidAmount = place.paidAmount - back
    return { ...place, paidAmount, status: 'cancelled' as const, cancelledAt: now, updatedAt: now }
  })
  const after = await writePlaces(tx, registration, all, now)
  const isOver = after.status === 'cancelled'
  const facts = await changeFacts(tx, after, all, change)
  await publish(tx, placesCancelled, registration.id, { ...facts, isOver })
  // Last, because all buyers of a session wait for its row.
  await moveAllSeats(tx, sumSeats(seatsToFree(chosen), held), now)
  return change
}
