import { type Registration, type RegistrationStatus, minClassSize } from '@robokids/contracts/enrollment'
import { emailKey } from '@robokids/contracts/fields'
import type { PaymentState } from '@robokids/contracts/payment-state'
import { paymentPageMinutes } from '@robokids/contracts/seat-hold'
import { DomainError } from '@robokids/runtime/errors'

export type RejectionReason = NonNullable<Registration['rejectionReason']>
export type ClassSessionStatus = 'open' | 'cancelled'

export interface ClassSessionState {
  capacity: number
  held: number
  sold: number
  /** Free seats that are kept for the waitlist. */
  setAside: number
  status: ClassSessionStatus
  startsAt: Temporal.Instant
}

export interface RegistrationState {
  status: RegistrationStatus
  children: Registration['children']
  separate: boolean
  seats: number
  holds: number
  heldSince: Temporal.Instant
  attemptId: string | null
  attemptCreatedAt: Temporal.Instant | null
  paymentId: string | null
  rejectionReason: RejectionReason | null
}

/** The change of a session's counts. */
export interface SeatChange {
  held: number
  sold: number
}

const noSeats: SeatChange = { held: 0, sold: 0 }

/** The seats that anybody can take. */
export function seatsLeft({
  capacity,
  held,
  sold,
  setAside,
}: Pick<ClassSessionState, 'capacity' | 'held' | 'sold' | 'setAside'>): number {
  return Math.max(0, capacity - held - sold - setAside)
}

/** Whether the session is on sale: open and in the future. */
export function isOffered(
  classSession: Pick<ClassSessionState, 'status' | 'startsAt'>,
  now: Temporal.Instant,
): boolean {
  return classSession.status === 'open' && Temporal.Instant.compare(now, classSession.startsAt) < 0
}

/** Whether a class begins within a week, by its local time, and is below the minimum size. */
export function isTooSmall(classSession: ClassSessionState & { timeZone: string }, now: Temporal.Instant): boolean {
  const { startsAt, timeZone, sold, capacity } = classSession
  const weekBefore = startsAt.toZonedDateTimeISO(timeZone).subtract({ days: 7 }).toInstant()
  const isDue = Temporal.Instant.compare(weekBefore, now) <= 0
  return isDue && isOffered(classSession, now) && sold < Math.min(minClassSize, capacity)
}

/** @param path the name of the date in the request. */
export function classNotOffered(path: 'startDate' | 'classDate' = 'startDate'): DomainError {
  const message = 'This class date is not offered. Please choose another date.'
  return new DomainError('class_not_offered', message, [{ path, message }])
}

export function classFull(): DomainError {
  return new DomainError('class_full', 'This class is full. Please choose another date.')
}

/** The content by which two registrations of one family are compared. */
export interface RegistrationContent {
  guardianName: string
  email: string
  children: Registration['children']
  address: Registration['address']
}

/**
 * Who sends a request: the signed-in account, and the browser, identified by the BFF's cookie. Neither an email, which anyone
 * can type, nor a reference, which is in mails, identifies a requester.
 */
export interface Requester {
  ownerId: string | null
  browserId: string | null
}

/** The owner of a registration, and who created it. */
export interface RegistrationOrigin {
  email: string
  ownerId: string | null
  /** The account that was signed in. */
  askedOwnerId: string | null
  browserId: string | null
  status: RegistrationStatus
}

const isSame = (a: string | null, b: string | null) => a !== null && a === b

/**
 * Whether the requester may learn about a registration: its creator may and, once it is paid, its account. An account does not
 * learn about unpaid registrations that others made with its email, perhaps in order to block it.
 */
export function isVisibleTo({ ownerId, browserId }: Requester, registration: RegistrationOrigin): boolean {
  if (isSame(browserId, registration.browserId) || isSame(ownerId, registration.askedOwnerId)) return true
  return isPaidStatus(registration.status) && isSame(ownerId, registration.ownerId)
}

/** Whether the requester may replace a registration by another one. Ignores its email, which may be what is corrected. */
export function mayReplace({ ownerId, browserId }: Requester, registration: RegistrationOrigin): boolean {
  const { askedOwnerId } = registration
  return isSame(ownerId, registration.ownerId) || (askedOwnerId === null && isSame(browserId, registration.browserId))
}

