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

/** What to add to a session's counts. */
export interface SeatChange {
  held: number
  sold: number
}

const noSeats: SeatChange = { held: 0, sold: 0 }

export function seatsLeft(classSession: Pick<ClassSessionState, 'capacity' | 'held' | 'sold'>): number {
  return Math.max(0, classSession.capacity - classSession.held - classSession.sold)
}

/** Whether the session is on sale: open, and not begun. */
export function isOffered(
  classSession: Pick<ClassSessionState, 'status' | 'startsAt'>,
  now: Temporal.Instant,
): boolean {
  return classSession.status === 'open' && Temporal.Instant.compare(now, classSession.startsAt) < 0
}

/** Whether a class begins within a week, by the clock on its wall, and has fewer children than it is meant to have. */
export function isTooSmall(classSession: ClassSessionState & { timeZone: string }, now: Temporal.Instant): boolean {
  const { startsAt, timeZone, sold, capacity } = classSession
  const weekBefore = startsAt.toZonedDateTimeISO(timeZone).subtract({ days: 7 }).toInstant()
  const isDue = Temporal.Instant.compare(weekBefore, now) <= 0
  return isDue && isOffered(classSession, now) && sold < Math.min(minClassSize, capacity)
}

/** @param path what the request calls the date. */
export function classNotOffered(path: 'startDate' | 'classDate' = 'startDate'): DomainError {
  const message = 'This class date is not offered. Please choose another date.'
  return new DomainError('class_not_offered', message, [{ path, message }])
}

export function classFull(): DomainError {
  return new DomainError('class_full', 'This class is full. Please choose another date.')
}

/** What two registrations of one family are compared by. */
export interface RegistrationContent {
  guardianName: string
  email: string
  children: Registration['children']
  address: Registration['address']
}

/**
 * Who asks for something: the account that is signed in, and the browser that the BFF knows by its cookie. An address proves
 * nobody, as anybody can type it, nor does a reference, which stands in mails.
 */
export interface Asker {
  ownerId: string | null
  browserId: string | null
}

/** Whose a registration is, and by whom it was made. */
export interface Made {
  email: string
  ownerId: string | null
  /** Who was signed in. */
  askedOwnerId: string | null
  browserId: string | null
  status: RegistrationStatus
}

const isSame = (a: string | null, b: string | null) => a !== null && a === b

/**
 * Whether whoever asks may be told of a registration: who made it, and of one that is paid its account. What others hold
 * with an account's address is not that account's business before it is paid: they may hold it to keep the account out.
 */
export function isKnownTo({ ownerId, browserId }: Asker, made: Made): boolean {
  if (isSame(browserId, made.browserId) || isSame(ownerId, made.askedOwnerId)) return true
  return isPaidStatus(made.status) && isSame(ownerId, made.ownerId)
}

/** Whether whoever asks may have a registration give way to another one. Its address may be what is corrected. */
export function mayReplace({ ownerId, browserId }: Asker, made: Made): boolean {
  return isSame(ownerId, made.ownerId) || (made.askedOwnerId === null && isSame(browserId, made.browserId))
}

/** A registration of the same family, for the same class and date. */
export interface FamilyRegistration extends RegistrationContent {
  registrationId: string
  status: RegistrationStatus
  heldUntil: Temporal.Instant | null
  seats: number
  separate: boolean
}

/** Whether it has its seats, paid or held. */
export function stands(status: RegistrationStatus): boolean {
  return status === 'held' || isPaidStatus(status)
}

function isPaidStatus(status: RegistrationStatus): status is 'confirmed' | 'waiver_signed' {
  return status === 'confirmed' || status === 'waiver_signed'
}

/** The same child, however its name was typed. */
function sameName(a: string, b: string): boolean {
  const key = (name: string) => name.trim().normalize('NFC').toLowerCase()
  return key(a) === key(b)
}

/** As `sameName` and without accents: nobody has two children of one age whose names differ in an accent alone. */
function looseName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

/**
 * Refuses a child that is registered beside itself: as its own sibling it would be free.
 * @throws DomainError `validation_failed`, with the sibling's field in the form
 */
