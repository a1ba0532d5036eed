import {
  moveRefused,
  placesMoved,
  type Change,
  type ChangedBy,
  type ChangeQuote,
  type Changes,
  type Move,
  type movePaid,
  type MoveOptions,
  type QuoteMove,
  type ReadMoveOptions,
} from '@robokids/contracts/changes'
import type { Child } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, gt } from 'drizzle-orm'
import type { Config } from '../config.ts'
import type { PlaceRow } from '../places/read-places.ts'
import { hasPlaces, sumSeats } from '../places/rules.ts'
import { endHolds } from '../registrations/end-hold.ts'
import { lockFamilyOf } from '../registrations/lock-family.ts'
import { lockRegistrations, lockWithPlaces, moveAllSeats, serveLineOf } from '../registrations/lock-registration.ts'
import { isoTime } from '../iso-time.ts'
import {
  factsOf,
  readRegistration,
  registrationNotFound,
  type RegistrationRow,
} from '../registrations/read-registrations.ts'
import { classFull, classNotOffered, isOffered, seatsLeft, type SeatChange } from '../rules.ts'
import { changes, classSessions, levels, registrations } from '../schema.ts'
import { endWaiting } from '../waitlist/end-waiting.ts'
import { endMoves, findPendingMoves, isAbout, seatsOfMoves, withdrawMove } from './end-moves.ts'
import { checkFamily, findOthers } from './family-seats.ts'
import { requireConfirmed, toQuote } from './quotes.ts'
import { classFacts, readChangeable, type Changeable } from './read-changeable.ts'
import { checkKit, checkMovable, limitBack, moveLine, priceAfter, sumsOf } from './rules.ts'
import { changeFacts, findChange, insertChange, presentChange, writePlaces, type ChangeRow } from './write-change.ts'

type ClassSession = typeof classSessions.$inferSelect
type UnitAmounts = QuoteMove['unitAmounts']

/**
 * @param freed seats in the new class that are held for an earlier move of the same children
 * @throws DomainError `class_not_offered`, `class_full`, `already_registered`, `change_not_allowed`, `validation_failed`
 */
async function composeQuote(
  tx: Transaction,
  changeable: Changeable,
  { to: toId, unitAmounts, freed = 0 }: { to: string; unitAmounts: UnitAmounts; freed?: number },
  now: Temporal.Instant,
): Promise<ChangeQuote> {
  const { registration, chosen, sessions, from, policy, kitShipped, choice, left } = changeable
  const until = choice ? choice.chooseUntil : checkMovable(policy, chosen, from, now)
  const to = sessions.find(({ id }) => id === toId)
  const price = to && to.classType !== 'membership' ? unitAmounts[to.classType] : undefined
  if (!to || price === undefined || !isOffered(to, now)) throw classNotOffered()
  if (to.id === from.id) {
    const message = 'This is the class that they are in.'
    throw new DomainError('validation_failed', message, [{ path: 'to', message }])
  }
  const [fromClass, toClass] = [await classFacts(tx, from.id), await classFacts(tx, to.id)]
  const childNames = chosen.map(({ childName }) => childName)
  checkKit(kitShipped, fromClass, toClass, childNames)
  await checkFamily(tx, registration, chosen, to)
  if (seatsLeft({ ...to, held: to.held - freed }) < chosen.length) throw classFull()
  const all = chosen.map((place) => moveLine(place, price, unitAmounts[from.classType] ?? 0))
  const lines = limitBack(all, left)
  return toQuote({
    kind: 'move',
    registrationId: registration.id,
    lines,
    from: fromClass,
    to: toClass,
    ...sumsOf(lines),
    rule: {
      validFrom: isoTime(choice ? choice.cancelledAt : policy.validFrom),
      percent: null,
      until: isoTime(until),
      moves: choice ? null : policy.freeMoves,
    },
    kitShipped,
    ...(choice ? { school: { choiceId: choice.id, by: 'family' } } : {}),
  })
}

const heldIn = (rows: ChangeRow[], classSessionId: string) => -(seatsOfMoves(rows).get(classSessionId)?.held ?? 0)

