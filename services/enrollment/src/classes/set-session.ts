import type { ListedSession } from '@robokids/contracts/enrollment'
import type { SetCoach, SetLink } from '@robokids/contracts/meetings'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { classSessions } from '../schema.ts'
import { presentSession } from './list-sessions.ts'
import { classSessionNotFound } from './meetings.ts'

async function update(
  id: string,
  values: Partial<typeof classSessions.$inferInsert>,
  { db }: Context<Config>,
): Promise<ListedSession> {
  const [row] = await db.update(classSessions).set(values).where(eq(classSessions.id, id)).returning()
  if (!row) throw classSessionNotFound()
  return presentSession(row)
}

/** Sets the link of a session's video call, for an administrator. @throws DomainError `class_session_not_found` */
export function setLink(id: string, { joinUrl, passcode = null }: SetLink, context: Context<Config>) {
  return update(id, { joinUrl, passcode }, context)
}

/** Names the coach of a session, for an administrator. @throws DomainError `class_session_not_found` */
export function setCoach(id: string, { coachName }: SetCoach, context: Context<Config>) {
  return update(id, { coachName }, context)
}
