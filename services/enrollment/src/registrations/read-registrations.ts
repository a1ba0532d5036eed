import type {
  Place,
  Registration,
  RegistrationFacts,
  RegistrationPage,
  registrationQuerySchema,
} from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { ClassLink } from '@robokids/contracts/meetings'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, inArray, sql, type SQL } from 'drizzle-orm'
import type { z } from 'zod'
import { readLink } from '../classes/read-link.ts'
import type { Config } from '../config.ts'
import { readSchedules } from '../classes/meetings.ts'
import { isoTime } from '../iso-time.ts'
import { isOfChoice, leftToGiveBack, listChoices, readCancelledClasses } from '../places/read-choices.ts'
import { readPlaces, type PlaceRow } from '../places/read-places.ts'
import { readPaymentStates, type PaymentStates } from './payment-states.ts'
import { paymentProblem } from '../rules.ts'
import { classSessions, kitShipments, levels, registrations, waivers } from '../schema.ts'

export type RegistrationRow = typeof registrations.$inferSelect

/** The snapshot of the registration in its events. */
export function factsOf(row: RegistrationRow): RegistrationFacts {
  return {
    registrationId: row.id,
    guardianName: row.guardianName,
    email: row.email,
    children: row.children,
    address: {
      addressLine1: row.addressLine1,
      addressLine2: row.addressLine2,
      city: row.city,
      state: row.state,
      zipCode: row.zipCode,
    },
    classSessionId: row.classSessionId,
    classType: row.classType,
    levelTitle: row.levelTitle,
    startDate: row.startDate,
    startTime: row.startTime,
    durationMinutes: row.durationMinutes,
    timeZone: row.timeZone,
    familyTimeZone: row.familyTimeZone,
    ownerId: row.ownerId,
  }
}

function paymentOf(row: RegistrationRow, states: PaymentStates): Registration['payment'] {
  const { paymentId, receiptNumber, paidAmount, paidCurrency, paidAt } = row
  if (paymentId === null || receiptNumber === null || paidAmount === null || paidCurrency === null || paidAt === null)
    return null
  const state = states.get(row.id) ?? 'paid'
  return { paymentId, receiptNumber, amount: paidAmount, currency: paidCurrency, paidAt: isoTime(paidAt), state }
}

/** The places of those registrations that were paid, with the class in which each is. */
async function presentPlaces(db: Database | Transaction, rows: RegistrationRow[]): Promise<Map<string, Place[]>> {
  const paid = rows.filter(({ paymentId }) => paymentId !== null)
  const found = await readPlaces(db, paid)
  const known = new Map(paid.map((row) => [row.classSessionId, classOf(row)]))
  const ids = [...found.values()].flat().map(({ classSessionId }) => classSessionId)
  const others = [...new Set(ids)].filter((id) => !known.has(id))
  for (const { id, ...theClass } of others.length === 0 ? [] : await readClasses(db, others)) known.set(id, theClass)
  const present = ({ id, classSessionId, cancelledAt, ...place }: PlaceRow): Place[] => {
    const theClass = known.get(classSessionId)
    if (!theClass) return []
    const { childName, childAge, status, paidAmount, moves } = place
    const child = { childName, childAge, status, paidAmount, moves, cancelledAt: cancelledAt && isoTime(cancelledAt) }
    return [{ placeId: id, classSessionId, ...theClass, ...child }]
  }
  const cancelled = await readCancellations(db, paid, found)
  const choices = await listChoices(
    db,
    paid.map(({ id }) => id),
  )
  const cancelledBySchool = (place: PlaceRow): Pick<Place, 'cancelledBySchool'> => {
    const of = choices.find((choice) => choice.registrationId === place.registrationId && isOfChoice(place, choice))
    if (place.status !== 'cancelled' || !of || place.cancelledAt === null) return {}
    const isLate = Temporal.Instant.compare(place.cancelledAt, of.chooseUntil) >= 0
    return { cancelledBySchool: isLate ? 'deadline' : 'chosen' }
  }
  return new Map(
    [...found].map(([id, some]) => [
      id,
      some.flatMap((place) => {
        const classCancelled = place.status === 'seated' ? cancelled.get(`${id} ${place.classSessionId}`) : undefined
        const school = classCancelled ? { classCancelled } : cancelledBySchool(place)
        return present(place).map((one) => ({ ...one, ...school }))
      }),
    ]),
  )
}