/** What the move of these places would do now. @throws DomainError as `composeQuote` and `readChangeable` */
export async function quoteMove(
  registrationId: string,
  request: QuoteMove,
  { db, clock }: Context<Config>,
): Promise<ChangeQuote> {
  const { to, unitAmounts, placeIds } = request
  return db.transaction(async (tx) => {
    const now = clock.now()
    const changeable = await readChangeable(tx, registrationId, request, now, { others: [to] })
    const replaced = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, placeIds))
    return composeQuote(tx, changeable, { to, unitAmounts, freed: heldIn(replaced, to) }, now)
  })
}

/**
 * Moves places as confirmed. If nothing is to be paid, it happens at once; otherwise the new seats are held until the difference
 * is paid, and the old ones stay. It takes over from an unpaid move of the same children. Repeating a request returns the same.
 * @throws DomainError `quote_outdated`, `id_reused`, and as `composeQuote` and `readChangeable`
 */
export async function movePlaces(registrationId: string, request: Move, context: Context<Config>): Promise<Change> {
  const { to, unitAmounts, placeIds } = request
  return context.db.transaction(async (tx) => {
    const now = context.clock.now()
    if (!(await lockFamilyOf(tx, registrationId))) throw registrationNotFound()
    await lockRegistrations(tx, [registrationId])
    const known = await findChange(tx, request, registrationId, 'move')
    if (known) return presentChange(known)
    const replaced = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, placeIds))
    const sessions = [to, ...seatsOfMoves(replaced).keys()]
    const changeable = await readChangeable(tx, registrationId, request, now, { lock: true, others: sessions })
    const quote = await composeQuote(tx, changeable, { to, unitAmounts, freed: heldIn(replaced, to) }, now)
    requireConfirmed(quote, request.quoteId)
    // The same move in another tab: it has one checkout.
    const same = replaced.find(({ quoteId }) => quoteId === quote.quoteId)
    if (same) return presentChange(same)

    await endMoves(tx, replaced, 'withdrawn', now)
    const { id, ownerId = null } = request
    const isPaid = quote.terms.due > 0
    const heldUntil = isPaid ? now.add({ minutes: context.config.HOLD_MINUTES }) : null
    const row = { id, ownerId, status: isPaid ? ('held' as const) : ('done' as const), toClassSessionId: to, heldUntil }
    const change = await insertChange(tx, quote, row, now)
    const taken = isPaid ? new Map([[to, { held: change.seats, sold: 0 }]]) : await moveNow(tx, changeable, change, now)
    // Last, because all buyers of a session wait for its row.
    await moveAllSeats(tx, sumSeats(seatsOfMoves(replaced), taken), now)
    if (!isPaid) await endWaitingOf(tx, changeable.registration, changeable.chosen, to, now)
    return presentChange(change)
  })
}

/** Writes a move that is paid, or costs nothing. @returns the seats that move with it; those that were held for it are the caller's. */
async function moveNow(
  tx: Transaction,
  { registration, places, from }: { registration: RegistrationRow; places: PlaceRow[]; from: { id: string } },
  change: ChangeRow,
  now: Temporal.Instant,
): Promise<Map<string, SeatChange>> {
  const { toClassSessionId, quote } = change
  if (toClassSessionId === null) throw new Error(`The change ${change.id} is not a move.`)
  const lineOf = new Map(quote.lines.map((line) => [line.placeId, line]))
  const all = places.map((place) => {
    const line = lineOf.get(place.id)
    if (!line) return place
    // A move that the school made necessary is not the family's.
    const moves = quote.school ? place.moves : place.moves + 1
    const moved = { classSessionId: toClassSessionId, moves, updatedAt: now }
    return { ...place, ...priceAfter(line), ...moved }
  })
  const after = await writePlaces(tx, registration, all, now)
  await publish(tx, placesMoved, registration.id, await changeFacts(tx, after, all, change))
  return new Map([
    [from.id, { held: 0, sold: -quote.lines.length }],
    [toClassSessionId, { held: 0, sold: quote.lines.length }],
  ])
}

/** Ends the family's places in the line of the class into which these children have moved. */
function endWaitingOf(
  tx: Transaction,
  registration: RegistrationRow,
  children: Child[],
  classSessionId: string,
  now: Temporal.Instant,
): Promise<void> {
  return endWaiting(tx, { ...registration, classSessionId, children }, now)
}

