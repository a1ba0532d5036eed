import { randomUUIDv7 } from 'node:crypto'
import { classTimeZone } from '@robokids/contracts/class-date'
import { classTypes, seasonOpened, type ListedSession } from '@robokids/contracts/enrollment'
import { upcomingSeason } from '@robokids/contracts/season'
import type { Clock } from '@robokids/runtime/clock'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import { and, asc, eq, gte, inArray, like, sql } from 'drizzle-orm'
import { presentSession } from './list-sessions.ts'
import { addMeetings } from './meetings.ts'
import { classSessions, seasons } from '../schema.ts'

const startTime = '16:00'

export function sessionRows(season: string, dates: string[]): (typeof classSessions.$inferInsert)[] {
  return dates.flatMap((date) => {
    const startsAt = Temporal.PlainDate.from(date)
      .toZonedDateTime({ timeZone: classTimeZone, plainTime: Temporal.PlainTime.from(startTime) })
      .toInstant()
    return classTypes.map((classType) => ({
      id: randomUUIDv7(),
      season,
      classType,
      date,
      startTime,
      durationMinutes: 75,
      timeZone: classTimeZone,
      startsAt,
      capacity: 10,
    }))
  })
}

const opened = 'opened-'

const today = (clock: Clock) => clock.now().toZonedDateTimeISO(classTimeZone).toPlainDate().toString()

/** One process at a time. */
const lock = (tx: Transaction) => tx.execute(sql`select pg_advisory_xact_lock(hashtext('open_season'))`)

/**
 * Opens and publishes a season on these dates, for an administrator.
 * @throws DomainError `validation_failed`, `season_exists`, `class_session_exists`
 */
export async function openSeasonOn(tx: Transaction, clock: Clock, classDates: string[]): Promise<ListedSession[]> {
  await lock(tx)
  const past = classDates.find((date) => date <= today(clock))
  if (past !== undefined) throw new DomainError('validation_failed', `${past} is not in the future.`)
  const season = `${opened}${today(clock)}`
  if ((await tx.$count(classSessions, eq(classSessions.season, season))) > 0)
    throw new DomainError('season_exists', 'A season was opened today already.')
  const dates = [...new Set(classDates)]
  const [known] = await tx.select().from(classSessions).where(inArray(classSessions.date, dates)).limit(1)
  if (known) throw new DomainError('class_session_exists', `There are classes on ${known.date} already.`)
  const rows = await tx.insert(classSessions).values(sessionRows(season, dates)).returning()
  await addMeetings(tx, clock.now())
  await publishComing(tx, clock)
  return rows.map(presentSession)
}

/**
 * Opens a new season if every class date has passed, and publishes it. Also publishes a coming season that was opened before
 * `season.opened` existed. Safe to repeat and to run concurrently.
 */
export async function openSeason(tx: Transaction, clock: Clock): Promise<void> {
  await lock(tx)
  if ((await tx.$count(classSessions, isComing(clock))) === 0) {
    await tx
      .insert(classSessions)
      .values(sessionRows(`${opened}${today(clock)}`, upcomingSeason(today(clock))))
      .onConflictDoNothing()
  }
  await addMeetings(tx, clock.now())
  await publishComing(tx, clock)
}

const isComing = (clock: Clock) => gte(classSessions.date, today(clock))

/** Publishes the coming seasons that were not published yet. */
async function publishComing(tx: Transaction, clock: Clock): Promise<void> {
  const coming = await tx
    .selectDistinct({ season: classSessions.season })
    .from(classSessions)
    .where(and(isComing(clock), like(classSessions.season, `${opened}____-__-__`)))
    .orderBy(asc(classSessions.season))
  for (const { season } of coming) {
    const openedOn = season.slice(opened.length)
    const unpublished = await tx.insert(seasons).values({ season, openedOn }).onConflictDoNothing().returning()
    if (unpublished.length === 0) continue
    const days = await tx
      .selectDistinct({ date: classSessions.date })
      .from(classSessions)
      .where(eq(classSessions.season, season))
      .orderBy(asc(classSessions.date))
    await publish(tx, seasonOpened, season, { season, openedOn, classDates: days.map(({ date }) => date) })
  }
}
