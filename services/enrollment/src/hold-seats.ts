import {
  registrationHeld,
  type HoldSeats,
  type Registration,
  type RegistrationFacts,
} from '@robokids/contracts/enrollment'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import { runPrepared, type Database, type Transaction } from '@robokids/runtime/db'
import { sqlState } from '@robokids/runtime/errors'
import { newEvent } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq, sql, type SQL } from 'drizzle-orm'
import type { Config } from './config.ts'
import { letGo } from './end-hold.ts'
import {
  addressOf,
  childrenOf,
  contentHash,
  idReused,
  judgeRegistration,
  partsOf,
  sessionOf,
  type Content,
} from './judge-registration.ts'
import { isoTime, readRegistration } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered, refuseOneChildTwice, type Asker } from './rules.ts'
import { classSessions, registrations } from './schema.ts'
import { tellFamilies } from './tell-families.ts'
import { lockUnpaid, refuseTooMany } from './unpaid-seats.ts'

/** What only the statement finds out. */
type Found = Pick<
  RegistrationFacts,
  'classSessionId' | 'levelTitle' | 'startTime' | 'durationMinutes' | 'timeZone' | 'ownerId'
>

const uniqueViolation = '23505'

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
  if (known) throw idReused()
  const [session] = await db.select().from(classSessions).where(sessionOf(content))
  if (!session || !isOffered(session, now)) throw classNotOffered()
  throw classFull()
}

/**
 * Lets the seats of a replaced registration go for those of the new one, where they are of the same session. Those of
 * another one are kept until the new one has a payment page: should there be none, the family can go back. Locks as
 * everybody does, the registration before its session.
 */
async function makeRoom(tx: Transaction, content: Content, replaced: string, now: Temporal.Instant): Promise<void> {
  const [old] = await tx.select().from(registrations).where(eq(registrations.id, replaced)).for('no key update')
  if (old?.status !== 'held') return
  const [session] = await tx.select({ id: classSessions.id }).from(classSessions).where(sessionOf(content))
  if (session?.id === old.classSessionId) await letGo(tx, [old], now)
}

/**
 * Holds seats for all children of a registration, or for none. The same request again is answered with what became of
 * the registration since. One statement, so that the session's row, which all its buyers wait for, is locked for the
 * shortest time there is.
 * @throws DomainError `class_full`, `class_not_offered`, `id_reused`, `already_registered`, `already_paid`, `too_many_unpaid`
 */
export async function holdSeats(request: HoldSeats, context: Context<Config>): Promise<Registration> {
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
  const isOne = replaces === undefined && !unlessRegistered
  const hold = {
    content,
    hash,
    children: requested.children,
    asker,
    separate: isOne,
    network,
    familyTimeZone,
    now,
    heldUntil,
    event,
  }
  const held = ([found]: Found[]): Registration | undefined =>
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
    }

  try {
    if (isOne && isOpened) {
      const rows = await runPrepared<Found>(context.db, 'hold_seats', holdStatement(hold))
      return held(rows) ?? (await explain(context.db, content, hash, instant))
    }
    return await context.db.transaction(async (tx) => {
      await lockUnpaid(tx, applicant)
      const { standing, replaced, hidden } = await judgeRegistration(tx, request, instant)
      if (standing !== undefined) return readRegistration(tx, standing)
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

interface Hold {
  content: Content
  hash: string
  asker: Asker
  separate: boolean
  replaces?: string | undefined
  network: string | undefined
  familyTimeZone: string | null
  children: Registration['children']
  now: string
  heldUntil: string
  event: CloudEvent
}

/** The statement by which seats are held. Who is signed in owns the registration, else the account that has the address. */
function holdStatement(hold: Hold): SQL {
  const { content, hash, asker, separate, replaces = null, network = null, familyTimeZone } = hold
  const { children, now, heldUntil, event } = hold
  const seats = children.length
  const key = emailKey(content.email)
  return sql`
  with session as (
    update class_sessions set held = held + ${seats}
    where class_type = ${content.classType} and date = ${content.startDate}
      and status = 'open' and starts_at > ${now} and held + sold + ${seats} <= capacity
      and not exists (select from registrations where id = ${content.id})
    returning *
  ), fact as (
    select session.id, start_time, duration_minutes, time_zone, levels.title as level_title, coalesce(
        (select asked.id from (select ${asker.ownerId}::uuid as id) as asked
          where not exists (select from accounts where user_id = asked.id and deleted)),
        (select user_id from accounts where email_key = ${key} order by user_id limit 1)
      ) as owner_id
    from session join levels using (class_type)
  ), registration as (
    insert into registrations (
      id, content_hash, owner_id, asked_owner_id, browser_id, asked_at, separate, replaces,
      guardian_name, email, email_key, children, seats,
      address_line1, address_line2, city, state, zip_code,
      class_session_id, class_type, level_title, start_date, start_time, duration_minutes, time_zone, family_time_zone,
      status, held_until, held_since, opened_at, network, created_at, updated_at
    )
    select ${content.id}::uuid, ${hash}::text, owner_id, ${asker.ownerId}::uuid, ${asker.browserId}::uuid, ${event.time}::timestamptz, ${separate}::boolean, ${replaces}::uuid,
      ${content.guardianName}::text, ${content.email}::text, ${key}::text,
      ${JSON.stringify(children)}::jsonb, ${seats}::int,
      ${content.addressLine1}::text, ${content.addressLine2}::text, ${content.city}::text, ${content.state}::text, ${content.zipCode}::text,
      id, ${content.classType}::text, level_title, ${content.startDate}::date, start_time, duration_minutes, time_zone, ${familyTimeZone}::text,
      'held', ${heldUntil}::timestamptz, ${event.time}::timestamptz,
      ${network === null ? now : null}::timestamptz, ${network}::text, ${now}::timestamptz, ${now}::timestamptz
    from fact
  ), event as (
    insert into outbox (id, type, envelope)
    select ${event.id}::uuid, ${event.type}::text,
      jsonb_set(${JSON.stringify(event)}::jsonb, '{data}', ${JSON.stringify(event.data)}::jsonb || jsonb_build_object(
        'classSessionId', id, 'levelTitle', level_title, 'startTime', start_time,
        'durationMinutes', duration_minutes, 'timeZone', time_zone, 'ownerId', owner_id
      ))
    from fact
  )
  select id as "classSessionId", level_title as "levelTitle", start_time as "startTime",
    duration_minutes as "durationMinutes", time_zone as "timeZone", owner_id as "ownerId"
  from fact`
}
