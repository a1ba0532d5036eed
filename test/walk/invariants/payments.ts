import type { RegisterBody } from '@robokids/contracts/bff'
import { emailKey } from '@robokids/contracts/fields'
import { chargesOf, type ProviderCharge } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Asker, Page, Purchase, Walk } from '../walk.ts'

interface Row {
  id: string
  status: string
  paymentId: string | null
  /** Its family has given up all of its seats. */
  wasCancelled: boolean
}
interface MembershipRow {
  id: string
  status: string
  seat: string
}
interface PaymentRow {
  id: string
  intentId: string
  purchaseId: string
  outcome: string
  amount: number
}
interface RefundRow {
  paymentId: string
  amount: number
  status: string
}

/** The services' records of this walk's purchases. */
async function known(walk: Walk) {
  const ids = walk.purchases.map(({ id }) => id)
  const billing = walk.world.system.sql('billing')
  const [registrations, payments, memberships, holds, moves] = await Promise.all([
    walk.world.system.sql('enrollment')<Row[]>`
      select id, status, payment_id as "paymentId", status = 'cancelled' and exists (
        select from changes where registration_id = registrations.id and kind = 'cancel'
          and updated_at = (select max(cancelled_at) from places where registration_id = registrations.id)
      ) as "wasCancelled" from registrations where id = any(${ids}::uuid[])`,
    billing<PaymentRow[]>`
      select id, stripe_payment_intent_id as "intentId", registration_id as "purchaseId", outcome, amount
      from payments where registration_id = any(${ids}::uuid[])`,
    billing<MembershipRow[]>`
      select attempt_id as id, status, seat from memberships where attempt_id = any(${ids}::uuid[])`,
    walk.world.system.sql('enrollment')<{ email: string; date: string }[]>`
      select split_part(email_key, ' ', 1) as email, date::text from (
        select email_key, class_session_id from member_holds
        union select email_key, class_session_id from pending_member_holds) as holds
      join class_sessions on class_sessions.id = class_session_id
      where date = any(${walk.dates as string[]}::date[])`,
    walk.world.system.sql('enrollment')<Omit<Row, 'wasCancelled'>[]>`
      select id, status, payment_id as "paymentId" from changes where id = any(${ids}::uuid[])`,
  ])
  const refunds = await billing<RefundRow[]>`
    select payment_id as "paymentId", amount, status from refunds
    where payment_id = any(${payments.map(({ id }) => id)}::uuid[])`
  return {
    registrations: new Map(registrations.map((row) => [row.id, row])),
    moves: new Map(moves.map((row) => [row.id, row])),
    payments: new Map(payments.map((row) => [row.intentId, row])),
    memberships: new Map(memberships.map((row) => [row.id, row])),
    holds: new Set(holds.map(({ email, date }) => `${email} ${date}`)),
    refunds: Map.groupBy(refunds, ({ paymentId }) => paymentId),
  }
}

const stands = (status: string | undefined) => status === 'confirmed' || status === 'waiver_signed'

/**
 * Every charged cent belongs to exactly one purchase that stands, is refunded, or is recorded as owed. For a settled
 * system.
 */
export async function chargesHavePurchases(walk: Walk): Promise<void> {
  const { registrations, moves, payments, memberships, refunds } = await known(walk)
  const keptOfCart = new Map<string, string>()
  const checkCharge = (paid: ProviderCharge) => {
    const { of, charge, intentId, kept } = paid
    const payment = payments.get(intentId)
    const what = `${charge.amount_captured} for the ${of.kind} ${of.id} (${charge.id})`
    if (!payment) throw new Violation('what is paid is known', what)
    const rows = refunds.get(payment.id) ?? []
    const back = rows.filter(({ status }) => status !== 'failed').reduce((sum, { amount }) => sum + amount, 0)
    if (charge.amount_captured - back !== kept && !paid.dispute)
      throw new Violation('refunds are known', `${what}: the provider keeps ${kept}, billing has given ${back} back`)
    // The bank decides disputes.
    if (paid.dispute && paid.dispute.status !== 'won') return
    if (kept === 0) return
    const failed = rows.filter(({ status }) => status === 'failed').reduce((sum, { amount }) => sum + amount, 0)
    const isOwed = kept <= failed
    if (payment.outcome !== 'accepted' && !isOwed)
      throw new Violation('money belongs to something or goes back', `${what}: ${payment.outcome}, ${kept} kept`)
    if (isOwed) return
    if (of.kind === 'registration') {
      const registration = registrations.get(of.id)
      const isKept = stands(registration?.status) || registration?.wasCancelled
      if (!isKept || registration?.paymentId !== payment.id)
        throw new Violation(
          'money belongs to something or goes back',
          `${what}: ${kept} kept, the registration is ${registration?.status}`,
        )
    }
    if (of.kind === 'move') {
      const [registration, move] = [registrations.get(of.of.id), moves.get(of.id)]
      const isKept = stands(registration?.status) || registration?.wasCancelled
      if (!isKept || move?.status !== 'done' || move.paymentId !== payment.id)
        throw new Violation(
          'money belongs to something or goes back',
          `${what}: ${kept} kept, the move is ${move?.status}, its registration is ${registration?.status}`,
        )
    }
    if (of.kind === 'membership') {
      const membership = memberships.get(of.id)
      if (!membership || membership.seat === 'gone' || !['active', 'ended'].includes(membership.status))
        throw new Violation(
          'money belongs to something or goes back',
          `${what}: ${kept} kept, the membership is ${membership?.status}, its seat ${membership?.seat}`,
        )
    }
    if (of.kind === 'order') {
      const other = keptOfCart.get(of.cart)
      if (other !== undefined)
        throw new Violation(
          'nobody pays twice for one thing',
          `the orders ${other} and ${of.id} are one cart, both paid`,
        )
      keptOfCart.set(of.cart, of.id)
    }
  }
  for (const paid of chargesOf(walk)) checkCharge(paid)
}