/** A registration of the same family, for the same class and date. */
export interface FamilyRegistration extends RegistrationContent {
  registrationId: string
  status: RegistrationStatus
  heldUntil: Temporal.Instant | null
  seats: number
  separate: boolean
}

/** Whether a registration has its seats, paid or held. */
export function hasSeats(status: RegistrationStatus): boolean {
  return status === 'held' || isPaidStatus(status)
}

function isPaidStatus(status: RegistrationStatus): status is 'confirmed' | 'waiver_signed' {
  return status === 'confirmed' || status === 'waiver_signed'
}

/** Ignores how the child's name was typed. */
function sameName(a: string, b: string): boolean {
  const key = (name: string) => name.trim().normalize('NFC').toLowerCase()
  return key(a) === key(b)
}

/** As `sameName`, but also ignores accents: nobody has two children of one age whose names differ only by an accent. */
function normalizedName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

/**
 * Rejects a child that is listed twice: the second one would get the free sibling's seat.
 * @throws DomainError `validation_failed`, with the sibling's field in the form
 */
export function checkDuplicateChildren(children: Registration['children']): void {
  const places = children.map(({ childName, childAge }) => `${childAge} ${normalizedName(childName)}`)
  const twice = places.findIndex((place, index) => places.indexOf(place) < index)
  if (twice === -1) return
  const message = 'This child is already in this registration.'
  throw new DomainError('validation_failed', message, [{ path: `siblings.${twice - 1}.childName`, message }])
}

function isIdentical(a: RegistrationContent, b: RegistrationContent): boolean {
  const lines = ({ guardianName, email, children, address }: RegistrationContent) =>
    JSON.stringify([
      guardianName,
      emailKey(email),
      children.map(({ childName, childAge }) => [childName, childAge]),
      address.addressLine1,
      address.addressLine2,
      address.city,
      address.state,
      address.zipCode,
    ])
  return lines(a) === lines(b)
}

/** Finds an identical registration of the family. Only a requester who knows all of its content learns which one it is. */
export function findIdentical<One extends RegistrationContent>(
  family: One[],
  content: RegistrationContent,
): One | undefined {
  return family.find((one) => isIdentical(one, content))
}

/** Finds the registrations of the family that already have a seat for one of these children. */
export function findConflicts<One extends Pick<FamilyRegistration, 'children' | 'separate'>>(
  family: One[],
  { children, separate }: Pick<FamilyRegistration, 'children' | 'separate'>,
): One[] {
  return family.filter(
    (one) =>
      !(separate && one.separate) &&
      children.some((child) => one.children.some((other) => sameName(other.childName, child.childName))),
  )
}

/**
 * Rejects children that already have a seat through another registration of their family.
 * @param family its active registrations for this class and date that are visible to the requester.
 * @throws DomainError `already_registered`, with the child's field in the form
 */
export function checkFamilySeats(
  family: FamilyRegistration[],
  registration: Pick<FamilyRegistration, 'children' | 'separate'>,
  now: Temporal.Instant,
): void {
  const [conflict] = findConflicts(family, registration)
  if (!conflict) return
  const index = registration.children.findIndex((child) =>
    conflict.children.some((other) => sameName(other.childName, child.childName)),
  )
  const childName = registration.children[index]?.childName ?? ''
  const path = index === 0 ? 'childName' : `siblings.${index - 1}.childName`
  const minutes = conflict.heldUntil ? Math.max(1, Math.ceil(now.until(conflict.heldUntil).total('minutes'))) : 0
  const message =
    conflict.status === 'held'
      ? `A seat in this class is already held for ${childName} by a registration that is not paid yet. Please finish that one, or try again in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}.`
      : `${childName} is already registered for this class and date. The confirmation is in your email.`
  throw new DomainError('already_registered', message, [{ path, message }])
}

/** Held seats that are not paid yet. */
export interface UnpaidSeats {
  seats: number
  heldUntil: Temporal.Instant
  /** Whether they belong to the requester's account or browser. */
  ofFamily: boolean
  /** Whether they were requested from the requester's network. */
  ofNetwork: boolean
}

