import type { Transaction } from '@robokids/runtime/db'
import { eq, sql } from 'drizzle-orm'
import type { SeatChange } from './rules.ts'
import { classSessions, registrations } from './schema.ts'

/** Everything that decides about a registration first locks it and then its session, always in this order. */
export async function lockRegistration(tx: Transaction, id: string) {
  const [locked] = await tx
    .select({ registration: registrations, session: classSessions })
    .from(registrations)
    .innerJoin(classSessions, eq(classSessions.id, registrations.classSessionId))
    .where(eq(registrations.id, id))
    .for('no key update')
  return locked
}

export async function moveSeats(tx: Transaction, classSessionId: string, change: SeatChange): Promise<void> {
  if (change.held === 0 && change.sold === 0) return
  await tx
    .update(classSessions)
    .set({ held: sql`${classSessions.held} + ${change.held}`, sold: sql`${classSessions.sold} + ${change.sold}` })
    .where(eq(classSessions.id, classSessionId))
}
