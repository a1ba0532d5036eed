import type { Database } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql, type SQL } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { lockClassSessions, serveLineOf } from '../registrations/lock-registration.ts'
import { isOffered } from '../rules.ts'
import { closeLine, endEntries, openEntriesOf } from './line.ts'
import { hoursUntilSetAside, hoursWithoutSettingAside } from './rules.ts'

/**
 * When the line of each class session is due: an offer ends, the class was cancelled or begins, a family is owed free seats, or
 * they are no longer set aside. Free seats behind which a family waits are due at once: that makes up for a process of the
 * previous version, which frees seats and knows no line.
 */
function dueLines(now: string): SQL {
  const hours = (count: number) => sql.raw(`interval '${count} hours'`)
  return sql`(
    select class_session_id, offer_ends_at as due_at from waitlist_entries where status = 'offered'
    union all
    select class_sessions.id, case when class_sessions.status = 'open' then starts_at else ${now}::timestamptz end
    from class_sessions
    where exists (
      select from waitlist_entries
      where class_session_id = class_sessions.id and status in ('waiting', 'offered')
    )
    union all
    select class_sessions.id, passed_over_since + ${hours(hoursUntilSetAside)}
    from waitlist_entries join class_sessions on class_sessions.id = class_session_id
    where waitlist_entries.status = 'waiting' and passed_over_since is not null and class_sessions.status = 'open'
      and set_aside = 0 and capacity - held - sold > 0 and seats <= capacity
      and passed_over_since + ${hours(hoursUntilSetAside)} < starts_at - ${hours(hoursWithoutSettingAside)}
      and starts_at - ${hours(hoursWithoutSettingAside)} > ${now}::timestamptz
    union all
    select id, starts_at - ${hours(hoursWithoutSettingAside)} from class_sessions where set_aside > 0
    union all
    select class_sessions.id, ${now}::timestamptz
    from waitlist_entries join class_sessions on class_sessions.id = class_session_id
    where waitlist_entries.status = 'waiting' and class_sessions.status = 'open'
      and seats <= capacity - held - sold - set_aside
      and starts_at - ${hours(2)} >= ${now}::timestamptz
  ) as due`
}

async function dueSessions(db: Database, now: string): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`select distinct class_session_id as id from ${dueLines(now)} where due_at <= ${now}::timestamptz order by id`,
  )
  return rows.map(({ id }) => id)
}

/** Ends offers and lines that are over and serves the lines that are due, one class session per transaction. */
export async function runLines({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  for (const id of await dueSessions(db, clock.now().toString())) {
    if (signal.aborted) return
    await db.transaction(async (tx) => {
      const [classSession] = await lockClassSessions(tx, [id])
      if (!classSession) return
      const now = clock.now()
      if (!isOffered(classSession, now)) {
        await closeLine(tx, id, classSession.status === 'open' ? 'class_started' : 'class_cancelled', now)
      }
      const over = (await openEntriesOf(tx, id)).filter(
        ({ status, offerEndsAt }) =>
          status === 'offered' && offerEndsAt !== null && Temporal.Instant.compare(offerEndsAt, now) <= 0,
      )
      if (over.length > 0) await endEntries(tx, id, over, 'expired', now)
      else await serveLineOf(tx, id, now, false)
    })
  }
}

/** When the next line is due. An offer lasts for at least an hour, so that none ends before the job looks again. */
export async function nextDueLine({ db, clock }: Context<Config>): Promise<Temporal.Instant | null> {
  const { rows } = await db.execute<{ at: string | null }>(
    sql`select to_json(min(due_at)) #>> '{}' as at from ${dueLines(clock.now().toString())}`,
  )
  const at = rows[0]?.at ?? null
  return at === null ? null : Temporal.Instant.from(at)
}
