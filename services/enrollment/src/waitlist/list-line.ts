import type { WaitlistLine } from '@robokids/contracts/waitlist'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import { classSessionNotFound } from '../classes/meetings.ts'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { classSessions } from '../schema.ts'
import { openEntriesOf } from './line.ts'

/** The line of a class for an administrator: who has an offer until when, and who waits. @throws DomainError `class_session_not_found` */
export async function listLine(classSessionId: string, { db }: Context<Config>): Promise<WaitlistLine> {
  if ((await db.$count(classSessions, eq(classSessions.id, classSessionId))) === 0) throw classSessionNotFound()
  const open = await openEntriesOf(db, classSessionId)
  const waiting = open.filter(({ status }) => status === 'waiting').map(({ id }) => id)
  return {
    entries: open.map(({ id, status, guardianName, email, children, passedOver, offerEndsAt, createdAt }) => ({
      entryId: id,
      status,
      place: status === 'waiting' ? waiting.indexOf(id) + 1 : null,
      guardianName,
      email,
      children,
      offerEndsAt: offerEndsAt && isoTime(offerEndsAt),
      createdAt: isoTime(createdAt),
      passedOver,
    })),
  }
}
