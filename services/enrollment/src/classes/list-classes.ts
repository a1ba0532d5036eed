import type { AvailableSlots, ClassType, Level, UnpaidSeats } from '@robokids/contracts/enrollment'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, gt } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { seatsLeft } from '../rules.ts'
import { presentMeeting, readMeetings } from './meetings.ts'
import { classSessions, levels } from '../schema.ts'

/** The sessions on sale (as in `isOffered`), by date. */
async function offeredSessions(context: Context<Config>, classType?: ClassType) {
  return context.db
    .select()
    .from(classSessions)
    .where(
      and(
        eq(classSessions.status, 'open'),
        gt(classSessions.startsAt, context.clock.now()),
        classType && eq(classSessions.classType, classType),
      ),
    )
    .orderBy(asc(classSessions.startsAt))
}

export async function listLevels(context: Context<Config>): Promise<Level[]> {
  const [rows, sessions] = await Promise.all([
    context.db.select().from(levels).orderBy(asc(levels.position)),
    offeredSessions(context),
  ])
  const meetings = await readMeetings(
    context.db,
    sessions.map(({ id }) => id),
  )
  return rows.map((level) => ({
    levelId: level.levelId,
    classType: level.classType,
    title: level.title,
    description: level.description,
    recommendedAges: { from: level.ageFrom, to: level.ageTo },
    programLength: level.programLength,
    sessions: sessions
      .filter((classSession) => classSession.classType === level.classType)
      .map((classSession) => ({
        classSessionId: classSession.id,
        date: classSession.date,
        startTime: classSession.startTime,
        durationMinutes: classSession.durationMinutes,
        timeZone: classSession.timeZone,
        capacity: classSession.capacity,
        seatsLeft: seatsLeft(classSession),
        familiesWaiting: classSession.familiesWaiting,
        meetings: (meetings.get(classSession.id) ?? []).map(presentMeeting),
      })),
  }))
}

export async function listSlots(classType: ClassType, context: Context<Config>): Promise<AvailableSlots['slots']> {
  const sessions = await offeredSessions(context, classType)
  return sessions.map((classSession) => ({
    classDate: classSession.date,
    availableSlots: seatsLeft(classSession),
    startTime: classSession.startTime,
  }))
}

export async function listUnpaidSeats(context: Context<Config>): Promise<UnpaidSeats['sessions']> {
  const sessions = await offeredSessions(context)
  return sessions.map((classSession) => ({
    classType: classSession.classType,
    held: classSession.held,
    left: seatsLeft(classSession),
  }))
}
