import { createHash } from 'node:crypto'
import {
  registrationHeld,
  type Registration,
  type RegistrationFacts,
  type RegistrationRequest,
} from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import { runPrepared } from '@robokids/runtime/db'
import { DomainError, sqlState } from '@robokids/runtime/errors'
import { newEvent } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { isoTime, readRegistration } from './read-registrations.ts'
import { classFull, classNotOffered, isOffered } from './rules.ts'
import { classSessions, registrations } from './schema.ts'

/** What only the session's row knows. */
type SessionFacts = Pick<
  RegistrationFacts,
  'classSessionId' | 'levelTitle' | 'startTime' | 'durationMinutes' | 'timeZone'
>

const uniqueViolation = '23505'

/** Parsing has put the fields into one order and filled in what was left out. */
function contentHash(request: RegistrationRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

/** Why nothing was held: the id is known, the class is not on sale, or it is full. */
async function explain(request: RegistrationRequest, hash: string, context: Context<Config>): Promise<Registration> {
  const [known] = await context.db
    .select({ contentHash: registrations.contentHash })
    .from(registrations)
    .where(eq(registrations.id, request.id))
  if (known?.contentHash === hash) return readRegistration(context.db, request.id)
  if (known) throw new DomainError('id_reused', 'This id belongs to another registration.')
  const [session] = await context.db
    .select()
    .from(classSessions)
    .where(and(eq(classSessions.classType, request.classType), eq(classSessions.date, request.startDate)))
  if (!session || !isOffered(session, context.clock.now())) throw classNotOffered()
  throw classFull()
}

/**
 * Holds seats for all children of a registration, or for none. The same request again is answered with what became of
 * the registration since. One statement, so that the session's row, which all its buyers wait for, is locked for the
 * shortest time there is.
 * @throws DomainError `class_full`, `class_not_offered`, `id_reused`
 */
export async function holdSeats(request: RegistrationRequest, context: Context<Config>): Promise<Registration> {
  const hash = contentHash(request)
  const seats = 1 + request.siblings.length
  const instant = context.clock.now()
  const now = isoTime(instant)
  const heldUntil = isoTime(instant.add({ minutes: context.config.HOLD_MINUTES }))
  const requested = {
    registrationId: request.id,
    guardianName: request.guardianName,
    email: request.email,
    children: [{ childName: request.childName, childAge: request.childAge }, ...request.siblings],
    address: {
      addressLine1: request.addressLine1,
      addressLine2: request.addressLine2,
      city: request.city,
      state: request.state,
      zipCode: request.zipCode,
    },
    classType: request.classType,
    startDate: request.startDate,
  } satisfies Omit<RegistrationFacts, keyof SessionFacts>
  // Without the session's facts: the statement adds them.
  const event = newEvent(registrationHeld as EventDefinition, request.id, { ...requested, heldUntil })

  const rows = await runPrepared(
    context.db,
    (prepared) => prepared<SessionFacts[]>`
      with session as (
        update class_sessions set held = held + ${seats}
        where class_type = ${request.classType} and date = ${request.startDate}
          and status = 'open' and starts_at > ${now} and held + sold + ${seats} <= capacity
          and not exists (select from registrations where id = ${request.id})
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
        select ${request.id}::uuid, ${hash}::text, ${request.guardianName}::text, ${request.email}::text, ${emailKey(request.email)}::text,
          ${JSON.stringify(requested.children)}::jsonb, ${seats}::int,
          ${request.addressLine1}::text, ${request.addressLine2}::text, ${request.city}::text, ${request.state}::text, ${request.zipCode}::text,
          id, ${request.classType}::text, level_title, ${request.startDate}::date, start_time, duration_minutes, time_zone,
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
      from fact`,
  ).catch((error: unknown) => {
    // The same request at the same time: the other one was first.
    if (sqlState(error) === uniqueViolation) return []
    throw error
  })
  const [session] = rows
  if (!session) return explain(request, hash, context)
  return {
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
}
