import type { CancelSession, ClassCancellation } from '@robokids/contracts/class-cancellation'
import { wakeJob } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { classSessionNotFound } from '../classes/meetings.ts'
import type { Config } from '../config.ts'
import { lockClassSessions } from '../registrations/lock-registration.ts'
import { classCancellations, classSessions, reminders } from '../schema.ts'
import { closeLine } from '../waitlist/line.ts'
import { findSeatedFamilies } from './find-families.ts'
import { readCancellation } from './read-cancellation.ts'
import { checkCancellable, chooseUntil } from './rules.ts'

/**
 * Cancels a class, for an administrator. From then on nothing of it is sold, its line is closed, and no reminder is sent; what
 * concerns each family, of which there may be hundreds, is done by the job `settle-cancellations`. Repeating it changes nothing.
 * @throws DomainError `class_session_not_found`, `id_reused`, and those of `checkCancellable`
 */
export async function cancelSession(
  classSessionId: string,
  { id, families: seen, days }: CancelSession,
  context: Context<Config>,
): Promise<ClassCancellation> {
  return context.db.transaction(async (tx) => {
    const [classSession] = await lockClassSessions(tx, [classSessionId])
    if (!classSession) throw classSessionNotFound()
    const isThis = eq(classCancellations.classSessionId, classSessionId)
    const [known] = await tx.select().from(classCancellations).where(isThis)
    if (known) return readCancellation(tx, classSessionId)
    if ((await tx.$count(classCancellations, eq(classCancellations.id, id))) > 0)
      throw new DomainError('id_reused', 'This id belongs to another cancellation.')
    const now = context.clock.now()
    const families = (await findSeatedFamilies(tx, classSessionId)).length
    checkCancellable(classSession, { seen, families }, now)
    const until = chooseUntil(now, days, classSession.timeZone)
    await tx.insert(classCancellations).values({ classSessionId, id, chooseUntil: until, cancelledAt: now })
    await tx
      .update(classSessions)
      // The entries in calendars are cancelled by a raised SEQUENCE.
      .set({ status: 'cancelled', scheduleVersion: sql`${classSessions.scheduleVersion} + 1` })
      .where(eq(classSessions.id, classSessionId))
    await tx
      .update(reminders)
      .set({ handledAt: now })
      .where(and(eq(reminders.classSessionId, classSessionId), isNull(reminders.handledAt)))
    await closeLine(tx, classSessionId, 'class_cancelled', now)
    await wakeJob(tx, 'settle-cancellations')
    return readCancellation(tx, classSessionId)
  })
}