/** The minutes until enough of them expire if nobody pays; undefined if the limit is not exceeded. */
function minutesUntilRoom(unpaid: UnpaidSeats[], wanted: number, limit: number, now: Temporal.Instant) {
  let over = unpaid.reduce((sum, { seats }) => sum + seats, 0) + wanted - limit
  if (over <= 0) return undefined
  const soonest = unpaid.toSorted((a, b) => Temporal.Instant.compare(a.heldUntil, b.heldUntil))
  const last = soonest.find(({ seats }) => (over -= seats) <= 0)
  return Math.max(1, Math.ceil(last ? now.until(last.heldUntil).total('minutes') : 1))
}

/**
 * Rejects seats beyond the limits of unpaid seats per family and per network.
 * @throws DomainError `too_many_unpaid`
 */
export function checkUnpaidLimits(
  unpaid: UnpaidSeats[],
  wanted: number,
  limits: { family: number; network: number },
  now: Temporal.Instant,
): void {
  const after = (minutes: number) => (minutes === 1 ? 'in 1 minute' : `in ${minutes} minutes`)
  const family = unpaid.filter(({ ofFamily }) => ofFamily)
  const ofFamily = minutesUntilRoom(family, wanted, limits.family, now)
  if (ofFamily !== undefined) {
    const count = family.reduce((sum, { seats }) => sum + seats, 0)
    const held = count === 1 ? '1 seat is held' : `${count} seats are held`
    throw new DomainError(
      'too_many_unpaid',
      `${held} for your family but not paid yet. Please pay for the seats you want to keep, or try again ${after(ofFamily)}, once unpaid seats have been released.`,
    )
  }
  const network = unpaid.filter((one) => one.ofNetwork)
  const ofNetwork = minutesUntilRoom(network, wanted, limits.network, now)
  if (ofNetwork === undefined) return
  throw new DomainError(
    'too_many_unpaid',
    `Too many unpaid seats are held from your network, perhaps by other families. If any are yours, please pay for them first. Otherwise, try again ${after(ofNetwork)}, or use another network, such as your phone's.`,
  )
}

/** `released`: the class was canceled by its member, or given up because its payment went back. */
export const memberSeatOutcomes = ['seated', 'class_full', 'class_started', 'class_not_offered', 'released'] as const
export type MemberSeatOutcome = (typeof memberSeatOutcomes)[number]

/**
 * Whether a new member gets a seat in the members' session of a date, or why not. A seat that was held in time is kept even if
 * the class has begun.
 */
export function decideMemberSeat(
  classSession: ClassSessionState | undefined,
  isHeld: boolean,
  now: Temporal.Instant,
): Exclude<MemberSeatOutcome, 'released'> {
  if (classSession?.status !== 'open') return 'class_not_offered'
  if (isHeld) return 'seated'
  if (!isOffered(classSession, now)) return 'class_started'
  return seatsLeft(classSession) > 0 ? 'seated' : 'class_full'
}

type ClosedStatus = Exclude<RegistrationStatus, 'held' | 'expired'>

const closed: Record<ClosedStatus, string> = {
  confirmed: 'This registration is already paid.',
  waiver_signed: 'This registration is already paid and signed.',
  rejected: 'We could not confirm this registration, and its payment was refunded. Please register again.',
  cancelled: 'This registration was canceled. Please register again.',
}

function registrationClosed(status: ClosedStatus): DomainError {
  return new DomainError('registration_closed', closed[status])
}

/**
 * Returns the seats to take when a hold is renewed: all of them if it has expired, otherwise none.
 * @param family its other active registrations for this class and date that are visible to the requester. An expired hold is
 * not renewed if any of them conflicts, even a `separate` one.
 * @throws DomainError `registration_closed`, `class_not_offered`, `already_registered`, `class_full`
 */
export function seatsForRenewal(
  registration: RegistrationState,
  classSession: ClassSessionState,
  family: FamilyRegistration[],
  now: Temporal.Instant,
): SeatChange {
  const { status, seats, children, separate } = registration
  if (status !== 'held' && status !== 'expired') throw registrationClosed(status)
  if (!isOffered(classSession, now)) throw classNotOffered()
  if (status === 'held') {
    const paid = family.filter((one) => isPaidStatus(one.status))
    checkFamilySeats(paid, { children, separate }, now)
    return noSeats
  }
  checkFamilySeats(family, { children, separate: false }, now)
  if (seatsLeft(classSession) < seats) throw classFull()
  return { held: seats, sold: 0 }
}

