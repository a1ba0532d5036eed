import type { MailKind } from '@robokids/contracts/notifications'
import { renews, subscriptionOf } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Purchase, Walk } from '../walk.ts'

interface MailRow {
  kind: MailKind
  recipient: string
  status: string
  createdAt: Date
  sentAt: Date | null
  data: Record<string, unknown>
}

/** The state of a purchase that a mail reports. */
type ReportedState = 'stands' | 'continues' | 'is cancelled' | 'has ended'

/** Whether the whole payment has been refunded. */
function isWhole({ data }: MailRow): boolean {
  const whole = data['whole'] as boolean | undefined
  return whole ?? (Number(data['refundedTotal']) >= Number(data['paidAmount']) && data['again'] !== true)
}

const reportedStates: Partial<Record<MailKind, (mail: MailRow) => ReportedState | undefined>> = {
  registration_confirmed: () => 'stands',
  waiver_signed: () => 'stands',
  payment_refunded: (mail) => (isWhole(mail) ? 'has ended' : undefined),
  refund_failed: ({ data }) => (data['untold'] === true ? 'has ended' : undefined),
  places_cancelled: ({ data }) => (data['isOver'] === true ? 'has ended' : undefined),
  order_paid: () => 'stands',
  order_shipped: () => 'stands',
  order_refunded: (mail) => (isWhole(mail) ? 'has ended' : undefined),
  membership_confirmed: () => 'continues',
  membership_renewed: () => 'continues',
  membership_resumed: () => 'continues',
  membership_switched: () => 'continues',
  membership_cancelled: () => 'is cancelled',
  membership_ended: () => 'has ended',
}

/** The id of the registration, order or membership that a mail is about. */
function subjectOf({ data }: MailRow): string {
  const about = { ...(data['purchase'] as object | undefined), ...data } as Record<string, string | undefined>
  return about['registrationId'] ?? about['orderId'] ?? about['attemptId'] ?? ''
}

/**
 * Mails that are sent whatever the purchase's state is. If its end was known before, they do not say that it continues.
 */
const kindsSentRegardless: MailKind[] = ['membership_confirmed', 'membership_renewed', 'order_shipped']

function isSentRegardless(mail: MailRow, all: MailRow[]): boolean {
  if (!kindsSentRegardless.includes(mail.kind)) return false
  return all.some((other) => {
    const state = reportedStates[other.kind]?.(other)
    return (state === 'has ended' || state === 'is cancelled') && Number(other.createdAt) <= Number(mail.sentAt)
  })
}

async function mailsOf(walk: Walk): Promise<MailRow[]> {
  // An order paid by bank debit has no address of the family's.
  const orders = walk.orders.map(({ id }) => id)
  return walk.world.system.sql('notifications')<MailRow[]>`
    select kind, recipient, status, created_at as "createdAt", sent_at as "sentAt", coalesce(data, '{}') as data from mails
    where recipient like ${`${walk.tag}.%`} or data ->> 'orderId' = any(${orders}) order by sent_at, id`
}

async function statuses(walk: Walk) {
  const ids = walk.purchases.map(({ id }) => id)
  const registrations = await walk.world.system.sql('enrollment')<{ id: string; status: string; paymentId: string }[]>`
    select id, status, payment_id as "paymentId" from registrations where id = any(${ids}::uuid[])`
  return new Map(registrations.map((row) => [row.id, row]))
}

