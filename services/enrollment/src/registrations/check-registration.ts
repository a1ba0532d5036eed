import { createHash } from 'node:crypto'
import type { HoldSeats, RegistrationCheck, RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { classSessionOf, lockFamilies } from './lock-registration.ts'
import { familyOf, findActive, splitByVisibility } from './lock-family.ts'
import type { RegistrationRow } from './read-registrations.ts'
import {
  classFull,
  classNotOffered,
  findConflicts,
  findIdentical,
  isOffered,
  mayReplace,
  checkDuplicateChildren,
  checkFamilySeats,
  seatsLeft,
  type Requester,
} from '../rules.ts'
import { classSessions, registrations } from '../schema.ts'
import { lockUnpaid, checkUnpaidSeats } from './unpaid-seats.ts'

/** The content of a registration, without who requested it and how. */
export type Content = Omit<HoldSeats, 'replaces' | 'unlessRegistered' | 'familyTimeZone' | 'network' | keyof Requester>

/** Splits a request into its content, its requester and its options. */
export function partsOf({
  replaces,
  unlessRegistered = false,
  ownerId = null,
  browserId = null,
  network,
  familyTimeZone,
  ...content
}: HoldSeats) {
  return {
    content,
    requester: { ownerId, browserId },
    network,
    replaces,
    unlessRegistered,
    familyTimeZone: familyTimeZone ?? null,
  }
}

/** Relies on parsing for a fixed order of fields and for defaults. */
export function contentHash(content: Content): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

export function childrenOf({ childName, childAge, siblings }: Content): RegistrationFacts['children'] {
  return [{ childName, childAge }, ...siblings]
}

export function addressOf({ addressLine1, addressLine2, city, state, zipCode }: Content): RegistrationFacts['address'] {
  return { addressLine1, addressLine2, city, state, zipCode }
}

export interface FamilyCheck {
  /** The existing registration to return instead of a new one. */
  existingId: string | undefined
  /** The unpaid registration that the new one replaces. */
  replaced: RegistrationRow | undefined
  /** Conflicting registrations of others, which the requester must not learn about. */
  hidden: RegistrationRow[]
}

/**
 * Checks a registration against the others of its family, and locks the family until the transaction ends. Holds nothing.
 * @throws DomainError `already_paid`, `already_registered`
 */
export async function checkAgainstFamily(
  tx: Transaction,
  request: HoldSeats,
  now: Temporal.Instant,
): Promise<FamilyCheck> {
  const { content, requester, replaces, unlessRegistered } = partsOf(request)
  const family = await familyOf(tx, { email: content.email, ownerId: requester.ownerId })
  const findReplaced = async () => {
    if (replaces === undefined || replaces === content.id) return undefined
    const [found] = await tx.select().from(registrations).where(eq(registrations.id, replaces))
    return found && mayReplace(requester, found) ? found : undefined
  }
  const before = await findReplaced()
  await lockFamilies(tx, before ? [family, await familyOf(tx, before)] : [family])
  const replaced = await findReplaced()

  const others = (await findActive(tx, family, content)).filter(
    (row) => row.id !== content.id && (row.id !== replaced?.id || row.status !== 'held'),
  )
  const { visible, hidden } = splitByVisibility(requester, others)
  const requested = { ...content, children: childrenOf(content), address: addressOf(content), separate: false }
  if (unlessRegistered) {
    // A registration of another class, of which only some children are in this one or move to it, is not the one that is asked for.
    const { classType, startDate } = content
    const here = new Set(
      others.filter((row) => row.classType === classType && row.startDate === startDate).map(({ id }) => id),
    )
    const same = findIdentical(
      visible.filter(({ registrationId }) => here.has(registrationId)),
      requested,
    )
    if (same) return { existingId: same.registrationId, replaced: undefined, hidden: [] }
  }
  if (replaced?.status === 'confirmed' || replaced?.status === 'waiver_signed') {
    const message = 'The registration you’re changing is already paid. The confirmation is in your email.'
    throw new DomainError('already_paid', message, undefined, { reference: replaced.id })
  }
  if (unlessRegistered) checkFamilySeats(visible, requested, now)
  return {
    existingId: undefined,
    replaced: replaced?.status === 'held' ? replaced : undefined,
    hidden: unlessRegistered ? findConflicts(hidden, requested) : [],
  }
}

/**
 * Rejects what `holdSeats` would reject, but holds nothing. Called before the payment page of a replaced registration is
 * closed, so that none is closed for a change that is then rejected.
 * @throws DomainError `already_paid`, `already_registered`, `id_reused`, `class_not_offered`, `class_full`, `too_many_unpaid`
 */
export async function checkRegistration(request: HoldSeats, context: Context<Config>): Promise<RegistrationCheck> {
  const { content, requester, network } = partsOf(request)
  const applicant = { ...requester, network }
  const now = context.clock.now()
  checkDuplicateChildren(childrenOf(content))
  return context.db.transaction(async (tx) => {
    await lockUnpaid(tx, applicant)
    const { existingId, replaced } = await checkAgainstFamily(tx, request, now)
    if (existingId !== undefined) return { registrationId: existingId }
    const [existing] = await tx.select().from(registrations).where(eq(registrations.id, content.id))
    if (existing) {
      if (existing.contentHash !== contentHash(content)) throw idReused()
      return { registrationId: existing.id, replaces: replaced?.id ?? null }
    }
    await checkUnpaidSeats(tx, applicant, childrenOf(content).length, context, replaced ? [replaced.id] : [])
    const [classSession] = await tx.select().from(classSessions).where(classSessionOf(content))
    if (!classSession || !isOffered(classSession, now)) throw classNotOffered()
    const freed = replaced?.classSessionId === classSession.id ? replaced.seats : 0
    if (seatsLeft({ ...classSession, held: classSession.held - freed }) < childrenOf(content).length) throw classFull()
    return { registrationId: null, replaces: replaced?.id ?? null }
  })
}

export function idReused(): DomainError {
  return new DomainError('id_reused', 'This id belongs to another registration.')
}