/** The minimum remaining time of a hold whose payment page is not opened yet. */
const timeToOpen = Temporal.Duration.from({ minutes: 5 })

/** The lifetime of a new checkout. */
const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

/**
 * Whether a hold is long enough for its payment to continue: until the payment page is opened, which extends the hold. If a page
 * was opened already, it may have expired, and its end would end the hold: then for the lifetime of another checkout.
 */
export function isHeldLongEnough(
  {
    status,
    heldUntil,
    openedAt,
  }: Pick<FamilyRegistration, 'status' | 'heldUntil'> & { openedAt: Temporal.Instant | null },
  now: Temporal.Instant,
): boolean {
  if (status !== 'held' || heldUntil === null) return false
  return Temporal.Instant.compare(heldUntil, now.add(openedAt ? checkoutLifetime : timeToOpen)) >= 0
}

/** Checks that a payment page may be opened. @throws DomainError `registration_closed` if no seats are held (any more) */
export function checkOpenable(status: RegistrationStatus): void {
  if (status === 'held') return
  if (status !== 'expired') throw registrationClosed(status)
  throw new DomainError(
    'registration_closed',
    'We no longer hold the seats for this registration. Please hold them again.',
  )
}

const notEndable: Record<ClosedStatus, string> = {
  confirmed: 'This registration is paid, so there is no hold to end. Refunding its payment cancels it.',
  waiver_signed: 'This registration is paid and signed, so there is no hold to end. Refunding its payment cancels it.',
  rejected: 'This registration was rejected and its payment refunded, so there is no hold to end.',
  cancelled: 'This registration is already canceled, so there is no hold to end.',
}

/** Checks that an operator may end a hold. @throws DomainError `registration_closed` if it is paid or closed */
export function checkEndable(status: RegistrationStatus): void {
  if (status === 'held' || status === 'expired') return
  throw new DomainError('registration_closed', notEndable[status])
}

/** The seats released by the end of an unpaid hold; undefined if there is none. */
export function endHold(registration: RegistrationState): SeatChange | undefined {
  return registration.status === 'held' ? { held: -registration.seats, sold: 0 } : undefined
}

/**
 * Whether an attempt created at `createdAt` is the newest one of the current hold.
 * @param isOpened whether its page is being opened right now, so that it belongs to the current hold whenever it was created.
 */
export function isNewestAttempt(
  registration: RegistrationState,
  createdAt: Temporal.Instant,
  isOpened = false,
): boolean {
  const { status, holds, heldSince, attemptCreatedAt } = registration
  if (status !== 'held') return false
  // The first hold is older than any attempt; for a renewed one, events of earlier attempts may still arrive.
  if (!isOpened && holds > 1 && Temporal.Instant.compare(createdAt, heldSince) < 0) return false
  return attemptCreatedAt === null || Temporal.Instant.compare(createdAt, attemptCreatedAt) > 0
}

/**
 * Whether the end of this attempt ends the current hold. In doubt it does not: the hold expires a few minutes later anyway,
 * while seats released during a payment may be sold to another family.
 */
export function isAttemptOfHold(registration: RegistrationState, attemptId: string): boolean {
  if (registration.attemptId !== null) return registration.attemptId === attemptId
  return registration.holds === 1
}

/** What is known about a payment; its two events can arrive in either order and more than once. */
export interface KnownPayment {
  completed: boolean
  refunded: boolean
}

export type PaymentOutcome =
  | { kind: 'nothing' }
  /** `endedIds`: the holds of the same children that end with it; `seats` does not include theirs. */
  | { kind: 'confirm'; seats: SeatChange; endedIds: string[] }
  | { kind: 'cancel'; seats: SeatChange }
  | { kind: 'reject'; seats: SeatChange; reason: RejectionReason; duplicateOf: string | null }

const nothing: PaymentOutcome = { kind: 'nothing' }

/**
 * Decides the outcome of a completed payment. A hold that was made in time is confirmed even if the class has begun. Of several
 * registrations of one child, the first paid one is confirmed: unpaid holds end, and one that is paid later is a duplicate.
 * @param family its other active registrations for this class and date.
 */