export function refuseOneChildTwice(children: Registration['children']): void {
  const places = children.map(({ childName, childAge }) => `${childAge} ${looseName(childName)}`)
  const twice = places.findIndex((place, index) => places.indexOf(place) < index)
  if (twice === -1) return
  const message = 'This child is in this registration already.'
  throw new DomainError('validation_failed', message, [{ path: `siblings.${twice - 1}.childName`, message }])
}

function saysTheSame(a: RegistrationContent, b: RegistrationContent): boolean {
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

/** The registration of the family that says the very same. Whoever does not know all of it is not told which one it is. */
export function findSame<One extends RegistrationContent>(
  family: One[],
  content: RegistrationContent,
): One | undefined {
  return family.find((one) => saysTheSame(one, content))
}

/** The registrations of the family that have a seat for one of these children already. */
export function conflicts<One extends Pick<FamilyRegistration, 'children' | 'separate'>>(
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
 * Refuses a seat for children that have one already by another registration of their family.
 * @param family what stands of it for this class and date, paid or held, as far as whoever asks may know.
 * @throws DomainError `already_registered`, with the child's field in the form
 */
export function refuseSecondSeat(
  family: FamilyRegistration[],
  registration: Pick<FamilyRegistration, 'children' | 'separate'>,
  now: Temporal.Instant,
): void {
  const [one] = conflicts(family, registration)
  if (!one) return
  const index = registration.children.findIndex((child) =>
    one.children.some((other) => sameName(other.childName, child.childName)),
  )
  const childName = registration.children[index]?.childName ?? ''
  const path = index === 0 ? 'childName' : `siblings.${index - 1}.childName`
  const minutes = one.heldUntil ? Math.max(1, Math.ceil(now.until(one.heldUntil).total('minutes'))) : 0
  const message =
    one.status === 'held'
      ? `A seat in this class is held for ${childName} already, by a registration that waits for its payment. Please finish that one, or try again in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}.`
      : `${childName} is registered for this class and date already. The confirmation is in your email.`
  throw new DomainError('already_registered', message, [{ path, message }])
}

/** Seats that wait for their payment. */
export interface UnpaidSeats {
  seats: number
  heldUntil: Temporal.Instant
  /** Of the account or the browser that asks for more. */
  ofFamily: boolean
  /** Of the network from which more are asked for. */
  ofNetwork: boolean
}

/** The minutes after which enough of them were let go, should nobody pay; undefined where there is room at once. */
function minutesUntilRoom(unpaid: UnpaidSeats[], wanted: number, limit: number, now: Temporal.Instant) {
  let over = unpaid.reduce((sum, { seats }) => sum + seats, 0) + wanted - limit
  if (over <= 0) return undefined
  const soonest = unpaid.toSorted((a, b) => Temporal.Instant.compare(a.heldUntil, b.heldUntil))
  const last = soonest.find(({ seats }) => (over -= seats) <= 0)
  return Math.max(1, Math.ceil(last ? now.until(last.heldUntil).total('minutes') : 1))
}

/**
 * Refuses seats beyond what a family and a network may have unpaid at once.
 * @throws DomainError `too_many_unpaid`
 */
export function refuseTooManyUnpaid(
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
      `${held} for your family already and not paid yet. Please pay for what you want to keep, or try again ${after(ofFamily)}: what is not paid is let go.`,
    )
  }
  const network = unpaid.filter((one) => one.ofNetwork)
  const ofNetwork = minutesUntilRoom(network, wanted, limits.network, now)
  if (ofNetwork === undefined) return
  throw new DomainError(
    'too_many_unpaid',
    `Many seats that are not paid yet are held from the network you are on, by other families perhaps. If some are yours, please pay for them first. Otherwise try again ${after(ofNetwork)}, or from another network, such as your phone's.`,
  )
}

/** `released`: it had one, and the membership ended before the class. */
export const memberSeatOutcomes = ['seated', 'class_full', 'class_started', 'class_not_offered', 'released'] as const
export type MemberSeatOutcome = (typeof memberSeatOutcomes)[number]

