import type { WaitlistEntry } from '@robokids/contracts/waitlist'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, getTableColumns, gt, inArray, or, sql, type SQL } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isoTime } from '../iso-time.ts'
import { classSessions, waitlistEntries } from '../schema.ts'
import { waitlistFactsOf } from './line.ts'

/** How long an account's ended entries are listed. */
const listedDays = 30

async function select(db: Database | Transaction, where: SQL | undefined): Promise<WaitlistEntry[]> {
  const place = sql<number>`(
    select count(*)::int from waitlist_entries as line
    where line.class_session_id = ${waitlistEntries.classSessionId} and line.status = 'waiting'
      and line.place <= ${waitlistEntries.place}
  )`
  const rows = await db
    .select({ entry: getTableColumns(waitlistEntries), classSession: getTableColumns(classSessions), place })
    .from(waitlistEntries)
    .innerJoin(classSessions, eq(classSessions.id, waitlistEntries.classSessionId))
    .where(where)
    .orderBy(desc(waitlistEntries.createdAt), desc(waitlistEntries.place))
    .limit(100)
  return rows.map(({ entry, classSession, place: inLine }) => ({
    ...waitlistFactsOf(entry, classSession),
    status: entry.status,
    place: entry.status === 'waiting' ? inLine : null,
    familiesWaiting: classSession.familiesWaiting,
    offerEndsAt: entry.offerEndsAt && isoTime(entry.offerEndsAt),
    closedReason: entry.closedReason,
    endedAt: entry.endedAt && isoTime(entry.endedAt),
    registrationId: entry.registrationId,
    createdAt: isoTime(entry.createdAt),
  }))
}

export function entryNotFound(): DomainError {
  return new DomainError('waitlist_entry_not_found', 'There is no such place in line.')
}

/** @throws DomainError `waitlist_entry_not_found` */
export async function readEntry(db: Database | Transaction, id: string): Promise<WaitlistEntry> {
  const [entry] = await select(db, eq(waitlistEntries.id, id))
  if (!entry) throw entryNotFound()
  return entry
}

/** The entries of an account: those that are open, and those that ended lately. */
export function listEntries(ownerId: string, { db, clock }: Context<Config>): Promise<WaitlistEntry[]> {
  return select(
    db,
    and(
      eq(waitlistEntries.ownerId, ownerId),
      or(
        inArray(waitlistEntries.status, ['waiting', 'offered']),
        gt(waitlistEntries.endedAt, clock.now().subtract({ hours: listedDays * 24 })),
      ),
    ),
  )
}
