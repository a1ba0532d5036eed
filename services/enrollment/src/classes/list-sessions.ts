import type { ListedSession, Seasons } from '@robokids/contracts/enrollment'
import type { Context } from '@robokids/runtime/service'
import { and, asc, count, desc, eq, gt, max, min, sum } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { classSessions, seasons } from '../schema.ts'
import { classSessionNotFound, presentMeeting, readMeetings } from './meetings.ts'

export function presentSession(row: typeof classSessions.$inferSelect): ListedSession {
  const { id, season, classType, date, startTime, timeZone, capacity, held, sold, status } = row
  const { coachName, joinUrl, passcode } = row
  return {
    classSessionId: id,
    season,
    classType,
    date,
    startTime,
    timeZone,
    capacity,
    held,
    sold,
    status,
    coachName,
    joinUrl,
    passcode,
  }
}

/** Returns class sessions by date, for administrators. */
export async function listSessions(
  { all, season }: { all: boolean; season?: string | undefined },
  { db, clock }: Context<Config>,
): Promise<ListedSession[]> {
  const rows = await db
    .select()
    .from(classSessions)
    .where(
      and(
        all ? undefined : gt(classSessions.startsAt, clock.now()),
        season === undefined ? undefined : eq(classSessions.season, season),
      ),
    )
    .orderBy(asc(classSessions.startsAt), asc(classSessions.classType))
  return rows.map(presentSession)
}

/** Returns a class session with its meetings, for administrators. @throws DomainError `class_session_not_found` */
export async function readSession(id: string, { db }: Context<Config>): Promise<ListedSession> {
  const [row] = await db.select().from(classSessions).where(eq(classSessions.id, id))
  if (!row) throw classSessionNotFound()
  const meetings = (await readMeetings(db, [id])).get(id) ?? []
  return { ...presentSession(row), meetings: meetings.map(presentMeeting) }
}

/** Returns the seasons with their seats, newest first. */
export async function listSeasons({ db }: Context<Config>): Promise<Seasons['seasons']> {
  const { season, date, capacity, held, sold } = classSessions
  const rows = await db
    .select({
      season,
      openedOn: min(seasons.openedOn),
      firstDate: min(date),
      lastDate: max(date),
      sessions: count(),
      capacity: sum(capacity).mapWith(Number),
      held: sum(held).mapWith(Number),
      sold: sum(sold).mapWith(Number),
    })
    .from(classSessions)
    .leftJoin(seasons, eq(seasons.season, season))
    .groupBy(season)
    .orderBy(desc(min(date)))
  return rows.map((row) => ({ ...row, firstDate: row.firstDate ?? '', lastDate: row.lastDate ?? '' }))
}