/**
 * Whether a new member gets a seat in the members' session of a date, or why not. One that was held in time is kept even
 * where the class has begun meanwhile.
 */
export function judgeMemberSeat(
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
  confirmed: 'This registration is paid already.',
  waiver_signed: 'This registration is paid and signed already.',
  rejected: 'This registration was turned away and its payment returned. Please register again.',
  cancelled: 'This registration was cancelled. Please register again.',
}

function registrationClosed(status: ClosedStatus): DomainError {
  return new DomainError('registration_closed', closed[status])
}

/**
 * A parent comes back to pay: a hold that ran out takes its seats again, and one that still stands is prolonged.
 * @param family what else stands of it for this class and date, as far as whoever asks may know. One that ran out gives way to
 * all of that, one of its own too.
 * @throws DomainError `registration_closed`, `class_not_offered`, `already_registered`, `class_full`
 */
export function renewHold(
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
    refuseSecondSeat(paid, { children, separate }, now)
    return noSeats
  }
  refuseSecondSeat(family, { children, separate: false }, now)
  if (seatsLeft(classSession) < seats) throw classFull()
  return { held: seats, sold: 0 }
}

/** How long a hold has to last at least until its payment page is opened. */
const timeToOpen = Temporal.Duration.from({ minutes: 5 })

/** How long a checkout that is made now can be paid. */
const checkoutLifetime = Temporal.Duration.from({ minutes: paymentPageMinutes })

/**
 * Whether the seats are held for long enough for whoever goes on to pay: until the payment page can be opened, which has them
 * held for as long as it can be paid. Where a page was opened already, that may be over, and its end would end the hold: then for
 * as long as another one can be paid.
 */
