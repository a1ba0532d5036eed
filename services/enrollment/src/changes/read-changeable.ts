import type { ChangedBy, ChangeTerms } from '@robokids/contracts/changes'
import type { Transaction } from '@robokids/runtime/db'
import { desc, eq, inArray } from 'drizzle-orm'
import { findChoice, leftToGiveBack, listChoices, readChoice, type ChoiceRow } from '../places/read-choices.ts'
import { readPlaces, type PlaceRow } from '../places/read-places.ts'
import { lockWithPlaces } from '../registrations/lock-registration.ts'
import { readPaymentStates } from '../registrations/payment-states.ts'
import { readClasses, registrationNotFound, type RegistrationRow } from '../registrations/read-registrations.ts'
import { changePolicies, classSessions, kitShipments, registrations } from '../schema.ts'
import { changeNotAllowed, checkChangeable, firstPolicy, policyInForce, type Policy } from './rules.ts'

type ClassSession = typeof classSessions.$inferSelect

/** A registration with its places, and those of them that are to be changed. */
export interface Changeable {
  registration: RegistrationRow
  places: PlaceRow[]
  chosen: PlaceRow[]
  sessions: ClassSession[]
  /** The session in which the chosen ones are. */
  from: ClassSession
  policy: Policy
  kitShipped: boolean
  /** What the family may do because the school has cancelled the class, whatever the policy says; null if it has not. */
  choice: ChoiceRow | null
  /** Cents of its payments that are neither given back nor promised to be. */
  left: number
}

export interface ChangeRequest extends ChangedBy {
  placeIds: string[]
}

/**
 * Reads what a family wants to change, and checks that it may be changed at all.
 * @param options with `lock`, the registration and the sessions are locked until the transaction ends; `others` are more of these.
 * @throws DomainError `registration_not_found`, also for another family's registration or place, and what `checkChangeable` throws
 */
export async function readChangeable(
  tx: Transaction,
  registrationId: string,
  request: ChangeRequest,
  now: Temporal.Instant,
  { lock = false, others = [] }: { lock?: boolean; others?: string[] } = {},
): Promise<Changeable> {
  const found = lock
    ? await lockWithPlaces(tx, registrationId, others)
    : await readWithPlaces(tx, registrationId, others)
  if (!found) throw registrationNotFound()
  const { registration, places, classSessions: sessions } = found
  const wanted = new Set(request.placeIds)
  const chosen = places.filter(({ id }) => wanted.has(id))
  const [first] = chosen
  if (!first || chosen.length < wanted.size) throw registrationNotFound()
  const from = sessions.find(({ id }) => id === first.classSessionId)
  if (!from) throw new Error(`The class session of place ${first.id} does not exist.`)
  const choice = await choiceOf(tx, request, registration, from, now)
  const isCovered = chosen.every(({ id }) => choice?.placeIds.includes(id))
  if (request.choiceId === undefined ? registration.ownerId !== request.ownerId : !isCovered)
    throw registrationNotFound()
  if (choice && Temporal.Instant.compare(choice.chooseUntil, now) <= 0)
    throw changeNotAllowed('The time to choose is over. What was paid is refunded automatically.')
  const states = await readPaymentStates(tx, [registration])
  const paymentState = states.get(registrationId) ?? 'paid'
  checkChangeable({ status: registration.status, paymentState, places: chosen }, from, now)
  const [kit] = await tx.select().from(kitShipments).where(eq(kitShipments.registrationId, registrationId))
  return {
    registration,
    places,
    chosen,
    sessions,
    from,
    policy: await readPolicy(tx, now),
    kitShipped: kit?.status === 'shipped',
    choice,
    left: await leftToGiveBack(tx, registration, places),
  }
}

/** @throws DomainError `registration_not_found` if the link is not that of a choice of this registration, `change_not_allowed` */
async function choiceOf(
  tx: Transaction,
  { choiceId, placeIds }: ChangeRequest,
  { id }: RegistrationRow,
  from: ClassSession,
  now: Temporal.Instant,
): Promise<ChoiceRow | null> {
  if (choiceId !== undefined) {
    const choice = await readChoice(tx, choiceId)
    if (choice?.registrationId !== id) throw registrationNotFound()
    return choice
  }
  if (from.status === 'open') {
    // Until the deadline the family may choose again.
    const isOpen = (choice: ChoiceRow) => Temporal.Instant.compare(now, choice.chooseUntil) < 0
    const made = await listChoices(tx, [id])
    return made.find((one) => isOpen(one) && placeIds.every((placeId) => one.placeIds.includes(placeId))) ?? null
  }
  const choice = await findChoice(tx, id, from.id)
  if (!choice) throw changeNotAllowed('We have just canceled this class. Please try again in a minute.')
  return choice
}

async function readWithPlaces(tx: Transaction, id: string, others: string[]) {
  const [registration] = await tx.select().from(registrations).where(eq(registrations.id, id))
  if (!registration) return undefined
  const places = (await readPlaces(tx, [registration])).get(id) ?? []
  const ids = [registration.classSessionId, ...places.map(({ classSessionId }) => classSessionId), ...others]
  return {
    registration,
    places,
    classSessions: await tx.select().from(classSessions).where(inArray(classSessions.id, ids)),
  }
}

async function readPolicy(tx: Transaction, now: Temporal.Instant): Promise<Policy> {
  const policies = await tx.select().from(changePolicies).orderBy(desc(changePolicies.validFrom))
  return policyInForce(policies, now) ?? firstPolicy
}

/** The class of a session, as terms describe it. */
export async function classFacts(tx: Transaction, classSessionId: string): Promise<ChangeTerms['from']> {
  const [found] = await readClasses(tx, [classSessionId])
  if (!found) throw new Error(`${classSessionId} is not the session of a level.`)
  const { classType, levelTitle, startDate, startTime, durationMinutes, timeZone } = found
  return { classSessionId, classType, levelTitle, startDate, startTime, durationMinutes, timeZone }
}
