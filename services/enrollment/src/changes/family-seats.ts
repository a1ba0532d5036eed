import type { Child } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import { familyOf, findActive } from '../registrations/lock-family.ts'
import type { RegistrationRow } from '../registrations/read-registrations.ts'
import { findConflicts } from '../rules.ts'
import type { classSessions } from '../schema.ts'

type Class = Pick<typeof classSessions.$inferSelect, 'classType' | 'date'>

/** The other registrations of the family by which one of these children has a seat in a class, or a move to it under way. */
export async function findOthers(
  tx: Transaction,
  registration: RegistrationRow,
  children: Child[],
  { classType, date }: Class,
): Promise<RegistrationRow[]> {
  const family = await familyOf(tx, registration)
  const active = await findActive(tx, family, { classType, startDate: date })
  const others = active.filter(({ id }) => id !== registration.id)
  return findConflicts(others, { children, separate: false })
}

/**
 * Rejects a child who has a seat in the class already, by another registration of its family.
 * @throws DomainError `already_registered`
 */
export async function checkFamily(
  tx: Transaction,
  registration: RegistrationRow,
  children: Child[],
  theClass: Class,
): Promise<void> {
  const [conflict] = await findOthers(tx, registration, children, theClass)
  if (!conflict) return
  const child = children.find((one) => findConflicts([conflict], { children: [one], separate: false }).length > 0)
  throw new DomainError('already_registered', `${child?.childName ?? 'This child'} has a seat in that class already.`)
}
