import { createHash } from 'node:crypto'
import {
  registrationHeld,
  type Registration,
  type RegistrationFacts,
  type RegistrationRequest,
} from '@robokids/contracts/enrollment'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import { runPrepared, type Database, type Transaction } from '@robokids/runtime/db'
import { DomainError, sqlState } from '@robokids/runtime/errors'
import { newEvent } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, inArray, ne, sql, type SQL } from 'drizzle-orm'
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import { factsOf, isoTime, readRegistration } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, judgeStanding } from './rules.ts'
import { classSessions, registrations } from './schema.ts'

/** What only the session's row knows. */
type SessionFacts = Pick<
  RegistrationFacts,
  'classSessionId' | 'levelTitle' | 'startTime' | 'durationMinutes' | 'timeZone'
>

const uniqueViolation = '23505'

/** What a registration says, apart from how it is asked for. */
type Content = Omit<RegistrationRequest, 'replaces' | 'unlessRegistered'>

/** Parsing has put the fields into one order and filled in what was left out. */
function contentHash(content: Content): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** Why nothing was held: the id is known, the class is not on sale, or it is full. */
async function explain(
  db: Database | Transaction,
  content: Content,
  hash: string,
  now: Temporal.Instant,
): Promise<Registration> {
  const [known] = await db
    .select({ contentHash: registrations.contentHash })
    .from(registrations)
    .where(eq(registrations.id, content.id))
  if (known?.contentHash === hash) return readRegistration(db, content.id)
  if (known) throw new DomainError('id_reused', 'This id belongs to another registration.')
  const [session] = await db.select().from(classSessions).where(sessionOf(content))
  if (!session || !isOffered(session, now)) throw classNotOffered()
  throw classFull()
}

function sessionOf({ classType, startDate }: Pick<Content, 'classType' | 'startDate'>) {
  return and(eq(classSessions.classType, classType), eq(classSessions.date, startDate))
}

/**
 * The id of a registration that stands and says the very same.
 * @throws DomainError `already_registered` where one of the children has a seat by another one.
 */