/** What the school's cancellation of a class means for the children who sit there, by registration and class session. */
async function readCancellations(
  db: Database | Transaction,
  rows: RegistrationRow[],
  places: Map<string, PlaceRow[]>,
): Promise<Map<string, NonNullable<Place['classCancelled']>>> {
  const seated = [...places.values()].flat().filter(({ status }) => status === 'seated')
  const sessionIds = [...new Set(seated.map(({ classSessionId }) => classSessionId))]
  const ids = rows.map(({ id }) => id)
  const cancelled = new Map<string, NonNullable<Place['classCancelled']>>()
  for (const { classSessionId, chooseUntil, choices } of await readCancelledClasses(db, sessionIds, ids)) {
    for (const row of rows) {
      const all = places.get(row.id) ?? []
      const there = all.filter((one) => one.classSessionId === classSessionId && one.status === 'seated')
      if (there.length === 0) continue
      const paid = there.reduce((sum, { paidAmount }) => sum + paidAmount, 0)
      cancelled.set(`${row.id} ${classSessionId}`, {
        choiceId: choices.find(({ registrationId }) => registrationId === row.id)?.id ?? null,
        chooseUntil: isoTime(chooseUntil),
        back: Math.min(paid, await leftToGiveBack(db, row, all)),
      })
    }
  }
  return cancelled
}

function classOf({ classType, levelTitle, startDate, startTime, durationMinutes, timeZone }: RegistrationRow) {
  return { classType, levelTitle, startDate, startTime, durationMinutes, timeZone }
}

/** The class of each of these sessions of a level, as registrations describe it. */
export async function readClasses(db: Database | Transaction, classSessionIds: string[]) {
  return db
    .select({
      id: classSessions.id,
      classType: classSessions.classType,
      levelTitle: levels.title,
      startDate: classSessions.date,
      startTime: classSessions.startTime,
      durationMinutes: classSessions.durationMinutes,
      timeZone: classSessions.timeZone,
    })
    .from(classSessions)
    .innerJoin(levels, eq(levels.classType, sql`${classSessions.classType}`))
    .where(inArray(classSessions.id, classSessionIds))
}

type Kit = typeof kitShipments.$inferSelect

/** Hides a kit that was ready if it must not be shipped any more; its row is kept. */
function kitOf(row: RegistrationRow, kit: Kit | null, states: PaymentStates, places: Place[]): Registration['kit'] {
  if (!kit) return null
  const { status, carrier, trackingNumber, shippedAt } = kit
  if (status === 'shipped') {
    return {
      status,
      ...(carrier === null ? {} : { carrier }),
      ...(trackingNumber === null ? {} : { trackingNumber }),
      ...(shippedAt === null ? {} : { shippedAt: isoTime(shippedAt) }),
    }
  }
  const isAttending = places.some((place) => place.status === 'seated' && place.classCancelled === undefined)
  const isPaid = paymentProblem(states.get(row.id) ?? 'paid') === undefined
  return row.status === 'waiver_signed' && isPaid && isAttending ? { status } : null
}

