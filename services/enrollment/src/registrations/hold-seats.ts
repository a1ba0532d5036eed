import {
  registrationHeld,
  type HeldRegistration,
  type HoldSeats,
  type RegistrationFacts,
} from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { runTogether, type Database, type Transaction } from '@robokids/runtime/db'
import { sqlState } from '@robokids/runtime/errors'
import { newEvent } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { endHolds } from './end-hold.ts'
import { holdStatement, type HeldFacts } from './hold-statement.ts'
import {
  addressOf,
  childrenOf,
  contentHash,
  idReused,
  checkAgainstFamily,
  partsOf,
  type Content,
} from './check-registration.ts'
import { classSessionOf } from './lock-registration.ts'
import { lockStatement, hasActive } from './lock-family.ts'
import { serveLineOf } from './lock-registration.ts'
import { isoTime } from '../iso-time.ts'
import { readRegistration } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, checkDuplicateChildren, seatsLeft } from '../rules.ts'
import { classSessions, registrations } from '../schema.ts'
import { notifyFamilies } from './notify-families.ts'
import { hasRoom, lockUnpaid, checkUnpaidSeats, unpaidLockNames } from './unpaid-seats.ts'

const uniqueViolation = '23505'

/** Returns the existing registration if the request repeats one; otherwise throws the reason why nothing was held. */
async function findExistingOrThrow(
  db: Database | Transaction,
  content: Content,
  hash: string,
  now: Temporal.Instant,
): Promise<HeldRegistration> {
  const [known] = await db
    .select({ contentHash: registrations.contentHash })
    .from(registrations)
    .where(eq(registrations.id, content.id))
  if (known?.contentHash === hash) return { ...(await readRegistration(db, content.id)), isNew: false }
  if (known) throw idReused()
  const [classSession] = await db.select().from(classSessions).where(classSessionOf(content))
  if (!classSession || !isOffered(classSession, now)) throw classNotOffered()
  throw classFull()
}

/**
 * Rejects, without locks, a request that held nothing only because of the class: when two hundred parents want the last seats,
 * nearly all of them get this response. Returns if the family's other registrations have to be checked.
 * @param isClear the condition of the statement that held nothing.
 * @throws DomainError `class_full`, `class_not_offered`
 */
async function checkAvailability(db: Database, content: Content, seats: number, isClear: SQL, now: Temporal.Instant) {
  const [classSession] = await db
    .select({
      ...getTableColumns(classSessions),
      isClear: sql<boolean>`not exists (select from registrations where id = ${content.id}) and ${isClear}`,
    })
    .from(classSessions)
    .where(classSessionOf(content))
  if (!classSession?.isClear) return
  if (!isOffered(classSession, now)) throw classNotOffered()
  if (seatsLeft(classSession) < seats) throw classFull()
}

/**
 * Releases the seats of the replaced registration if the new one is for the same session. Otherwise they are kept until the
 * new one has a payment page, so that the family can go back if that fails. Locks the registration before its session, as
 * everywhere.
 * @returns the class session in which seats are free now. They are offered to its waitlist only once the new one has its own.
 */
async function releaseReplaced(
  tx: Transaction,
  content: Content,
  replaced: string,
  now: Temporal.Instant,
): Promise<string[]> {
  const [old] = await tx.select().from(registrations).where(eq(registrations.id, replaced)).for('no key update')
  if (old?.status !== 'held') return []
  const [classSession] = await tx.select({ id: classSessions.id }).from(classSessions).where(classSessionOf(content))
  return classSession?.id === old.classSessionId ? endHolds(tx, [old], now) : []
}

/**
 * Holds seats for all children of a registration, or for none. Repeating a request returns the registration's current state.
 * The usual case, a family with no registration for that class and date that replaces none, takes one round trip: a statement
 * that takes the locks, and one that checks the conditions and holds the seats. All other cases are checked first. Either way
 * a single, last statement holds the seats, so that the class session's row, which all its buyers wait for, is locked as
 * briefly as possible.
 * @throws DomainError `class_full`, `class_not_offered`, `id_reused`, `already_registered`, `already_paid`, `too_many_unpaid`
 */
