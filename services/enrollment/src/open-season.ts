import { randomUUIDv7 } from 'node:crypto'
import { classTimeZone } from '@robokids/contracts/class-date'
import { classTypes, seasonOpened } from '@robokids/contracts/enrollment'
import { upcomingSeason } from '@robokids/contracts/season'
import type { Clock } from '@robokids/runtime/clock'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import { and, asc, eq, gte, like, sql } from 'drizzle-orm'
import { classSessions, seasons } from './schema.ts'

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

/**
 * Opens a new season if every class date has passed, and publishes it. Also publishes a coming season that was opened before
 * `season.opened` existed. Safe to repeat and to run concurrently.
 */
export async function openSeason(tx: Transaction, clock: Clock): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('open_season'))`)
  const today = clock.now().toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
  const isComing = gte(classSessions.date, today)
  if ((await tx.$count(classSessions, isComing)) === 0) {
    await tx
      .insert(classSessions)
      .values(sessionRows(`${opened}${today}`, upcomingSeason(today)))
      .onConflictDoNothing()
  }
  const coming = await tx
    .selectDistinct({ season: classSessions.season })
    .from(classSessions)
    .where(and(isComing, like(classSessions.season, `${opened}____-__-__`)))
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