export function settlePayment(
  registration: RegistrationState,
  classSession: ClassSessionState,
  payment: KnownPayment,
  family: FamilyRegistration[],
  now: Temporal.Instant,
): PaymentOutcome {
  if (payment.completed) return nothing
  const { status, seats } = registration
  const reject = (reason: RejectionReason, released: SeatChange, duplicateOf: string | null = null) =>
    ({ kind: 'reject', seats: released, reason, duplicateOf }) as const
  // A second payment of the same registration: billing detects and refunds it.
  if (isPaidStatus(status)) return nothing
  if (status === 'rejected' || status === 'cancelled') {
    if (payment.refunded) return nothing
    return reject(registration.rejectionReason ?? 'registration_cancelled', noSeats)
  }
  const released = { held: status === 'held' ? -seats : 0, sold: 0 }
  if (payment.refunded) return { kind: 'cancel', seats: released }
  if (classSession.status === 'cancelled') return reject('registration_cancelled', released)
  const others = findConflicts(family, registration)
  const paid = others.find((one) => isPaidStatus(one.status))
  if (paid) return reject('registration_cancelled', released, paid.registrationId)
  const held = others.filter((one) => one.status === 'held')
  if (status === 'expired') {
    if (!isOffered(classSession, now)) return reject('class_started', released)
    const freed = held.reduce((sum, one) => sum + one.seats, 0)
    if (seatsLeft({ ...classSession, held: classSession.held - freed }) < seats) return reject('class_full', released)
  }
  return {
    kind: 'confirm',
    seats: { ...released, sold: seats },
    endedIds: held.map((one) => one.registrationId),
  }
}

/** Whether the full refund of a payment ends a registration. */
export function endsRegistration(
  registration: Pick<RegistrationState, 'status' | 'paymentId'>,
  paymentId: string,
  payment: KnownPayment,
): boolean {
  return !payment.refunded && registration.paymentId === paymentId && isPaidStatus(registration.status)
}

/** The refunds and disputes of a payment. */
export interface PaymentReversals {
  refunds: {
    amount: number
    refunded: boolean
    failed: boolean
    /** The cancellation or move for which it is made. */
    changeId?: string | null
    /** Cents that were refunded or being refunded when it was requested, with this one; null or absent if that is not known. */
    underWayTotal?: number | null
  }[]
  disputes: { status: 'open' | 'won' | 'lost' }[]
}

/** @param status the provider's status. A closed inquiry took no money. */
export function disputeStatus(status: string): 'open' | 'won' | 'lost' {
  if (status === 'lost') return 'lost'
  return ['won', 'warning_closed', 'prevented'].includes(status) ? 'won' : 'open'
}

export function paymentStateOf(
  { status, paidAmount }: { status: RegistrationStatus; paidAmount: number | null },
  { refunds, disputes }: PaymentReversals,
): PaymentState {
  if (disputes.some((dispute) => dispute.status === 'lost')) return 'lost'
  if (disputes.some((dispute) => dispute.status === 'open')) return 'disputed'
  const paid = paidAmount ?? 0
  const sum = (some: PaymentReversals['refunds']) => some.reduce((total, { amount }) => total + amount, 0)
  const effective = refunds.filter(({ failed }) => !failed)
  const owed = sum(refunds.filter(({ failed, changeId = null }) => failed && changeId !== null))
  // What goes back for single children leaves the places of the others, even if all is back by then. So does what is given back in
  // place of such a refund that failed. Billing judges likewise.
  const isForMore = effective.some(
    ({ amount, changeId = null, underWayTotal = null }) =>
      changeId === null && amount > owed && (underWayTotal === null || underWayTotal >= paid),
  )
  if (isForMore && sum(effective) >= paid) {
    return sum(effective.filter(({ refunded }) => refunded)) >= paid ? 'refunded' : 'refund_under_way'
  }
  if (status === 'cancelled' || status === 'rejected') {
    if (refunds.some(({ failed }) => failed)) return 'refund_failed'
  }
  return disputes.length > 0 ? 'won' : 'paid'
}

const paymentProblems: Record<Exclude<PaymentState, 'paid' | 'won'>, string> = {
  refund_under_way: 'The payment for this registration is being refunded',
  refunded: 'The payment for this registration was refunded',
  refund_failed: 'A refund for this registration failed and is still owed',
  disputed: 'The payment for this registration is disputed with the bank',
  lost: 'The payment for this registration was returned after a dispute with the bank',
}

