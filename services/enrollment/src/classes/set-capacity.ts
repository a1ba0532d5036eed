import type { ListedSession } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, lte, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { presentSession } from './list-sessions.ts'
import { classSessionNotFound } from './meetings.ts'
import { classSessions } from '../schema.ts'
import { serveLine } from '../waitlist/line.ts'

/**
 * Sets the number of seats of a class session, for an administrator. The check is part of the statement, so that no buyer can
 * take a seat in between. Seats that are added go to the waitlist first.
 * @throws DomainError `class_session_not_found`, `seats_taken` if more seats are sold and held
 */
export function setCapacity(id: string, capacity: number, { db, clock }: Context<Config>): Promise<ListedSession> {
  return db.transaction(async (tx) => {
    const isThis = eq(classSessions.id, id)
    const taken = sql<number>`${classSessions.held} + ${classSessions.sold}`
    const [changed] = await tx
      .update(classSessions)
      .set({ capacity })
      .where(and(isThis, lte(taken, capacity)))
      .returning()
    if (changed) {
      await serveLine(tx, changed, clock.now())
      const [served = changed] = await tx.select().from(classSessions).where(isThis)
      return presentSession(served)
    }
    const [row] = await tx.select().from(classSessions).where(isThis)
    if (!row) throw classSessionNotFound()
    throw new DomainError('seats_taken', `${row.sold} seats are sold and ${row.held} held: ${capacity} are too few.`)
  })
}
