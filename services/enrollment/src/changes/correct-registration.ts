import type { Correct } from '@robokids/contracts/changes'
import type { Registration } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { childrenOfPlaces, hasPlaces } from '../places/rules.ts'
import { lockFamilyOf } from '../registrations/lock-family.ts'
import { lockWithPlaces } from '../registrations/lock-registration.ts'
import { readRegistration, registrationNotFound } from '../registrations/read-registrations.ts'
import { checkDuplicateChildren } from '../rules.ts'
import { kitShipments, places, registrations } from '../schema.ts'
import { checkFamily } from './family-seats.ts'
import { checkCorrectable } from './rules.ts'

/**
 * Corrects the names and ages of children who have a seat, and the address, until the kit is shipped. Seats and money stay as they
 * are, and so does what was signed. A correction that changes nothing writes nothing.
 * @throws DomainError `registration_not_found`, `registration_not_paid`, `change_not_allowed`, `validation_failed`,
 * `already_registered`
 */
export async function correctRegistration(
  registrationId: string,
  { ownerId, children = [], address }: Correct,
  { db, clock }: Context<Config>,
): Promise<Registration> {
  return db.transaction(async (tx) => {
    // A child may get the name of one who has a seat by another registration.
    if (!(await lockFamilyOf(tx, registrationId))) throw registrationNotFound()
    const locked = await lockWithPlaces(tx, registrationId)
    if (locked?.registration.ownerId !== ownerId) throw registrationNotFound()
    const { registration } = locked
    if (!hasPlaces(registration.status))
      throw new DomainError('registration_not_paid', 'This registration is not paid, or it is canceled.')
    const [kit] = await tx.select().from(kitShipments).where(eq(kitShipments.registrationId, registrationId))
    checkCorrectable(kit?.status === 'shipped')

    const seated = locked.places.filter(({ status }) => status === 'seated')
    const all = seated.map((place) => ({ ...place, ...children.find(({ placeId }) => placeId === place.id) }))
    if (children.some(({ placeId }) => seated.every(({ id }) => id !== placeId))) throw registrationNotFound()
    const corrected = childrenOfPlaces(all)
    checkDuplicateChildren(corrected)
    for (const session of locked.classSessions) {
      const renamed = all.filter(
        ({ classSessionId, childName }, index) =>
          classSessionId === session.id && childName !== seated[index]?.childName,
      )
      if (renamed.length > 0) await checkFamily(tx, registration, renamed, session)
    }
    const now = clock.now()
    for (const [index, { id, childName, childAge }] of all.entries()) {
      const before = seated[index]
      if (before?.childName === childName && before.childAge === childAge) continue
      await tx.update(places).set({ childName, childAge, updatedAt: now }).where(eq(places.id, id))
    }
    const { addressLine1, addressLine2, city, state, zipCode } = address ?? registration
    const next = { children: corrected, addressLine1, addressLine2, city, state, zipCode }
    const { children: _, ...rest } = next
    const isSame =
      JSON.stringify(corrected) === JSON.stringify(childrenOfPlaces(seated)) &&
      Object.entries(rest).every(([name, value]) => registration[name as keyof typeof rest] === value)
    if (!isSame)
      await tx
        .update(registrations)
        .set({ ...next, updatedAt: now })
        .where(eq(registrations.id, registrationId))
    return readRegistration(tx, registrationId)
  })
}