/** Why what was paid for must not be shipped or signed; undefined if it may be. */
export function paymentProblem(state: PaymentState): string | undefined {
  return state === 'paid' || state === 'won' ? undefined : paymentProblems[state]
}

/** The fields of a registration that a waiver is matched with. */
export interface Signable {
  registrationId: string
  status: RegistrationStatus
  paymentState: PaymentState
  guardianName: string
  email: string
  children: { childName: string }[]
  classType: string
  startDate: string
  /** The existing signature. */
  waiver: { guardianName: string; documentSha256: string } | null
}

export interface Signature {
  guardianName: string
  childName: string
  email: string
  classType: string
  /** Empty if the signer's page did not know it. */
  startDate: string
  documentSha256: string | null
}

/** Ignores the Unicode form, which depends on the keyboard. */
function sameText(a: string, b: string): boolean {
  return a.trim().normalize('NFC') === b.trim().normalize('NFC')
}

function matches(signature: Signature, registration: Signable): boolean {
  return (
    emailKey(registration.email) === emailKey(signature.email) &&
    registration.classType === signature.classType &&
    (signature.startDate === '' || registration.startDate === signature.startDate) &&
    registration.children.some((child) => sameText(child.childName, signature.childName))
  )
}

function isPaid(registration: Signable): boolean {
  return isPaidStatus(registration.status)
}

const notPaid: Record<Exclude<RegistrationStatus, 'confirmed' | 'waiver_signed'>, string> = {
  held: 'This registration is not paid yet. Please complete the payment before you sign the waiver.',
  expired: 'This registration was not paid in time. Please return to the form.',
  rejected: 'This registration could not be confirmed and its payment was refunded, so there is nothing to sign.',
  cancelled: 'This registration was canceled, so there is nothing to sign.',
}

/**
 * Finds the registration to sign for among those of the signer: a paid one, preferably the oldest that is unsigned.
 * @param candidates oldest first.
 * @throws DomainError `registration_not_found`, `registration_not_paid`
 */
export function chooseSignable<Candidate extends Signable>(candidates: Candidate[], signature: Signature): Candidate {
  const chosen = findSignable(candidates, signature)
  if (!chosen)
    throw new DomainError(
      'registration_not_found',
      'There is no registration with these details. Please return to the form.',
    )
  return chosen
}

/** As `chooseSignable`, but returns undefined if none matches. */
export function findSignable<Candidate extends Signable>(
  candidates: Candidate[],
  signature: Signature,
): Candidate | undefined {
  const fitting = candidates.filter((candidate) => matches(signature, candidate))
  const paid = fitting.filter(isPaid)
  const byGuardian = paid.filter((candidate) =>
    sameText((candidate.waiver ?? candidate).guardianName, signature.guardianName),
  )
  return (
    byGuardian.find((candidate) => candidate.waiver === null) ??
    byGuardian[0] ??
    paid.find((candidate) => candidate.waiver !== null) ??
    paid[0] ??
    fitting.at(-1)
  )
}

/** The response to a stranger who wants to sign without a reference, whether or not a registration matches. */
export function registrationNotDisclosed(): DomainError {
  return new DomainError(
    'registration_not_found',
    'We can’t find this registration from this browser. Please use the link in your confirmation email to sign. If these details match a registration, we emailed that link again today.',
  )
}

/**
 * Checks a signature: it is new (`sign`), or repeats the existing one (`repeat`).
 * @throws DomainError `registration_not_paid`, `waiver_already_signed`, `registration_not_found`, `waiver_document_changed`
 */