/** Whether only one of two purchases may be paid. Purchases that others make with the same address are separate. */
function isSamePurchase(walk: Walk, one: Purchase, other: Purchase): boolean {
  if (one.kind === 'order' && other.kind === 'order') return one.cart === other.cart
  if (one.kind === 'membership' && other.kind === 'membership')
    return one.email === other.email && walk.isMadeBy(one.by, other)
  if (one.kind === 'registration' && other.kind === 'registration')
    return one.id === other.id || (isOneRequester(one.by, other.by) && isSameSeat(one.body, other.body))
  return one.id === other.id
}

/** What one requester may do is known to another only if they share the account and the browser. */
const isOneRequester = (one: Asker, other: Asker) => one.account === other.account && one.browser === other.browser

const childrenOf = ({ childName, siblings = [] }: RegisterBody) => [childName, ...siblings.map((one) => one.childName)]

/** Whether two forms ask a seat in the same class for the same child. */
function isSameSeat(one: RegisterBody, other: RegisterBody): boolean {
  const isSameClass = one.classType === other.classType && one.startDate === other.startDate
  return isSameClass && one.email === other.email && childrenOf(one).some((child) => childrenOf(other).includes(child))
}

/**
 * An opened page that can be paid has its seats held, no second such page exists, and what it is for is not paid already. For a
 * settled system.
 */
export async function openPagesHoldTheirSeats(walk: Walk): Promise<void> {
  const { provider } = walk.world.system
  const { registrations, moves, holds } = await known(walk)
  const open: Page[] = []
  for (const page of walk.pages) {
    const { sessionId, of } = page
    if (provider.sessions.get(sessionId)?.object.status !== 'open') continue
    const other = open.find((one) => !one.byStranger && !page.byStranger && isSamePurchase(walk, one.of, of))
    if (other)
      throw new Violation(
        'one page at a time can be paid',
        `${other.sessionId} and ${sessionId} for the ${of.kind} ${of.id}`,
      )
    open.push(page)
    const paid = walk.registrations.find(
      (one) => one.id !== of.id && stands(registrations.get(one.id)?.status) && isSamePurchase(walk, one, of),
    )
    // A page that is not opened yet, of a registration that has ended meanwhile, can never be opened: its link is refused.
    const isPayable = page.opened || registrations.get(of.id)?.status === 'held'
    if (paid && !page.byStranger && isPayable)
      throw new Violation(
        'what is paid cannot be paid again',
        `${sessionId} of ${of.id}, though ${paid.id} is paid for the same child`,
      )
    if (!page.opened) continue
    if (of.kind === 'registration') {
      const status = registrations.get(of.id)?.status
      if (status !== 'held')
        throw new Violation('a page that can be paid has its seats', `${sessionId} of ${of.id}, which is ${status}`)
    }
    if (of.kind === 'move') {
      const status = moves.get(of.id)?.status
      if (status !== 'held')
        throw new Violation(
          'a page that can be paid has its seats',
          `${sessionId} of the move ${of.id}, which is ${status}`,
        )
    }
    if (of.kind === 'membership' && !holds.has(`${emailKey(of.email)} ${of.date}`))
      throw new Violation('a page that can be paid has its seats', `${sessionId} of ${of.email} for ${of.date}`)
  }
}
