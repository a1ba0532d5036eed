import type { Registration, RegistrationFacts } from '@robokids/contracts/enrollment'
import type { CloudEvent } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import { sql, type SQL } from 'drizzle-orm'
import type { Content } from './check-registration.ts'
import type { Requester } from '../rules.ts'

export interface Hold {
  content: Content
  hash: string
  requester: Requester
  separate: boolean
  replaces?: string | undefined
  network: string | undefined
  familyTimeZone: string | null
  children: Registration['children']
  now: string
  heldUntil: string
  event: CloudEvent
}

/** The facts that the statement itself looks up. */
export type HeldFacts = Pick<
  RegistrationFacts,
  'classSessionId' | 'levelTitle' | 'startTime' | 'durationMinutes' | 'timeZone' | 'ownerId'
>

/**
 * The statement that holds all requested seats or none, and inserts the registration and its event. The signed-in account owns
 * the registration, otherwise the account with its email.
 * @param provided an additional condition.
 */
export function holdStatement(hold: Hold, provided: SQL = sql`true`): SQL {
  const { content, hash, requester, separate, replaces = null, network = null, familyTimeZone } = hold
  const { children, now, heldUntil, event } = hold
  const seats = children.length
  const key = emailKey(content.email)
  return sql`
  with class_session as (
    update class_sessions set held = held + ${seats}
    where class_type = ${content.classType} and date = ${content.startDate}
      and status = 'open' and starts_at > ${now} and held + sold + set_aside + ${seats} <= capacity
      and not exists (select from registrations where id = ${content.id}) and (${provided})
    returning *
  ), fact as (
    select class_session.id, start_time, duration_minutes, time_zone, levels.title as level_title, coalesce(
        (select asked.id from (select ${requester.ownerId}::uuid as id) as asked
          where not exists (select from accounts where user_id = asked.id and deleted)),
        (select user_id from accounts where email_key = ${key} order by user_id limit 1)
      ) as owner_id
    from class_session join levels using (class_type)
  ), registration as (
    insert into registrations (
      id, content_hash, owner_id, asked_owner_id, browser_id, asked_at, separate, replaces,
      guardian_name, email, email_key, children, seats,
      address_line1, address_line2, city, state, zip_code,
      class_session_id, class_type, level_title, start_date, start_time, duration_minutes, time_zone, family_time_zone,
      status, held_until, held_since, opened_at, network, created_at, updated_at
    )
    select ${content.id}::uuid, ${hash}::text, owner_id, ${requester.ownerId}::uuid, ${requester.browserId}::uuid, ${event.time}::timestamptz, ${separate}::boolean, ${replaces}::uuid,
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