/** @param isBrief leaves out the schedules, which are the same for all registrations of a class. */
async function select(
  db: Database | Transaction,
  where: SQL | undefined,
  limit: number,
  { isBrief = false } = {},
): Promise<Registration[]> {
  const rows = await db
    .select({
      row: registrations,
      waiver: { waiverId: waivers.id, signedAt: waivers.signedAt, documentSha256: waivers.documentSha256 },
      kit: kitShipments,
    })
    .from(registrations)
    .leftJoin(waivers, eq(waivers.registrationId, registrations.id))
    .leftJoin(kitShipments, eq(kitShipments.registrationId, registrations.id))
    .where(where)
    .orderBy(desc(registrations.createdAt), desc(registrations.id))
    .limit(limit)
  const states = await readPaymentStates(
    db,
    rows.map(({ row }) => row),
  )
  const places = await presentPlaces(
    db,
    rows.map(({ row }) => row),
  )
  const sessionIds = [...rows.map(({ row }) => row), ...[...places.values()].flat()].map((one) => one.classSessionId)
  const classes: Awaited<ReturnType<typeof readSchedules>> = isBrief
    ? new Map()
    : await readSchedules(db, [...new Set(sessionIds)])
  return rows.map(({ row, waiver, kit }) => ({
    ...factsOf(row),
    places: (places.get(row.id) ?? []).map((place) => ({ ...place, ...classes.get(place.classSessionId) })),
    status: row.status,
    heldUntil: row.heldUntil && isoTime(row.heldUntil),
    pageOpened: row.openedAt !== null,
    rejectionReason: row.rejectionReason,
    payment: paymentOf(row, states),
    waiver: waiver && { ...waiver, signedAt: isoTime(waiver.signedAt) },
    kit: kitOf(row, kit, states, places.get(row.id) ?? []),
    ...classes.get(row.classSessionId),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }))
}

export function registrationNotFound(): DomainError {
  return new DomainError('registration_not_found', 'There is no such registration.')
}

/** @throws DomainError `registration_not_found` */
export async function readRegistration(db: Database | Transaction, id: string): Promise<Registration> {
  const [registration] = await select(db, eq(registrations.id, id), 1)
  if (!registration) throw registrationNotFound()
  return registration
}

/** The newest registrations of an account. */
export async function listOwned(db: Database, ownerId: string, limit: number): Promise<Registration[]> {
  return select(db, eq(registrations.ownerId, ownerId), limit)
}

/**
 * The link of a registration's class.
 * @param placeId the child's, as siblings may sit in different classes; if omitted, that of any.
 * @throws DomainError `registration_not_found`, `registration_not_paid`, and those of `readLink`
 */
export async function readRegistrationLink(
  id: string,
  placeId: string | undefined,
  context: Context<Config>,
): Promise<ClassLink> {
  const [row] = await context.db.select().from(registrations).where(eq(registrations.id, id))
  if (!row) throw registrationNotFound()
  const isPaid = row.status === 'confirmed' || row.status === 'waiver_signed'
  const states = await readPaymentStates(context.db, [row])
  if (!isPaid || paymentProblem(states.get(id) ?? 'paid') !== undefined)
    throw new DomainError('registration_not_paid', 'There is no class link for a registration that is not paid.')
  const places = (await readPlaces(context.db, [row])).get(id) ?? []
  const classSessionIds = places
    .filter((place) => place.status === 'seated' && (placeId === undefined || place.id === placeId))
    .map((place) => place.classSessionId)
  return readLink({ classSessionIds, isSigned: row.status === 'waiver_signed' }, context)
}

function cursorOf({ createdAt, registrationId }: Registration): string {
  return `${createdAt}_${registrationId}`
}

function isAfterCursor(cursor: string): SQL {
  const [createdAt = '', id = ''] = cursor.split('_')
  return sql`(${registrations.createdAt}, ${registrations.id}) < (${createdAt}::timestamptz, ${id}::uuid)`
}

/** Lists registrations, newest first by our clock, because ids are chosen by clients. */
export async function listRegistrations(
  db: Database,
  query: z.infer<typeof registrationQuerySchema>,
): Promise<RegistrationPage> {
  const where = and(
    query.email === undefined ? undefined : eq(registrations.emailKey, emailKey(query.email)),
    query.ownerId === undefined ? undefined : eq(registrations.ownerId, query.ownerId),
    query.status && eq(registrations.status, query.status),
    query.cursor === undefined ? undefined : isAfterCursor(query.cursor),
  )
  const found = await select(db, where, query.limit + 1, { isBrief: true })
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  return { registrations: page, nextCursor: last && found.length > page.length ? cursorOf(last) : null }
}
