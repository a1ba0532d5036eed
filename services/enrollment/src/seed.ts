import { randomUUIDv7 } from 'node:crypto'
import { classTimeZone } from '@robokids/contracts/class-date'
import { classTypes, levelClassTypes } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { upcomingSeason } from '@robokids/contracts/season'
import type { Clock } from '@robokids/runtime/clock'
import type { Database } from '@robokids/runtime/db'
import { gte, sql } from 'drizzle-orm'
import { classSessions, levels } from './schema.ts'
import { keepWaiverDocument } from './waiver-document.ts'

const levelRows: (typeof levels.$inferInsert)[] = levelClassTypes.map((classType, index) => {
  const { recommendedAges, ...level } = openingLevels[classType]
  return { ...level, position: index + 1, classType, ageFrom: recommendedAges.from, ageTo: recommendedAges.to }
})

const fall2025 = ['2025-10-03', '2025-10-04', '2025-10-05', '2025-10-06']
const startTime = '16:00'

function sessionRows(season: string, dates: string[]): (typeof classSessions.$inferInsert)[] {
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

/**
 * Writes the levels, the past season and an upcoming one. Runs at every start: rows that exist stay as they are, and a
 * new season is opened only when every class date has passed.
 */
export async function seed(db: Database, clock: Clock): Promise<void> {
  const today = clock.now().toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
  await db.transaction(async (tx) => {
    await tx.insert(levels).values(levelRows).onConflictDoNothing()
    await tx.insert(classSessions).values(sessionRows('fall-2025', fall2025)).onConflictDoNothing()
    await keepWaiverDocument(tx)
    const [coming] = await tx
      .select({ one: sql`1` })
      .from(classSessions)
      .where(gte(classSessions.date, today))
      .limit(1)
    if (coming) return
    await tx
      .insert(classSessions)
      .values(sessionRows(`opened-${today}`, upcomingSeason(today)))
      .onConflictDoNothing()
  })
}