/**
 * Makes a move whose difference was paid, and ends unpaid holds of the same children in the new class. A move that had run out by then is still made if everything is as it was confirmed and
 * the seats are free; otherwise the children keep their class, and the payment goes back.
 */
export async function settleMove(
  tx: Transaction,
  { data }: EventOf<typeof movePaid>,
  { clock }: Context<Config>,
): Promise<void> {
  const { changeId, registrationId, paymentId } = data
  const notFound = `Payment ${paymentId} is for the move ${changeId}, which was not found.`
  if (!(await lockFamilyOf(tx, registrationId))) throw new DomainError('registration_not_found', notFound)
  const [found] = await tx.select().from(registrations).where(eq(registrations.id, registrationId))
  const [asked] = await tx.select().from(changes).where(eq(changes.id, changeId))
  // A payment is never dropped: it stays a dead letter until an operator resolves it.
  if (!found || !asked?.quote.to) throw new DomainError('registration_not_found', notFound)
  // The family is locked: no other registration of it comes or goes.
  const children = asked.quote.lines.map(({ childName }) => ({ childName, childAge: 0 }))
  const others = await findOthers(tx, found, children, {
    classType: asked.quote.to.classType,
    date: asked.quote.to.startDate,
  })
  const rows = await lockRegistrations(tx, [registrationId, ...others.map(({ id }) => id)])
  const [change] = await tx.select().from(changes).where(eq(changes.id, changeId))
  if (!change?.toClassSessionId) throw new DomainError('registration_not_found', notFound)
  if (change.status === 'done' || change.status === 'refused') return
  const locked = await lockWithPlaces(tx, registrationId, [change.toClassSessionId])
  if (!locked) throw new DomainError('registration_not_found', notFound)
  const { registration, places } = locked
  const now = clock.now()
  const to = locked.classSessions.find(({ id }) => id === change.toClassSessionId)
  const ofOthers = rows.filter(({ id }) => id !== registrationId)
  const unpaid = ofOthers.filter(({ status }) => status === 'held')
  const hasSeat = ofOthers.some(({ status }) => hasPlaces(status))
  const wasHeld = change.status === 'held'
  // The school may have cancelled the new class meanwhile.
  const isHeld = wasHeld && to?.status === 'open'
  const isMade = isHeld || (to && change.status === 'expired' && isStillPossible(change, locked, to, unpaid, now))
  if (!to || hasSeat || !isMade) {
    const refused = { status: 'refused' as const, heldUntil: null, paymentId, updatedAt: now }
    await tx.update(changes).set(refused).where(eq(changes.id, changeId))
    const facts = { ...factsOf(registration), changeId, terms: change.quote, paymentId }
    await publish(tx, moveRefused, registrationId, facts)
    if (wasHeld) await moveAllSeats(tx, seatsOfMoves([change]), now)
    return
  }
  const done = { status: 'done' as const, heldUntil: null, paymentId, updatedAt: now }
  await tx.update(changes).set(done).where(eq(changes.id, changeId))
  const seats = await moveNow(tx, { registration, places, from: { id: change.quote.from.classSessionId } }, change, now)
  // A freed seat goes to the line only after this family has taken its own.
  const freed = await endHolds(tx, unpaid, now)
  await moveAllSeats(tx, isHeld ? sumSeats(seats, seatsOfMoves([change])) : seats, now)
  for (const classSessionId of freed) await serveLineOf(tx, classSessionId, now)
  await endWaitingOf(tx, registration, children, to.id, now)
}

/** Whether a move that has run out can be made all the same. @param unpaid the family's holds that end with it. */
function isStillPossible(
  { quote, seats }: ChangeRow,
  { registration, places }: { registration: RegistrationRow; places: PlaceRow[] },
  to: ClassSession,
  unpaid: RegistrationRow[],
  now: Temporal.Instant,
): boolean {
  const isUnchanged = quote.lines.every((line) => {
    const place = places.find(({ id }) => id === line.placeId)
    const { status, classSessionId, paidAmount } = place ?? {}
    return status === 'seated' && classSessionId === quote.from.classSessionId && paidAmount === line.paid
  })
  const freed = unpaid.reduce((sum, one) => sum + one.seats, 0)
  const isFree = seatsLeft({ ...to, held: to.held - freed }) >= seats
  return hasPlaces(registration.status) && isUnchanged && isOffered(to, now) && isFree
}

