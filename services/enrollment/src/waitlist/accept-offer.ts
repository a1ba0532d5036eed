import { randomUUIDv7 } from 'node:crypto'
import { registrationHeld, type HeldRegistration } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { AcceptOffer } from '@robokids/contracts/waitlist'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { contentHash, type Content } from '../registrations/check-registration.ts'
import { familyOf, findActive, splitByVisibility } from '../registrations/lock-family.ts'
import { lockFamilies } from '../registrations/lock-registration.ts'
import { notifyFamilies } from '../registrations/notify-families.ts'
import { accountOf } from '../registrations/owners.ts'
import { isoTime } from '../iso-time.ts'
import { factsOf, readRegistration } from '../registrations/read-registrations.ts'
import { checkFamilySeats, findConflicts } from '../rules.ts'
import { registrations, waitlistEntries } from '../schema.ts'
import { endEntries } from './line.ts'
import { lockEntry } from './lock-entry.ts'
import { entryNotFound } from './read-entries.ts'
import { checkOffer } from './rules.ts'

/** Locks the family of an entry, whose email or owner may change meanwhile. */
async function lockFamilyOfEntry(tx: Transaction, id: string) {
  for (let locked = ''; ;) {
    const [found] = await tx.select().from(waitlistEntries).where(eq(waitlistEntries.id, id))
    if (!found) throw entryNotFound()
    const family = await familyOf(tx, found)
    const key = JSON.stringify(family)
    if (locked === key) return family
    await lockFamilies(tx, [family])
    locked = key
  }
}

/**
 * Turns the seats of an offer into the hold of a registration, in one transaction: they are free at no moment. The registration
 * is like any other from then on; if nobody pays, its seats go to the next family.
 * @throws DomainError `waitlist_entry_not_found`, `offer_ended`, `already_registered`
 */
export async function acceptOffer(
  id: string,
  request: AcceptOffer,
  context: Context<Config>,
): Promise<HeldRegistration> {
  const { ownerId = null, browserId = null, network: _, ...address } = request
  return context.db.transaction(async (tx) => {
    const family = await lockFamilyOfEntry(tx, id)
    const { entry, classSession } = await lockEntry(tx, id)
    if (entry.registrationId !== null) return { ...(await readRegistration(tx, entry.registrationId)), isNew: false }
    const now = context.clock.now()
    checkOffer(entry, classSession, now)
    const { date: startDate, startTime, durationMinutes, timeZone } = classSession
    // Only levels have a line.
    const classType = classSession.classType as Content['classType']
    const { visible, hidden } = splitByVisibility(
      { ownerId, browserId },
      await findActive(tx, family, { classType, startDate }),
    )
    const requested = { children: entry.children, separate: false }
    checkFamilySeats(visible, requested, now)

    const [first, ...siblings] = entry.children
    if (!first) throw new Error(`The entry ${id} has no child.`)
    const { guardianName, email } = entry
    const content: Content = {
      id: randomUUIDv7(),
      guardianName,
      email,
      ...first,
      siblings,
      ...address,
      startDate,
      classType,
    }
    // The family that waited owns the registration, also if somebody else has the link.
    const askedOwnerId = entry.ownerId ?? ownerId
    const heldUntil = now.add({ minutes: context.config.UNOPENED_HOLD_MINUTES })
    const askedAt = Temporal.Now.instant()
    const [registration] = await tx
      .insert(registrations)
      .values({
        id: content.id,
        contentHash: contentHash(content),
        ownerId: await accountOf(tx, { ownerId: askedOwnerId, email }),
        askedOwnerId,
        askedAt,
        browserId,
        guardianName,
        email,
        emailKey: emailKey(email),
        children: entry.children,
        seats: entry.seats,
        ...address,
        classSessionId: classSession.id,
        classType,
        levelTitle: entry.levelTitle,
        startDate,
        startTime,
        durationMinutes,
        timeZone,
        familyTimeZone: entry.familyTimeZone,
        status: 'held',
        heldUntil,
        heldSince: askedAt,
        // Not counted as unpaid seats of a network: they were counted when the family joined the line.
        network: null,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    if (!registration) throw new Error(`The registration ${content.id} was not inserted.`)
    await publish(tx, registrationHeld, content.id, { ...factsOf(registration), heldUntil: isoTime(heldUntil) })
    await tx.update(waitlistEntries).set({ registrationId: content.id }).where(eq(waitlistEntries.id, id))
    await endEntries(tx, classSession.id, [entry], 'accepted', now)
    await notifyFamilies(tx, findConflicts(hidden, requested), 'seat')
    return { ...(await readRegistration(tx, content.id)), isNew: true }
  })
}
