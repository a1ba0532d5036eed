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
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import { holdStatement, type Found } from './hold-statement.ts'
import {
  addressOf,
  childrenOf,
  contentHash,
  idReused,
  judgeRegistration,
  partsOf,
  classSessionOf,
  type Content,
} from './judge-registration.ts'
import { lockStatement, standsFor } from './lock-family.ts'
import { isoTime, readRegistration } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, refuseOneChildTwice, seatsLeft } from './rules.ts'
import { classSessions, registrations } from './schema.ts'
import { tellFamilies } from './tell-families.ts'
import { hasRoom, lockUnpaid, refuseTooMany, unpaidNames } from './unpaid-seats.ts'

const uniqueViolation = '23505'

/** Why nothing was held: the id is known, the class is not on sale, or it is full. */
async function explain(
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
 * Rejects a request that held nothing only because of the class, without locks: of two hundred parents who want the last seats,
 * nearly all get this response. Returns if the family has to be judged.
 * @param isClear the condition of the statement that held nothing.
 * @throws DomainError `class_full`, `class_not_offered`
 */
async function refuseUnheld(db: Database, content: Content, seats: number, isClear: SQL, now: Temporal.Instant) {
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
 * Lets the seats of a replaced registration go for those of the new one, where they are of the same session. Those of
 * another one are kept until the new one has a payment page: should there be none, the family can go back. Locks as
 * everybody does, the registration before its session.
 */
async function makeRoom(tx: Transaction, content: Content, replaced: string, now: Temporal.Instant): Promise<void> {
  const [old] = await tx.select().from(registrations).where(eq(registrations.id, replaced)).for('no key update')
  if (old?.status !== 'held') return
  const [classSession] = await tx.select({ id: classSessions.id }).from(classSessions).where(classSessionOf(content))
  if (classSession?.id === old.classSessionId) await letGo(tx, [old], now)
}

/**
 * Holds seats for all children of a registration, or for none. The same request again is answered with what became of
 * the registration since. Nearly always a family has nothing of that class and date, and replaces nothing: then one
 * statement takes its locks, and the next one, sent with it, finds that so and holds. Everything else is judged first. Either way
 * one statement holds, and is the last one, so that the class session's row, which all its buyers wait for, is locked for the
 * shortest time there is.
 * @throws DomainError `class_full`, `class_not_offered`, `id_reused`, `already_registered`, `already_paid`, `too_many_unpaid`
 */
export async function holdSeats(request: HoldSeats, context: Context<Config>): Promise<HeldRegistration> {
  const { content, asker, network, replaces, unlessRegistered, familyTimeZone } = partsOf(request)
  refuseOneChildTwice(childrenOf(content))
  const applicant = { ...asker, network }
  const hash = contentHash(content)
  const instant = context.clock.now()
  const now = isoTime(instant)
  // Until its payment page is opened, where the BFF is one that tells of that.
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
  } satisfies Omit<RegistrationFacts, keyof Found>
  // Without what the statement finds out: it adds that.
  const event = newEvent(registrationHeld as EventDefinition, content.id, { ...requested, heldUntil })
  const hold = {
    content,
    hash,
    children: requested.children,
    asker,
    separate: replaces === undefined && !unlessRegistered,
    network,
    familyTimeZone,
    now,
    heldUntil,
    event,
  }
  const held = ([found]: Found[]): HeldRegistration | undefined =>
    found && {
      ...requested,
      ...found,
      status: 'held',
      heldUntil,
      pageOpened: isOpened,
      rejectionReason: null,
      payment: null,
      waiver: null,
      kit: null,
      createdAt: now,
      updatedAt: now,
      isNew: true,
    }

  try {
    if (replaces === undefined) {
      const family = { email: content.email, ownerId: asker.ownerId }
      const isClear = sql`not (${unlessRegistered}::boolean and ${standsFor(family, content)})
        and ${hasRoom(applicant, requested.children.length, context.config)}`
      const registration = held(
        await runTogether<Found>(context.db, {
          lock_unpaid_and_family: lockStatement(unpaidNames(applicant), family),
          hold_seats: holdStatement(hold, isClear),
        }),
      )
      if (registration) return registration
      await refuseUnheld(context.db, content, requested.children.length, isClear, instant)
    }
    return await context.db.transaction(async (tx) => {
      await lockUnpaid(tx, applicant)
      const { standing, replaced, hidden } = await judgeRegistration(tx, request, instant)
      if (standing !== undefined) return { ...(await readRegistration(tx, standing)), isNew: false }
      const isNew = (await tx.$count(registrations, eq(registrations.id, content.id))) === 0
      if (isNew) await refuseTooMany(tx, applicant, requested.children.length, context, replaced ? [replaced.id] : [])
      if (replaced) await makeRoom(tx, content, replaced.id, instant)
      const { rows } = await tx.execute<Found & Record<string, unknown>>(
        holdStatement({ ...hold, replaces: replaced?.id }),
      )
      // Thrown, it takes what was let go back.
      const registration = held(rows) ?? (await explain(tx, content, hash, instant))
      if (rows.length > 0) await tellFamilies(tx, hidden, 'seat')
      return registration
    })
  } catch (error) {
    // The same request at the same time: the other one was first.
    if (sqlState(error) === uniqueViolation) return explain(context.db, content, hash, instant)
    throw error
  }
}
