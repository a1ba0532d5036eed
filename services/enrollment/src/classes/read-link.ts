import type { ClassLink } from '@robokids/contracts/meetings'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { classSessions } from '../schema.ts'
import { readMeetings } from './meetings.ts'
import { linkTimes, openMeeting } from './rules.ts'

/**
 * The link of a class for somebody who attends it, from 30 minutes before a meeting until 15 minutes after its end.
 * @param classSessionIds the classes that they attend.
 * @throws DomainError `waiver_not_signed`, `class_link_not_open`, `class_link_missing`
 */
export async function readLink(
  { classSessionIds, isSigned }: { classSessionIds: string[]; isSigned: boolean },
  { db, clock }: Context<Config>,
): Promise<ClassLink> {
  if (!isSigned) throw new DomainError('waiver_not_signed', 'The class link appears once the waiver is signed.')
  const sessions = await db
    .select()
    .from(classSessions)
    .where(and(inArray(classSessions.id, classSessionIds), eq(classSessions.status, 'open')))
  const meetings = await readMeetings(db, classSessionIds)
  for (const { id, joinUrl, passcode } of sessions) {
    const meeting = openMeeting(meetings.get(id) ?? [], clock.now())
    if (!meeting) continue
    if (joinUrl === null)
      throw new DomainError('class_link_missing', 'Your coach has not shared the link yet. We have told the school.')
    return { meeting: meeting.number, joinUrl, passcode, closesAt: isoTime(linkTimes(meeting).closesAt) }
  }
  throw new DomainError('class_link_not_open', 'The class link opens 30 minutes before the class.')
}