/** The last mail about a purchase is true. For a settled system. */
export async function lastMailIsTrue(walk: Walk): Promise<void> {
  const mails = await mailsOf(walk)
  const about = Map.groupBy(mails, subjectOf)
  const registrations = await statuses(walk)
  for (const purchase of walk.purchases) {
    const purchaseMails = about.get(purchase.id) ?? []
    const registration = registrations.get(purchase.id)
    // Refunding a second payment does not affect the purchase.
    const counts = ({ kind, data }: MailRow) =>
      (kind !== 'payment_refunded' && kind !== 'refund_failed') ||
      !registration ||
      data['paymentId'] === registration.paymentId
    const sent = purchaseMails.filter((mail) => mail.status === 'sent' && counts(mail))
    const says = sent.flatMap((mail) => {
      if (isSentRegardless(mail, purchaseMails)) return []
      // A membership's state does not depend on its waiver.
      const state =
        purchase.kind === 'membership' && mail.kind === 'waiver_signed' ? undefined : reportedStates[mail.kind]?.(mail)
      return state ? [{ kind: mail.kind, state }] : []
    })
    const last = says.at(-1)
    const is = await stateOf(walk, purchase, registration?.status)
    if (is === undefined) continue
    const wasOver = says.some(({ state }) => state === 'has ended')
    if (wasOver && is === 'stands')
      throw new Violation('what was reported as ended stays ended', `the ${purchase.kind} ${purchase.id} stands`)
    if (last?.state !== is)
      throw new Violation(
        'the last mail about a thing is true',
        `the ${purchase.kind} ${purchase.id} ${is}, mailed were ${says.map(({ kind }) => kind).join(', ') || 'nothing'}`,
      )
  }
}

async function isOnItsWayBack(walk: Walk, { id }: Purchase): Promise<boolean> {
  const rows = await walk.world.system.sql('billing')`
    select from refunds where registration_id = ${id} and status = 'pending'`
  return rows.length > 0
}

/** The state that the last mail should report. */
async function stateOf(
  walk: Walk,
  purchase: Purchase,
  registration: string | undefined,
): Promise<ReportedState | undefined> {
  if (purchase.kind === 'registration') {
    if (registration === 'confirmed' || registration === 'waiver_signed') return 'stands'
    // A rejected family is mailed when the refund completes, which takes some banks days.
    if (registration === 'rejected' && (await isOnItsWayBack(walk, purchase))) return undefined
    if (registration === 'cancelled' || registration === 'rejected') return 'has ended'
    return undefined
  }
  // A move is told by mails about its registration.
  if (purchase.kind === 'move') return undefined
  if (purchase.kind === 'order') {
    const { status, body } = await walk.operate('billing', 'GET', `/orders/${purchase.id}`)
    if (status !== 200 || body['status'] === 'unpaid') return undefined
    return body['status'] === 'refunded' ? 'has ended' : 'stands'
  }
  const [row] = await walk.world.system.sql('billing')<{ status: string; seat: string }[]>`
    select status, seat from memberships where attempt_id = ${purchase.id}`
  const subscription = subscriptionOf(walk, purchase.id)
  if (!subscription || row?.seat !== 'seated' || !['active', 'ended'].includes(row.status)) return undefined
  if (subscription.status === 'canceled') return 'has ended'
  return renews(subscription) ? 'continues' : 'is cancelled'
}

/** Further rules of mails: each is about the state when it was written, and offers only what is possible. */
export async function mailsMatchState(walk: Walk): Promise<void> {
  const mails = await mailsOf(walk)
  const switches = Map.groupBy(
    mails.filter(({ kind }) => kind === 'membership_switched'),
    subjectOf,
  )
  for (const membership of walk.memberships) {
    const { id, owner, switches: asked } = membership
    const mailCount = switches.get(id)?.length ?? 0
    if (mailCount > asked)
      throw new Violation('a change is mailed once', `${id}: ${mailCount} mails about ${asked} changes of plan`)
    if (owner?.state !== 'deleted' || owner.goneSince === undefined) continue
    const gone = owner.goneSince
    for (const mail of mails)
      if (subjectOf(mail) === id && mail.createdAt > gone && mail.data['accountDeleted'] !== true)
        throw new Violation('no mail leads to an account that is gone', `${mail.kind} of ${id}`)
  }
  for (const mail of mails) {
    if (mail.kind !== 'order_refunded' || !isWhole(mail)) continue
    const order = subjectOf(mail)
    const wasShipped = mails.some((one) => one.kind === 'order_shipped' && subjectOf(one) === order)
    if (wasShipped && mail.data['shipped'] !== true)
      throw new Violation('a shipped order is not reported as cancelled', order)
  }
  for (const account of walk.accounts) {
    if (account.state !== 'deleted' || account.userId === '') continue
    if (!mails.some(({ kind, recipient }) => kind === 'user_deleted' && recipient === account.email))
      throw new Violation('a deleted account is mailed', `${account.userId} at ${account.email}`)
  }
}