/** Gives up a move that is not paid; a move that is over stays as it is. @throws DomainError `registration_not_found` */
export async function withdraw(
  id: string,
  { ownerId, choiceId }: ChangedBy,
  { db, clock }: Context<Config>,
): Promise<Change> {
  return db.transaction(async (tx) => {
    const read = async () => (await tx.select().from(changes).where(eq(changes.id, id)))[0]
    const found = await read()
    if (!found) throw registrationNotFound()
    const { registrationId, quote } = found
    const [registration] = await tx.select().from(registrations).where(eq(registrations.id, registrationId))
    const isOwner = ownerId !== undefined && [found.ownerId, registration?.ownerId].includes(ownerId)
    if (!isOwner && (choiceId === undefined || quote.school?.choiceId !== choiceId)) throw registrationNotFound()
    await withdrawMove(tx, id, clock.now())
    return presentChange((await read()) ?? found)
  })
}

/** Where these places can move, and for how much. @throws DomainError as `readChangeable`, unless that is a refusal */
export async function readMoveOptions(
  registrationId: string,
  request: ReadMoveOptions,
  { db, clock }: Context<Config>,
): Promise<MoveOptions> {
  const { unitAmounts, placeIds } = request
  return db.transaction(async (tx) => {
    const now = clock.now()
    const refused = (error: unknown, kitShipped: boolean): MoveOptions => {
      if (!(error instanceof DomainError) || error.code !== 'change_not_allowed') throw error
      return { refusal: error.message, until: null, kitShipped, options: [] }
    }
    const found = await readChangeable(tx, registrationId, request, now).catch((error: unknown) =>
      refused(error, false),
    )
    if ('refusal' in found) return found
    const { chosen, from, policy, kitShipped, choice, left } = found
    let until: Temporal.Instant
    try {
      until = choice ? choice.chooseUntil : checkMovable(policy, chosen, from, now)
    } catch (error) {
      return refused(error, kitShipped)
    }
    const rows = await tx
      .select({ classSession: classSessions, levelTitle: levels.title })
      .from(classSessions)
      .innerJoin(levels, eq(levels.classType, classSessions.classType))
      .where(and(eq(classSessions.status, 'open'), gt(classSessions.startsAt, now)))
      .orderBy(asc(levels.position), asc(classSessions.startsAt))
    const replaced = (await findPendingMoves(tx, registrationId)).filter((row) => isAbout(row, placeIds))
    const options = rows.flatMap(({ classSession, levelTitle }) => {
      const { id, classType, date: startDate, startTime, durationMinutes, timeZone } = classSession
      const price = unitAmounts[classType]
      if (id === from.id || price === undefined || (kitShipped && classType !== from.classType)) return []
      const all = chosen.map((place) => moveLine(place, price, unitAmounts[from.classType] ?? 0))
      const lines = limitBack(all, left)
      const free = seatsLeft({ ...classSession, held: classSession.held - heldIn(replaced, id) })
      const facts = { classSessionId: id, classType, levelTitle, startDate, startTime, durationMinutes, timeZone }
      return [{ ...facts, seatsLeft: free, ...sumsOf(lines) }]
    })
    return { refusal: null, until: isoTime(until), kitShipped, options }
  })
}

/** The places of a registration and its changes, oldest first. @throws DomainError `registration_not_found` for anyone but its owner */
export async function listChanges(registrationId: string, owner: string, { db }: Context<Config>): Promise<Changes> {
  const { ownerId, places = [] } = await readRegistration(db, registrationId)
  if (ownerId !== owner) throw registrationNotFound()
  const rows = await db
    .select()
    .from(changes)
    .where(eq(changes.registrationId, registrationId))
    .orderBy(asc(changes.createdAt), asc(changes.id))
  return { places, changes: rows.map(presentChange) }
}

/** A change, for billing. @throws DomainError `registration_not_found` */
export async function readChange(id: string, { db }: Context<Config>): Promise<ChangeRow> {
  const [found] = await db.select().from(changes).where(eq(changes.id, id))
  if (!found) throw registrationNotFound()
  return found
}
