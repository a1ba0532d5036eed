import type { ClassLink } from '@robokids/contracts/meetings'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { classSessions } from '../schema.ts'
import { readMeetings } from './meetings.ts'
import { linkTimes, openMeeting } from './rules.ts'

/**
 * The link of a class for somebody who attends it, from 30 minutes before a meeting until 15 minutes after its end.
 * @throws DomainError `waiver_not_signed`, `class_link_not_open`, `class_link_missing`
 */
export async function readLink(
  { classSessionId, isSigned }: { classSessionId: string; isSigned: boolean },
  { db, clock }: Context<Config>,
): Promise<ClassLink> {
  if (!isSigned) throw new DomainError('waiver_not_signed', 'The class link appears once the waiver is signed.')
  const [session] = await db.select().from(classSessions).where(eq(classSessions.id, classSessionId))
  const meetings = (await readMeetings(db, [classSessionId])).get(classSessionId) ?? []
  const meeting = openMeeting(meetings, clock.now())
  if (session?.status !== 'open' || !meeting)
    throw new DomainError('class_link_not_open', 'The class link opens 30 minutes before the class.')
  const { joinUrl, passcode } = session
  if (joinUrl === null)
    throw new DomainError('class_link_missing', 'Your coach has not shared the link yet. We have told the school.')
  return { meeting: meeting.number, joinUrl, passcode, closesAt: isoTime(linkTimes(meeting).closesAt) }
}
