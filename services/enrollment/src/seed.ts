import { randomUUIDv7 } from 'node:crypto'
import { classTimeZone } from '@robokids/contracts/class-date'
import { classTypes } from '@robokids/contracts/enrollment'
import { upcomingSeason } from '@robokids/contracts/season'
import type { Clock } from '@robokids/runtime/clock'
import type { Database } from '@robokids/runtime/db'
import { gte, sql } from 'drizzle-orm'
import { classSessions, levels } from './schema.ts'

const levelRows: (typeof levels.$inferInsert)[] = [
  {
    position: 1,
    classType: 'basic',
    levelId: 'lvl1',
    title: 'Level 1 Foundations',
    description: 'First circuits, motors and sensors: children build a small robot of their own and bring it to life.',
    ageFrom: 6,
    ageTo: 13,
    programLength: '6 weeks',
  },
  {
    position: 2,
    classType: 'intermediate',
    levelId: 'lvl2',
    title: 'Level 2 Smart Robotics and Coding',
    description:
      'Robots that sense and decide: real code on a microcontroller, servos, and projects that react to the world.',
    ageFrom: 8,
    ageTo: 14,
    programLength: '6 weeks',
  },
  {
    position: 3,
    classType: 'advanced',
    levelId: 'lvl3',
    title: 'Level 3 Autonomous Mastery',
    description:
      'Robots that find their own way: navigation, control loops, and a machine that works without a remote.',
    ageFrom: 10,
    ageTo: 15,
    programLength: '8 weeks',
  },
  {
    position: 4,
    classType: 'custom',
    levelId: 'lvlX',
    title: 'Level X Custom Innovation Lab',
    description:
      'A project of the student’s own, from the first sketch to a working prototype, with a mentor at its side.',
    ageFrom: 11,
    ageTo: 16,
    programLength: '6 to 8 weeks',
  },
]

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