export async function holdSeats(request: HoldSeats, context: Context<Config>): Promise<HeldRegistration> {
  const { content, requester, network, replaces, unlessRegistered, familyTimeZone } = partsOf(request)
  checkDuplicateChildren(childrenOf(content))
  const applicant = { ...requester, network }
  const hash = contentHash(content)
  const instant = context.clock.now()
  const now = isoTime(instant)
  // A BFF of the previous version sends no network, and does not report when the payment page is opened.
  const { HOLD_MINUTES, UNOPENED_HOLD_MINUTES } = context.config
  const isOpened = network === undefined
  const heldUntil = isoTime(instant.add({ minutes: isOpened ? HOLD_MINUTES : UNOPENED_HOLD_MINUTES }))
  const requested = {
    registrationId: content.id,
    guardianName: content.guardianName,
    email: content.email,
    children: childrenOf(content),
    address: addressOf(content),
    classType: content.classType,
    startDate: content.startDate,
    familyTimeZone,
  } satisfies Omit<RegistrationFacts, keyof HeldFacts>
  // The statement adds `HeldFacts`.
  const event = newEvent(registrationHeld as EventDefinition, content.id, { ...requested, heldUntil })
  const hold = {
    content,
    hash,
    children: requested.children,
    requester,
    separate: replaces === undefined && !unlessRegistered,
    network,
    familyTimeZone,
    now,
    heldUntil,
    event,
  }
  const held = ([found]: HeldFacts[]): HeldRegistration | undefined =>
    found && {
      ...requested,
      ...found,
      status: 'held',
      heldUntil,
      pageOpened: isOpened,
      rejectionReason: null,
      places: [],
      payment: null,
      waiver: null,
      kit: null,
      createdAt: now,
      updatedAt: now,
      isNew: true,
    }

  try {
    if (replaces === undefined) {
      const family = { email: content.email, ownerId: requester.ownerId }
      const isClear = sql`not (${unlessRegistered}::boolean and ${hasActive(family, content)})
        and ${hasRoom(applicant, requested.children.length, context.config)}`
      const registration = held(
        await runTogether<HeldFacts>(context.db, {
          lock_unpaid_and_family: lockStatement(unpaidLockNames(applicant), family),
          hold_seats: holdStatement(hold, isClear),
        }),
      )
      if (registration) return registration
      await checkAvailability(context.db, content, requested.children.length, isClear, instant)
    }
    return await context.db.transaction(async (tx) => {
      await lockUnpaid(tx, applicant)
      const { existingId, replaced, hidden } = await checkAgainstFamily(tx, request, instant)
      if (existingId !== undefined) return { ...(await readRegistration(tx, existingId)), isNew: false }
      const isNew = (await tx.$count(registrations, eq(registrations.id, content.id))) === 0
      if (isNew)
        await checkUnpaidSeats(tx, applicant, requested.children.length, context, replaced ? [replaced.id] : [])
      const freedIn = replaced ? await releaseReplaced(tx, content, replaced.id, instant) : []
      const { rows } = await tx.execute<HeldFacts & Record<string, unknown>>(
        holdStatement({ ...hold, replaces: replaced?.id }),
      )
      // If it throws, the transaction also rolls back the released seats.
      const registration = held(rows) ?? (await findExistingOrThrow(tx, content, hash, instant))
      for (const classSessionId of freedIn) await serveLineOf(tx, classSessionId, instant)
      if (rows.length > 0) await notifyFamilies(tx, hidden, 'seat')
      return registration
    })
  } catch (error) {
    // A concurrent identical request was first.
    if (sqlState(error) === uniqueViolation) return findExistingOrThrow(context.db, content, hash, instant)
    throw error
  }
}