export function checkSignature(
  registration: Signable,
  signature: Signature,
  signableDocuments: readonly string[],
): 'sign' | 'repeat' {
  const { status, waiver } = registration
  if (status !== 'confirmed' && status !== 'waiver_signed')
    throw new DomainError('registration_not_paid', notPaid[status])
  if (waiver) {
    const same =
      sameText(waiver.guardianName, signature.guardianName) &&
      (signature.documentSha256 === null || signature.documentSha256 === waiver.documentSha256)
    if (!same) throw new DomainError('waiver_already_signed', 'The waiver for this registration is already signed.')
    return 'repeat'
  }
  const reason = paymentProblem(registration.paymentState)
  if (reason !== undefined) {
    throw new DomainError('registration_not_paid', `${reason}, so the waiver cannot be signed.`)
  }
  if (!sameText(registration.guardianName, signature.guardianName)) {
    throw new DomainError(
      'registration_not_found',
      'There is no registration with these details. Please return to the form.',
    )
  }
  if (signature.documentSha256 !== null && !signableDocuments.includes(signature.documentSha256))
    throw documentChanged()
  return 'sign'
}

const pdfRetryDelays = [{ seconds: 5 }, { seconds: 30 }, { minutes: 2 }, { minutes: 10 }, { minutes: 30 }]

/** How long after a failed attempt, the `attempts`th, a signed PDF is retried. */
export function pdfRetryDelay(attempts: number): Temporal.Duration {
  return Temporal.Duration.from(pdfRetryDelays[attempts - 1] ?? { hours: 1 })
}

/** The fields of a member's seat that a waiver is matched with. */
export interface MemberSignable {
  outcome: MemberSeatOutcome
  classDate: string
  /** The existing signature. */
  waiver: { id: string; guardianName: string; children: { childName: string }[]; documentSha256: string } | null
}

/** The outcome for a membership as a whole: it continues while it runs, or has a class. */
export function memberOutcome(
  seat: { outcome: MemberSeatOutcome; endedAt: Temporal.Instant | null },
  hasClass: boolean,
): MemberSeatOutcome {
  const { outcome, endedAt } = seat
  if (outcome !== 'seated' && outcome !== 'released') return outcome
  return hasClass || endedAt === null ? 'seated' : 'released'
}

/** The outcome as shown to the member. */
export function memberSeatStatus(outcome: MemberSeatOutcome): 'seated' | 'released' | 'refused' {
  return outcome === 'seated' || outcome === 'released' ? outcome : 'refused'
}

/**
 * As `checkSignature`, for a membership. It has no registered child, so the signature itself says who signs for whom. Its id is in
 * mails, so somebody else may have signed first: its owner can replace that signature by naming it (`replace`).
 * @throws DomainError `registration_not_paid`, `waiver_already_signed`, `registration_not_found`, `waiver_document_changed`
 */
export function checkMemberSignature(
  { outcome, classDate, waiver }: MemberSignable,
  signature: Pick<Signature, 'guardianName' | 'childName' | 'startDate' | 'documentSha256'> & {
    replaces?: string | undefined
  },
  isOwner: boolean,
  signableDocuments: readonly string[],
): 'sign' | 'repeat' | 'replace' {
  const { guardianName, childName, startDate, documentSha256, replaces } = signature
  if (startDate !== '' && startDate !== classDate) throw unknownMembership()
  const status = memberSeatStatus(outcome)
  if (status === 'released') {
    throw new DomainError('registration_not_paid', 'This membership has ended, so there is nothing to sign.')
  }
  if (status === 'refused') {
    throw new DomainError(
      'registration_not_paid',
      'This membership got no seat and its payment was refunded, so there is nothing to sign.',
    )
  }
  if (waiver) {
    const same =
      sameText(waiver.guardianName, guardianName) &&
      waiver.children.some((child) => sameText(child.childName, childName)) &&
      (documentSha256 === null || documentSha256 === waiver.documentSha256)
    if (same) return 'repeat'
    if (!isOwner || replaces !== waiver.id) throw memberSigned()
  }
  if (documentSha256 !== null && !signableDocuments.includes(documentSha256)) throw documentChanged()
  return waiver ? 'replace' : 'sign'
}

function memberSigned(): DomainError {
  const way = 'If it wasn’t you, please log in and sign it again. Your signature will replace it.'
  return new DomainError('waiver_already_signed', `The waiver for this membership is already signed. ${way}`)
}

/** Deliberately vague, to disclose nothing. */
export function unknownMembership(): DomainError {
  return new DomainError(
    'registration_not_found',
    'There is no membership with these details. Please use the link in your welcome email, or on your profile page.',
  )
}

function documentChanged(): DomainError {
  return new DomainError('waiver_document_changed', 'The waiver was updated. Please read it again.')
}
