import { randomUUID } from 'node:crypto'
import { classCancelled } from '@robokids/contracts/class-cancellation'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, gt, isNull, lte, min } from 'drizzle-orm'
import { readSchedule } from '../classes/meetings.ts'
import type { Config } from '../config.ts'
import { withdrawMove } from '../changes/end-moves.ts'
import { isoTime } from '../iso-time.ts'
import { leftToGiveBack } from '../places/read-choices.ts'
import { childrenOfPlaces } from '../places/rules.ts'
import { releaseSeats } from '../registrations/end-hold.ts'
import { lockRegistration, lockWithPlaces } from '../registrations/lock-registration.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import { factsOf, readClasses, type RegistrationRow } from '../registrations/read-registrations.ts'
import { changes, choices, classCancellations, registrations, type classSessions } from '../schema.ts'
import { findSeatedFamilies } from './find-families.ts'
import { refundChoice } from './refund-choice.ts'

const batchSize = 100

type Cancellation = typeof classCancellations.$inferSelect
type ClassSession = typeof classSessions.$inferSelect

/** What is still to be done about a class that was cancelled. */
interface Work {
  held: string[]
  moves: string[]
  families: string[]
}

async function findWork(db: Database, classSessionId: string, limit: number): Promise<Work> {
  const held = await db
    .select({ id: registrations.id })
    .from(registrations)
    .where(and(eq(registrations.classSessionId, classSessionId), eq(registrations.status, 'held')))
    .orderBy(asc(registrations.id))
    .limit(limit)
  const moves = await db
    .select({ id: changes.id })
    .from(changes)
    .where(and(eq(changes.toClassSessionId, classSessionId), eq(changes.status, 'held')))
    .orderBy(asc(changes.id))
    .limit(limit)
  const families = await findSeatedFamilies(db, classSessionId, { withoutChoice: true, limit })
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
  return { held: idsOf(held), moves: idsOf(moves), families: idsOf(families) }
}

const countOf = ({ held, moves, families }: Work) => held.length + moves.length + families.length

/** How long after the deadline a cancelled class is looked at: far longer than a process can be away. */
const watchedHours = 60 * 24

const recentCancellations = ({ db, clock }: Context<Config>) =>
  db
    .select()
    .from(classCancellations)
    .where(gt(classCancellations.chooseUntil, clock.now().subtract({ hours: watchedHours })))
    .orderBy(asc(classCancellations.cancelledAt), asc(classCancellations.id))

/**
 * Does what a cancelled class means for each family, one a transaction: ends what is not paid, gives each family that has paid its
 * choice, and refunds what was not chosen in time. What is done is found no more, so it may stop anywhere and run in several
 * processes.
 */
export async function settleCancellations(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const { db, clock } = context
  for (const cancellation of await recentCancellations(context)) {
    let work = await findWork(db, cancellation.classSessionId, batchSize)
    while (countOf(work) > 0) {
      for (const id of work.held) {
        if (signal.aborted) return
        await db.transaction((tx) => endUnpaid(tx, id, cancellation, clock.now()))
      }
      for (const id of work.moves) {
        if (signal.aborted) return
        await db.transaction((tx) => withdrawMove(tx, id, clock.now()))
      }
      for (const id of work.families) {
        if (signal.aborted) return
        await db.transaction((tx) => giveChoice(tx, id, cancellation, clock.now()))
      }
      work = await findWork(db, cancellation.classSessionId, batchSize)
    }
  }
  const now = clock.now()
  const due = await db
    .select({ id: choices.id })
    .from(choices)
    .where(and(isNull(choices.endedAt), lte(choices.dueAt, now)))
    .orderBy(asc(choices.dueAt), asc(choices.id))
  for (const { id } of due) {
    if (signal.aborted) return
    await db.transaction((tx) => refundChoice(tx, id, now))
  }
}

/** Now if there is work about a family, or else when the next choice is due. */
export async function nextCancellationWork(context: Context<Config>): Promise<Temporal.Instant | null> {
  const { db, clock } = context
  for (const { classSessionId } of await recentCancellations(context)) {
    if (countOf(await findWork(db, classSessionId, 1)) > 0) return clock.now()
  }
  const [next] = await db
    .select({ at: min(choices.dueAt) })
    .from(choices)
    .where(isNull(choices.endedAt))
  return next?.at ?? null
}

async function cancelledFacts(
  tx: Transaction,
  row: RegistrationRow,
  classSession: ClassSession,
  cancellation: Cancellation,
) {
  const { id: classSessionId, date: startDate, startTime, durationMinutes, timeZone } = classSession
  const theClass = { classSessionId, startDate, startTime, durationMinutes, timeZone }
  return {
    ...factsOf(row),
    ...theClass,
    cancellationId: cancellation.id,
    ...(await readSchedule(tx, classSession)),
  }
}

/** Ends a hold: its payment page is closed, and what is paid all the same goes back. */
async function endUnpaid(
  tx: Transaction,
  id: string,
  cancellation: Cancellation,
  now: Temporal.Instant,
): Promise<void> {
  const locked = await lockRegistration(tx, id)
  if (locked?.registration.status !== 'held') return
  await releaseSeats(tx, [locked.registration], now)
  const facts = await cancelledFacts(tx, locked.registration, locked.classSession, cancellation)
  await publish(tx, classCancelled, id, { ...facts, choice: null })
}

async function giveChoice(
  tx: Transaction,
  registrationId: string,
  cancellation: Cancellation,
  now: Temporal.Instant,
): Promise<void> {
  const { classSessionId, chooseUntil } = cancellation
  const locked = await lockWithPlaces(tx, registrationId, [classSessionId])
  if (!locked) return
  const { registration, places } = locked
  const there = places.filter((one) => one.status === 'seated' && one.classSessionId === classSessionId)
  const classSession = locked.classSessions.find(({ id }) => id === classSessionId)
  if (there.length === 0 || !classSession) return
  const placeIds = there.map(({ id }) => id)
  const row = { id: randomUUID(), registrationId, classSessionId, placeIds, dueAt: chooseUntil, createdAt: now }
  const [choice] = await tx.insert(choices).values(row).onConflictDoNothing().returning()
  if (!choice) return
  const state = (await readPaymentStates(tx, [registration])).get(registrationId) ?? 'paid'
  // All of its money is on its way back already, or with the bank.
  if (state === 'refund_under_way' || state === 'refunded' || state === 'lost') return
  const paid = there.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
  const back = Math.min(paid, await leftToGiveBack(tx, registration, places))
  const [{ classType, levelTitle } = registration] = await readClasses(tx, [classSessionId])
  const facts = await cancelledFacts(tx, registration, classSession, cancellation)
  await publish(tx, classCancelled, registrationId, {
    ...facts,
    classType,
    levelTitle,
    children: childrenOfPlaces(there),
    choice: { choiceId: choice.id, chooseUntil: isoTime(chooseUntil), back },
  })
}
