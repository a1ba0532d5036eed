import { createHash } from 'node:crypto'
import { waitlistJoined, type JoinWaitlist, type WaitlistEntry } from '@robokids/contracts/waitlist'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { and, eq, inArray, or, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { familyOf, findActive, splitByVisibility } from '../registrations/lock-family.ts'
import { classSessionOf, lockFamilies, type Family } from '../registrations/lock-registration.ts'
import { accountOf } from '../registrations/owners.ts'
import { limitsOf, lockUnpaid, type Applicant } from '../registrations/unpaid-seats.ts'
import {
  checkDuplicateChildren,
  checkFamilySeats,
  classNotOffered,
  findConflicts,
  isOffered,
  seatsLeft,
  type Requester,
} from '../rules.ts'
import { classSessions, levels, waitlistEntries } from '../schema.ts'
import { waitlistFactsOf, type EntryRow } from './line.ts'
import { readEntry } from './read-entries.ts'
import { checkWaitingSeats, isLineOpen } from './rules.ts'

/**
 * Whether the requester may learn about an entry: its browser or account may. Its email, which anyone can type, does not
 * identify anybody.
 */
function isVisibleTo({ ownerId, browserId }: Requester, entry: EntryRow): boolean {
  if (browserId !== null && browserId === entry.browserId) return true
  return ownerId !== null && (ownerId === entry.ownerId || ownerId === entry.askedOwnerId)
}

async function findOpenEntries(tx: Transaction, { emails, owners }: Family, classSessionId: string) {
  return tx
    .select()
    .from(waitlistEntries)
    .where(
      and(
        eq(waitlistEntries.classSessionId, classSessionId),
        inArray(waitlistEntries.status, ['waiting', 'offered']),
        or(inArray(waitlistEntries.emailKey, emails), inArray(waitlistEntries.ownerId, owners)),
      ),
    )
    .orderBy(waitlistEntries.place)
}

/** Rejects more waiting seats than a family or a network may have: the same numbers as for unpaid seats. */
async function checkLimits(tx: Transaction, applicant: Applicant, wanted: number, config: Config): Promise<void> {
  const { ownerId, browserId, network } = applicant
  if (network === undefined) return
  const open = await tx
    .select({
      seats: waitlistEntries.seats,
      askedOwnerId: waitlistEntries.askedOwnerId,
      browserId: waitlistEntries.browserId,
      network: waitlistEntries.network,
    })
    .from(waitlistEntries)
    .where(
      and(
        inArray(waitlistEntries.status, ['waiting', 'offered']),
        or(
          eq(waitlistEntries.network, network),
          ownerId === null ? undefined : eq(waitlistEntries.askedOwnerId, ownerId),
          browserId === null ? undefined : eq(waitlistEntries.browserId, browserId),
        ),
      ),
    )
  const waiting = open.map((entry) => ({
    seats: entry.seats,
    ofFamily:
      (ownerId !== null && entry.askedOwnerId === ownerId) || (browserId !== null && entry.browserId === browserId),
    ofNetwork: entry.network === network,
  }))
  checkWaitingSeats(waiting, wanted, limitsOf(config))
}

/**
 * Puts a family at the end of a full class's line. A repetition, and the same children again, return the existing entry.
 * @throws DomainError `class_not_offered`, `waitlist_closed`, `class_not_full`, `already_waiting`, `already_registered`,
 * `id_reused`, `too_many_unpaid`
 */
export async function joinWaitlist(request: JoinWaitlist, context: Context<Config>): Promise<WaitlistEntry> {
  const { ownerId = null, browserId = null, network, familyTimeZone = null, ...content } = request
  const requester = { ownerId, browserId }
  const applicant = { ...requester, network }
  const children = [{ childName: content.childName, childAge: content.childAge }, ...content.siblings]
  checkDuplicateChildren(children)
  const contentHash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return context.db.transaction(async (tx) => {
    const now = context.clock.now()
    await lockUnpaid(tx, applicant)
    const family = await familyOf(tx, { email: content.email, ownerId })
    await lockFamilies(tx, [family])
    const [classSession] = await tx.select().from(classSessions).where(classSessionOf(content)).for('no key update')
    const [known] = await tx.select().from(waitlistEntries).where(eq(waitlistEntries.id, content.id))
    if (known && known.contentHash !== contentHash) {
      throw new DomainError('id_reused', 'This id belongs to another place in line.')
    }
    if (known) return readEntry(tx, known.id)
    if (!classSession || !isOffered(classSession, now)) throw classNotOffered()
    const { visible } = splitByVisibility(requester, await findActive(tx, family, content))
    checkFamilySeats(visible, { children, separate: false }, now)

    const entries = (await findOpenEntries(tx, family, classSession.id)).filter((one) => isVisibleTo(requester, one))
    const [existing] = findConflicts(
      entries.map((entry) => ({ ...entry, separate: false })),
      { children, separate: false },
    )
    if (existing) {
      const isSame = existing.seats === children.length && children.every((child) => isAmong(child, existing.children))
      if (isSame) return readEntry(tx, existing.id)
      throw new DomainError(
        'already_waiting',
        'Your family waits for this class already. To wait with other children, please leave the line first.',
        undefined,
        { reference: existing.id },
      )
    }
    if (!isLineOpen(classSession, now)) {
      throw new DomainError('waitlist_closed', 'This class begins too soon to wait for it. Please choose another date.')
    }
    if (seatsLeft(classSession) >= children.length) {
      throw new DomainError('class_not_full', 'There are seats for you in this class right now. Please register.')
    }
    await checkLimits(tx, applicant, children.length, context.config)

    const [level] = await tx.select().from(levels).where(eq(levels.classType, content.classType))
    const [entry] = await tx
      .insert(waitlistEntries)
      .values({
        id: content.id,
        contentHash,
        ownerId: await accountOf(tx, { ownerId, email: content.email }),
        askedOwnerId: ownerId,
        // The clock of events, which a test clock does not change.
        askedAt: Temporal.Now.instant(),
        browserId,
        network: network ?? null,
        guardianName: content.guardianName,
        email: content.email,
        emailKey: emailKey(content.email),
        children,
        seats: children.length,
        classSessionId: classSession.id,
        levelTitle: level?.title ?? content.classType,
        familyTimeZone,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    if (!entry) throw new Error(`The entry ${content.id} was not inserted.`)
    await tx
      .update(classSessions)
      .set({ familiesWaiting: sql`${classSessions.familiesWaiting} + 1` })
      .where(eq(classSessions.id, classSession.id))
    const place = classSession.familiesWaiting + 1
    await publish(tx, waitlistJoined, entry.id, {
      ...waitlistFactsOf(entry, classSession),
      place,
      familiesWaiting: place,
    })
    return readEntry(tx, entry.id)
  })
}

type Child = EntryRow['children'][number]

function isAmong(child: Child, children: Child[]): boolean {
  return findConflicts([{ children, separate: false }], { children: [child], separate: false }).length > 0
}