export function isHeldForLong(
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

/** A payment page is being opened for a hold. @throws DomainError `registration_closed` where there is none (any more) */
export function refuseOpening(status: RegistrationStatus): void {
  if (status === 'held') return
  if (status !== 'expired') throw registrationClosed(status)
  throw new DomainError('registration_closed', 'The seats of this registration were let go. Please hold them again.')
}

const notEndable: Record<ClosedStatus, string> = {
  confirmed: 'This registration is paid, so there is no hold to end. Refunding its payment cancels it.',
  waiver_signed: 'This registration is paid and signed, so there is no hold to end. Refunding its payment cancels it.',
  rejected: 'This registration was rejected and its payment returned, so there is no hold to end.',
  cancelled: 'This registration is cancelled already, so there is no hold to end.',
}

/** An operator ends a hold. @throws DomainError `registration_closed` where there is none that could end */
export function refuseEndOfHold(status: RegistrationStatus): void {
  if (status === 'held' || status === 'expired') return
  throw new DomainError('registration_closed', notEndable[status])
}

/** What a hold that ends unpaid changes; undefined where there is none. */
export function endHold(registration: RegistrationState): SeatChange | undefined {
  return registration.status === 'held' ? { held: -registration.seats, sold: 0 } : undefined
}

/**
 * Whether an attempt that was made at `createdAt` is now the newest one of the present hold.
 * @param isOpened its page is being opened at this moment, so that it is of the present hold whenever it was made.
 */
export function isNewestAttempt(
  registration: RegistrationState,
  createdAt: Temporal.Instant,
  isOpened = false,
): boolean {
  const { status, holds, heldSince, attemptCreatedAt } = registration
  if (status !== 'held') return false
  // The first hold is older than any attempt; a renewed one may still hear of attempts that were made for earlier ones.
  if (!isOpened && holds > 1 && Temporal.Instant.compare(createdAt, heldSince) < 0) return false
  return attemptCreatedAt === null || Temporal.Instant.compare(createdAt, attemptCreatedAt) > 0
}

/**
 * Whether the end of this attempt is the end of the present hold. In doubt it is not: such a hold runs out by itself a
 * few minutes later, while seats that were let go under a parent's hands may be sold to another family.
 */
export function isAttemptOfHold(registration: RegistrationState, attemptId: string): boolean {
  if (registration.attemptId !== null) return registration.attemptId === attemptId
  return registration.holds === 1
}

/** What was already heard of one payment; its two facts can arrive in either order and more than once. */
export interface KnownPayment {
  completed: boolean
  refunded: boolean
}

export type PaymentOutcome =
  | { kind: 'nothing' }
  /** `letGo`: the holds of the same children that end with it, whose seats `seats` does not count. */
  | { kind: 'confirm'; seats: SeatChange; letGo: string[] }
  | { kind: 'cancel'; seats: SeatChange }
  | { kind: 'reject'; seats: SeatChange; reason: RejectionReason; duplicateOf: string | null }

const nothing: PaymentOutcome = { kind: 'nothing' }

/**
 * What a completed payment does. A hold that was made in time is confirmed even where the class has begun meanwhile. Of
 * several registrations of one child, the one that is paid first stands: one that is only held gives way to it, and one
 * that is paid later is a duplicate.
 * @param family what else stands of it for this class and date.
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
  // A second payment of the same registration: billing sees it, and returns it.
  if (isPaidStatus(status)) return nothing
  if (status === 'rejected' || status === 'cancelled') {
    if (payment.refunded) return nothing
    return reject(registration.rejectionReason ?? 'registration_cancelled', noSeats)
  }
  const released = { held: status === 'held' ? -seats : 0, sold: 0 }
  if (payment.refunded) return { kind: 'cancel', seats: released }
  if (classSession.status === 'cancelled') return reject('registration_cancelled', released)
  const others = conflicts(family, registration)
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
    letGo: held.map((one) => one.registrationId),
  }
}

/** What the full refund of a payment does: undefined where it changes nothing. */
export function settleRefund(
  registration: RegistrationState,
  paymentId: string,
  payment: KnownPayment,
): SeatChange | undefined {
  if (payment.refunded || registration.paymentId !== paymentId) return undefined
  if (registration.status !== 'confirmed' && registration.status !== 'waiver_signed') return undefined
  return { held: 0, sold: -registration.seats }
}

/** What is known of a payment's way back. */
export interface Returns {
  refunds: { amount: number; refunded: boolean; failed: boolean }[]
  disputes: { status: 'open' | 'won' | 'lost' }[]
}

/** @param status in the provider's words. An inquiry that was closed took nothing. */
export function disputeStatus(status: string): 'open' | 'won' | 'lost' {
  if (status === 'lost') return 'lost'
  return ['won', 'warning_closed', 'prevented'].includes(status) ? 'won' : 'open'
}

/** How the payment of a registration stands. */
export function paymentStateOf(
  { status, paidAmount }: { status: RegistrationStatus; paidAmount: number | null },
  { refunds, disputes }: Returns,
): PaymentState {
  if (disputes.some((dispute) => dispute.status === 'lost')) return 'lost'
  if (disputes.some((dispute) => dispute.status === 'open')) return 'disputed'
  const paid = paidAmount ?? 0
  const sum = (some: Returns['refunds']) => some.reduce((total, { amount }) => total + amount, 0)
  const underWay = refunds.filter(({ failed }) => !failed)
  if (underWay.length > 0 && sum(underWay) >= paid) {
    return sum(underWay.filter(({ refunded }) => refunded)) >= paid ? 'refunded' : 'refund_under_way'
  }
  if (status === 'cancelled' || status === 'rejected') {
    if (refunds.some(({ failed }) => failed)) return 'refund_failed'
  }
  return disputes.length > 0 ? 'won' : 'paid'
}

const moneyIsGone: Record<Exclude<PaymentState, 'paid' | 'won'>, string> = {
  refund_under_way: 'The payment of this registration is on its way back',
  refunded: 'The payment of this registration was returned',
  refund_failed: 'The payment of this registration is owed back',
  disputed: 'The payment of this registration is disputed with the bank',
  lost: 'The payment of this registration went back after a dispute with the bank',
}

/** Why nothing that a payment paid for may be shipped or signed; undefined where it may. */
export function whyNotBacked(state: PaymentState): string | undefined {
  return state === 'paid' || state === 'won' ? undefined : moneyIsGone[state]
}

/** A registration as far as a waiver is matched with it. */
export interface Signable {
  registrationId: string
  status: RegistrationStatus
  paymentState: PaymentState
  guardianName: string
  email: string
  children: { childName: string }[]
  classType: string
  startDate: string
  /** What is signed already. */
  waiver: { guardianName: string; documentSha256: string } | null
}

export interface Signature {
  guardianName: string
  childName: string
  email: string
  classType: string
  /** Empty where the signer's page did not know it. */
  startDate: string
  documentSha256: string | null
}

/** The same name, typed on whichever keyboard. */
function sameText(a: string, b: string): boolean {
  return a.trim().normalize('NFC') === b.trim().normalize('NFC')
}

function isAbout(signature: Signature, registration: Signable): boolean {
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
  rejected: 'This registration could not be confirmed and its payment is returned, so there is nothing to sign.',
  cancelled: 'This registration was cancelled, so there is nothing to sign.',
}

/**
 * Finds the registration that is signed for among those of the signer: the paid one, where several fit the oldest that
 * is still unsigned.
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

/** As `chooseSignable`; undefined where none fits. */
export function findSignable<Candidate extends Signable>(
  candidates: Candidate[],
  signature: Signature,
): Candidate | undefined {
  const fitting = candidates.filter((candidate) => isAbout(signature, candidate))
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

/** What a stranger is told who wants to sign without a reference, whatever there is with these details. */
export function notTold(): DomainError {
  return new DomainError(
    'registration_not_found',
    'We cannot find this registration from here. Please sign by the link in its confirmation. If there is one with these details, that link has been emailed once more today.',
  )
}

/**
 * Whether this signature is to be recorded (`sign`), or is one that is already (`repeat`).
 * @throws DomainError `registration_not_paid`, `waiver_already_signed`, `registration_not_found`, `waiver_document_changed`
 */
export function judgeSignature(
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
    if (!same) throw new DomainError('waiver_already_signed', 'The waiver of this registration is signed already.')
    return 'repeat'
  }
  const reason = whyNotBacked(registration.paymentState)
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

const pausesOfPdf = [{ seconds: 5 }, { seconds: 30 }, { minutes: 2 }, { minutes: 10 }, { minutes: 30 }]

/** How long after its `tries`th try the making of a signed PDF is tried again. */
export function pauseAfterTry(tries: number): Temporal.Duration {
  return Temporal.Duration.from(pausesOfPdf[tries - 1] ?? { hours: 1 })
}

/** A member's seat as far as a waiver is matched with it. */
export interface MemberSignable {
  outcome: MemberSeatOutcome
  classDate: string
  /** What is signed already. */
  waiver: { id: string; guardianName: string; children: { childName: string }[]; documentSha256: string } | null
}

/** What the seat of a membership is to its member. */
export function memberSeatStatus(outcome: MemberSeatOutcome): 'seated' | 'released' | 'refused' {
  return outcome === 'seated' || outcome === 'released' ? outcome : 'refused'
}

/**
 * As `judgeSignature`, of a membership. No child was registered with it: who signs for whom is what the signature itself
 * tells. Its id stands in mails, so somebody else may have signed first: its owner's signature takes the place of the one
 * that it names (`replace`).
 * @throws DomainError `registration_not_paid`, `waiver_already_signed`, `registration_not_found`, `waiver_document_changed`
 */
export function judgeMemberSignature(
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
      'This membership got no seat and its payment is returned, so there is nothing to sign.',
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
  const way = 'If it was not you, please log in and sign it again: that signature takes its place.'
  return new DomainError('waiver_already_signed', `The waiver of this membership is signed already. ${way}`)
}

/** Who signs is told no more than that. */
export function unknownMembership(): DomainError {
  return new DomainError(
    'registration_not_found',
    'There is no membership with these details. Please use the link in your welcome email, or on your profile page.',
  )
}

function documentChanged(): DomainError {
  return new DomainError('waiver_document_changed', 'The waiver was updated. Please read it again.')
}
