import { waitlistEnded, waitlistOffered, type WaitlistFacts } from '@robokids/contracts/waitlist'
import type { Database, Transaction } from '@robokids/runtime/db'
import { publishAll } from '@robokids/runtime/outbox'
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { isoTime } from '../iso-time.ts'
import { classSessions, waitlistEntries } from '../schema.ts'
import { decideOffers, endedAs, type EndOutcome } from './rules.ts'

export type EntryRow = typeof waitlistEntries.$inferSelect
export type ClassSessionRow = typeof classSessions.$inferSelect

/** The class as it is today, in case it was moved since the family joined. */
export function waitlistFactsOf(entry: EntryRow, classSession: ClassSessionRow): WaitlistFacts {
  const { classType, date, startTime, durationMinutes, timeZone } = classSession
  return {
    entryId: entry.id,
    guardianName: entry.guardianName,
    email: entry.email,
    children: entry.children,
    classSessionId: classSession.id,
    classType,
    levelTitle: entry.levelTitle,
    startDate: date,
    startTime,
    durationMinutes,
    timeZone,
    familyTimeZone: entry.familyTimeZone,
    ownerId: entry.ownerId,
  }
}

/**
 * Offers the free seats of a locked class session to its line and sets aside what the rule says, in the transaction that freed
 * them: at no moment does anybody else see them.
 * @param freed as in `decideOffers`.
 */
export async function serveLine(
  tx: Transaction,
  classSession: ClassSessionRow,
  now: Temporal.Instant,
  freed = true,
): Promise<void> {
  if (classSession.familiesWaiting === 0 && classSession.setAside === 0) return
  const line = await tx
    .select()
    .from(waitlistEntries)
    .where(and(eq(waitlistEntries.classSessionId, classSession.id), eq(waitlistEntries.status, 'waiting')))
    .orderBy(asc(waitlistEntries.place))
  const { offers, offerEndsAt, passedOver, setAside } = decideOffers(line, classSession, freed, now)
  const offered = line.filter(({ id }) => offers.includes(id))
  if (passedOver.length > 0) {
    await tx
      .update(waitlistEntries)
      .set({
        passedOver: sql`${waitlistEntries.passedOver} + 1`,
        passedOverSince: sql`coalesce(${waitlistEntries.passedOverSince}, ${isoTime(now)}::timestamptz)`,
        updatedAt: now,
      })
      .where(inArray(waitlistEntries.id, passedOver))
  }
  if (offered.length > 0 && offerEndsAt !== null) {
    await tx
      .update(waitlistEntries)
      .set({ status: 'offered', offerEndsAt, updatedAt: now })
      .where(inArray(waitlistEntries.id, offers))
    await publishAll(
      tx,
      waitlistOffered,
      offered.map((entry) => ({
        subject: entry.id,
        data: { ...waitlistFactsOf(entry, classSession), offerEndsAt: isoTime(offerEndsAt) },
      })),
    )
  }
  const seats = offered.reduce((sum, entry) => sum + entry.seats, 0)
  if (seats === 0 && setAside === classSession.setAside) return
  await tx
    .update(classSessions)
    .set({
      held: sql`${classSessions.held} + ${seats}`,
      familiesWaiting: sql`${classSessions.familiesWaiting} - ${offered.length}`,
      setAside,
    })
    .where(eq(classSessions.id, classSession.id))
}

/**
 * Ends entries of a locked class session that are still open, and offers what that frees to the next family. The seats of an
 * accepted offer stay held: they are those of its registration.
 * @param entries read after the session was locked.
 */
export async function endEntries(
  tx: Transaction,
  classSessionId: string,
  entries: EntryRow[],
  outcome: EndOutcome,
  now: Temporal.Instant,
): Promise<void> {
  const open = entries.filter(({ status }) => status === 'waiting' || status === 'offered')
  if (open.length === 0) return
  const ids = open.map(({ id }) => id)
  await tx
    .update(waitlistEntries)
    .set({ ...endedAs(outcome), endedAt: now, updatedAt: now })
    .where(inArray(waitlistEntries.id, ids))
  const offered = open.filter(({ status }) => status === 'offered')
  const freed = outcome === 'accepted' ? 0 : offered.reduce((sum, { seats }) => sum + seats, 0)
  const [classSession] = await tx
    .update(classSessions)
    .set({
      held: sql`${classSessions.held} - ${freed}`,
      familiesWaiting: sql`${classSessions.familiesWaiting} - ${open.length - offered.length}`,
    })
    .where(eq(classSessions.id, classSessionId))
    .returning()
  if (!classSession) throw new Error(`The class session ${classSessionId} does not exist.`)
  await publishAll(
    tx,
    waitlistEnded,
    open.map((entry) => ({
      subject: entry.id,
      data: {
        ...waitlistFactsOf(entry, classSession),
        outcome,
        offerEndsAt: entry.offerEndsAt && isoTime(entry.offerEndsAt),
      },
    })),
  )
  // Without freed seats too: what was set aside for a family that leaves is for the next one.
  await serveLine(tx, classSession, now, freed > 0 || classSession.setAside > 0)
}

/** Reads the open entries of a locked class session. */
export function openEntriesOf(tx: Database | Transaction, classSessionId: string): Promise<EntryRow[]> {
  return tx
    .select()
    .from(waitlistEntries)
    .where(
      and(eq(waitlistEntries.classSessionId, classSessionId), inArray(waitlistEntries.status, ['waiting', 'offered'])),
    )
    .orderBy(asc(waitlistEntries.place))
}

/**
 * Closes the line of a locked class session that was cancelled or has begun: nobody waits any more, no offer is open, and
 * nothing is set aside. The use case that cancels a class calls it in the same transaction.
 */
export async function closeLine(
  tx: Transaction,
  classSessionId: string,
  reason: 'class_cancelled' | 'class_started',
  now: Temporal.Instant,
): Promise<void> {
  await endEntries(tx, classSessionId, await openEntriesOf(tx, classSessionId), reason, now)
}