async function findStanding(
  tx: Transaction,
  content: Content,
  children: Registration['children'],
  { replaces, now }: { replaces: string | undefined; now: Temporal.Instant },
): Promise<string | undefined> {
  const { email, classType, startDate } = content
  const key = emailKey(email)
  // One at a time of what could be the same: two that look at once would both find nothing.
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`${key} ${classType} ${startDate}`}, 0))`)
  const rows = await tx
    .select()
    .from(registrations)
    .where(
      and(
        eq(registrations.emailKey, key),
        eq(registrations.classType, classType),
        eq(registrations.startDate, startDate),
        inArray(registrations.status, ['held', 'confirmed', 'waiver_signed']),
        ne(registrations.id, content.id),
      ),
    )
    .orderBy(asc(registrations.createdAt), asc(registrations.id))
  const standing = rows
    .filter((row) => row.id !== replaces || row.status !== 'held')
    .map((row) => ({ ...factsOf(row), status: row.status, heldUntil: row.heldUntil }))
  return judgeStanding(standing, { ...content, children, address: content }, now)
}

/**
 * Lets the seats of an unpaid registration go for those of the new one. Locks as everybody does, the registration before
 * its session; and the sessions of both in one order.
 */
async function replace(tx: Transaction, content: Content, replaced: string, now: Temporal.Instant): Promise<void> {
  const [old] = await tx.select().from(registrations).where(eq(registrations.id, replaced)).for('no key update')
  if (old?.status !== 'held') return
  const [session] = await tx.select({ id: classSessions.id }).from(classSessions).where(sessionOf(content))
  const both = session ? [old.classSessionId, session.id] : [old.classSessionId]
  await tx
    .select({ id: classSessions.id })
    .from(classSessions)
    .where(inArray(classSessions.id, both))
    .orderBy(asc(classSessions.id))
    .for('no key update')
  await letGo(tx, [old], now)
}

/**
 * Holds seats for all children of a registration, or for none. The same request again is answered with what became of
 * the registration since. One statement, so that the session's row, which all its buyers wait for, is locked for the
 * shortest time there is.
 * @throws DomainError `class_full`, `class_not_offered`, `id_reused`, `already_registered`
 */
export async function holdSeats(request: RegistrationRequest, context: Context<Config>): Promise<Registration> {
  const { replaces, unlessRegistered = false, ...content } = request
  const hash = contentHash(content)
  const seats = 1 + content.siblings.length
  const instant = context.clock.now()
  const now = isoTime(instant)
  const heldUntil = isoTime(instant.add({ minutes: context.config.HOLD_MINUTES }))
  const requested = {
    registrationId: content.id,
    guardianName: content.guardianName,
    email: content.email,
    children: [{ childName: content.childName, childAge: content.childAge }, ...content.siblings],
    address: {
      addressLine1: content.addressLine1,
      addressLine2: content.addressLine2,
      city: content.city,
      state: content.state,
      zipCode: content.zipCode,
    },
    classType: content.classType,
    startDate: content.startDate,
  } satisfies Omit<RegistrationFacts, keyof SessionFacts>
  // Without the session's facts: the statement adds them.
  const event = newEvent(registrationHeld as EventDefinition, content.id, { ...requested, heldUntil })
  const hold = { content, hash, seats, children: requested.children, now, heldUntil, event }
  const held = ([session]: SessionFacts[]): Registration | undefined =>
    session && {
      ...requested,
      ...session,
      status: 'held',
      heldUntil,
      rejectionReason: null,
      payment: null,
      waiver: null,
      kit: null,
      createdAt: now,
      updatedAt: now,
    }

  try {
    if (replaces === undefined && !unlessRegistered) {
      const rows = await runPrepared<SessionFacts>(context.db, 'hold_seats', holdStatement(hold))
      return held(rows) ?? (await explain(context.db, content, hash, instant))
    }
    return await context.db.transaction(async (tx) => {
      const standing = unlessRegistered
        ? await findStanding(tx, content, requested.children, { replaces, now: instant })
        : undefined
      if (standing !== undefined) return readRegistration(tx, standing)
      if (replaces !== undefined && replaces !== content.id) await replace(tx, content, replaces, instant)
      const { rows } = await tx.execute<SessionFacts & Record<string, unknown>>(holdStatement(hold))
      // Thrown, it takes what was let go back.
      return held(rows) ?? (await explain(tx, content, hash, instant))
    })
  } catch (error) {
    // The same request at the same time: the other one was first.
    if (sqlState(error) === uniqueViolation) return explain(context.db, content, hash, instant)
    throw error
  }
}

interface Hold {
  content: Content
  hash: string
  seats: number
  children: Registration['children']
  now: string
  heldUntil: string
  event: CloudEvent
}

/** The statement by which seats are held. */
function holdStatement({ content, hash, seats, children, now, heldUntil, event }: Hold): SQL {
  return sql`
  with session as (
    update class_sessions set held = held + ${seats}
    where class_type = ${content.classType} and date = ${content.startDate}
      and status = 'open' and starts_at > ${now} and held + sold + ${seats} <= capacity
      and not exists (select from registrations where id = ${content.id})
    returning *
  ), fact as (
    select session.id, start_time, duration_minutes, time_zone, levels.title as level_title
    from session join levels using (class_type)
  ), registration as (
    insert into registrations (
      id, content_hash, guardian_name, email, email_key, children, seats,
      address_line1, address_line2, city, state, zip_code,
      class_session_id, class_type, level_title, start_date, start_time, duration_minutes, time_zone,
      status, held_until, held_since, created_at, updated_at
    )
    select ${content.id}::uuid, ${hash}::text, ${content.guardianName}::text, ${content.email}::text, ${emailKey(content.email)}::text,
      ${JSON.stringify(children)}::jsonb, ${seats}::int,
      ${content.addressLine1}::text, ${content.addressLine2}::text, ${content.city}::text, ${content.state}::text, ${content.zipCode}::text,
      id, ${content.classType}::text, level_title, ${content.startDate}::date, start_time, duration_minutes, time_zone,
      'held', ${heldUntil}::timestamptz, ${event.time}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
    from fact
  ), event as (
    insert into outbox (id, type, envelope)
    select ${event.id}::uuid, ${event.type}::text,
      jsonb_set(${JSON.stringify(event)}::jsonb, '{data}', ${JSON.stringify(event.data)}::jsonb || jsonb_build_object(
        'classSessionId', id, 'levelTitle', level_title, 'startTime', start_time,
        'durationMinutes', duration_minutes, 'timeZone', time_zone
      ))
    from fact
  )
  select id as "classSessionId", level_title as "levelTitle", start_time as "startTime",
    duration_minutes as "durationMinutes", time_zone as "timeZone"
  from fact`
}
