import type { ClassCancellation } from '@robokids/contracts/class-cancellation'
import type { Database, Transaction } from '@robokids/runtime/db'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { classSessionNotFound } from '../classes/meetings.ts'
import { isoTime } from '../iso-time.ts'
import { leftToGiveBack } from '../places/read-choices.ts'
import { readPlaces } from '../places/read-places.ts'
import { changes, choices, classCancellations, classSessions, levels, refunds, registrations } from '../schema.ts'
import { openEntriesOf } from '../waitlist/line.ts'
import { findSeatedFamilies } from './find-families.ts'
import { stateOfFamily } from './rules.ts'

/**
 * What cancelling a class would do or, once it is cancelled, what it has done so far, for an administrator.
 * @throws DomainError `class_session_not_found`
 */
export async function readCancellation(db: Database | Transaction, classSessionId: string): Promise<ClassCancellation> {
  const [classSession] = await db.select().from(classSessions).where(eq(classSessions.id, classSessionId))
  if (!classSession) throw classSessionNotFound()
  const { classType, date, status } = classSession
  const ofLevel = eq(levels.classType, sql`${classType}`)
  const [level] = await db.select({ title: levels.title }).from(levels).where(ofLevel)
  const isThis = eq(classCancellations.classSessionId, classSessionId)
  const [cancellation] = await db.select().from(classCancellations).where(isThis)
  const seated = await findSeatedFamilies(db, classSessionId)
  const made = await db.select().from(choices).where(eq(choices.classSessionId, classSessionId))
  const choiceOf = new Map(made.map((choice) => [choice.registrationId, choice]))
  const gone = [...new Set(choiceOf.keys()).difference(new Set(seated.map(({ id }) => id)))]
  const others = gone.length === 0 ? [] : await db.select().from(registrations).where(inArray(registrations.id, gone))
  const rows = [...seated, ...others].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const ids = rows.map(({ id }) => id)
  const allPlaces = await readPlaces(db, rows)
  const allChanges = ids.length === 0 ? [] : await db.select().from(changes).where(inArray(changes.registrationId, ids))
  const allRefunds = ids.length === 0 ? [] : await db.select().from(refunds).where(inArray(refunds.registrationId, ids))
  const families: ClassCancellation['families'] = []
  for (const row of rows) {
    const choice = choiceOf.get(row.id)
    const places = allPlaces.get(row.id) ?? []
    const there = places.filter((one) => one.classSessionId === classSessionId && one.status === 'seated')
    const of = choice ? places.filter(({ id }) => choice.placeIds.includes(id)) : there
    const chosen = allChanges.filter(({ quote }) => choice !== undefined && quote.school?.choiceId === choice.id)
    const changeIds = new Set<string | null>(chosen.map(({ id }) => id))
    const { state, back } = stateOfFamily({
      isCancelled: cancellation !== undefined,
      isSeated: there.length > 0,
      changes: chosen.map((one) => ({ status: one.status, kind: one.kind, back: one.quote.back })),
      refunds: allRefunds.filter(({ changeId }) => changeId !== null && changeIds.has(changeId)),
    })
    const ahead = there.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
    const left = there.length > 0 ? Math.min(ahead, await leftToGiveBack(db, row, places)) : 0
    families.push({
      registrationId: row.id,
      guardianName: row.guardianName,
      email: row.email,
      children: of.map(({ childName }) => childName),
      back: back + left,
      state,
    })
  }
  const isUnpaid = and(eq(registrations.classSessionId, classSessionId), eq(registrations.status, 'held'))
  return {
    classSessionId,
    classType,
    levelTitle: level?.title ?? 'Members’ session',
    date,
    status,
    cancelledAt: cancellation ? isoTime(cancellation.cancelledAt) : null,
    chooseUntil: cancellation ? isoTime(cancellation.chooseUntil) : null,
    families,
    back: families.reduce((sum, family) => sum + family.back, 0),
    unpaid: await db.$count(registrations, isUnpaid),
    waiting: (await openEntriesOf(db, classSessionId)).length,
  }
}
