import type { Change, ChangedBy, ChangeQuote, ChangeTerms } from '@robokids/contracts/changes'
import { registrationCancelled } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { and, eq, inArray } from 'drizzle-orm'
import { readSchedule } from '../classes/meetings.ts'
import type { PlaceRow } from '../places/read-places.ts'
import { childrenOfPlaces } from '../places/rules.ts'
import { isoTime } from '../iso-time.ts'
import { factsOf, readClasses, type RegistrationRow } from '../registrations/read-registrations.ts'
import { changes, classSessions, places, registrations } from '../schema.ts'
import { findMovePayments } from './end-moves.ts'

export type ChangeRow = typeof changes.$inferSelect

export function presentChange({ id, kind, status, quote, heldUntil, createdAt }: ChangeRow): Change {
  const until = heldUntil && isoTime(heldUntil)
  return { changeId: id, kind, status, terms: quote, heldUntil: until, createdAt: isoTime(createdAt) }
}

/**
 * Finds the change that a request repeats, by the id that its client has made.
 * @throws DomainError `id_reused` if it is another request's
 */
export async function findChange(
  tx: Transaction,
  { id, ownerId, choiceId }: ChangedBy & { id: string },
  registrationId: string,
  kind: ChangeRow['kind'],
): Promise<ChangeRow | undefined> {
  const [known] = await tx.select().from(changes).where(eq(changes.id, id))
  const isTaken = !known && (await tx.$count(registrations, eq(registrations.id, id))) > 0
  const isSame =
    known?.registrationId === registrationId &&
    known.kind === kind &&
    known.ownerId === (ownerId ?? null) &&
    (choiceId === undefined || known.quote.school?.choiceId === choiceId)
  if (isTaken || (known && !isSame)) throw new DomainError('id_reused', 'This id belongs to another change.')
  return known
}

export async function insertChange(
  tx: Transaction,
  { quoteId, terms }: ChangeQuote,
  change: Pick<ChangeRow, 'id' | 'ownerId' | 'status'> & Partial<Pick<ChangeRow, 'toClassSessionId' | 'heldUntil'>>,
  now: Temporal.Instant,
): Promise<ChangeRow> {
  const { kind, registrationId, lines } = terms
  const times = { createdAt: now, updatedAt: now }
  const row = { ...change, registrationId, kind, quote: terms, quoteId, seats: lines.length, ...times }
  const [inserted] = await tx.insert(changes).values(row).onConflictDoNothing().returning()
  // The registration is locked, so only a request about another one can have been faster.
  if (!inserted) throw new DomainError('id_reused', 'This id belongs to another change.')
  return inserted
}

/** What events say about a change that has happened. */
export async function changeFacts(
  tx: Transaction,
  registration: RegistrationRow,
  all: PlaceRow[],
  change: Pick<ChangeRow, 'id' | 'quote'>,
) {
  const ofRegistration = eq(changes.registrationId, registration.id)
  const paid = await findMovePayments(tx, registration.id)
  return {
    ...factsOf(registration),
    changeId: change.id,
    terms: change.quote,
    classes: await readClassesOf(tx, change.quote, all),
    number: await tx.$count(changes, and(ofRegistration, eq(changes.status, 'done'))),
    // What was paid last goes back first.
    paymentIds: [...paid, registration.paymentId].filter((id) => id !== null),
  }
}

async function readClassesOf(tx: Transaction, { from, to }: ChangeTerms, all: PlaceRow[]) {
  const some = [from, ...(to ? [to] : [])]
  const ids = some.map(({ classSessionId }) => classSessionId)
  const sessions = await tx.select().from(classSessions).where(inArray(classSessions.id, ids))
  return Promise.all(
    some.map(async (one) => {
      const session = sessions.find(({ id }) => id === one.classSessionId)
      if (!session) throw new Error(`The class session ${one.classSessionId} does not exist.`)
      const children = childrenOfPlaces(all.filter(({ classSessionId }) => classSessionId === session.id))
      return { ...one, children, ...(await readSchedule(tx, session)) }
    }),
  )
}

/**
 * Writes changed places, and makes their registration follow them: its children are those that have a seat, its class is where they
 * have it, or where the first of them has it if none is left in its former class. Without any child it is cancelled.
 * @returns the registration afterwards.
 */
export async function writePlaces(
  tx: Transaction,
  registration: RegistrationRow,
  all: PlaceRow[],
  now: Temporal.Instant,
): Promise<RegistrationRow> {
  for (const { id, ...place } of all) {
    if (!Temporal.Instant.compare(place.updatedAt, now)) await tx.update(places).set(place).where(eq(places.id, id))
  }
  const children = childrenOfPlaces(all)
  const seated = all.filter(({ status }) => status === 'seated')
  const isOver = seated.length === 0
  const stays = seated.some(({ classSessionId }) => classSessionId === registration.classSessionId)
  const [first] = seated
  const [moved] = isOver || stays || !first ? [] : await readClasses(tx, [first.classSessionId])
  const { id: classSessionId, ...theClass } = moved ?? { id: registration.classSessionId }
  const [updated] = await tx
    .update(registrations)
    .set({
      ...theClass,
      classSessionId,
      ...(isOver ? { status: 'cancelled' } : { children, seats: children.length }),
      updatedAt: now,
    })
    .where(eq(registrations.id, registration.id))
    .returning()
  if (!updated) throw new Error('The registration was not found.')
  if (isOver) await publish(tx, registrationCancelled, updated.id, { ...factsOf(updated), reason: 'requested' })
  return updated
}
