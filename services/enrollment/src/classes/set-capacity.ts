import type { ListedSession } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, lte, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { presentSession } from './list-sessions.ts'
import { classSessionNotFound } from './meetings.ts'
import { classSessions } from '../schema.ts'

/**
 * Sets the number of seats of a class session, for an administrator. The check is part of the statement, so that no buyer can
 * take a seat in between.
 * @throws DomainError `class_session_not_found`, `seats_taken` if more seats are sold and held
 */
export async function setCapacity(id: string, capacity: number, { db }: Context<Config>): Promise<ListedSession> {
  const isThis = eq(classSessions.id, id)
  const taken = sql<number>`${classSessions.held} + ${classSessions.sold}`
  const [changed] = await db
    .update(classSessions)
    .set({ capacity })
    .where(and(isThis, lte(taken, capacity)))
    .returning()
  if (changed) return presentSession(changed)
  const [row] = await db.select().from(classSessions).where(isThis)
  if (!row) throw classSessionNotFound()
  throw new DomainError('seats_taken', `${row.sold} seats are sold and ${row.held} held: ${capacity} are too few.`)
}
