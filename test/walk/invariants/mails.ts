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

/** What became of a thing, as a mail about it says. */
type Told = 'stands' | 'goes on' | 'is cancelled' | 'is over'

/** All of the payment that stands for it has gone back. */
function isWhole({ data }: MailRow): boolean {
  const whole = data['whole'] as boolean | undefined
  return whole ?? (Number(data['refundedTotal']) >= Number(data['paidAmount']) && data['again'] !== true)
}

const told: Partial<Record<MailKind, (mail: MailRow) => Told | undefined>> = {
  registration_confirmed: () => 'stands',
  waiver_signed: () => 'stands',
  payment_refunded: (mail) => (isWhole(mail) ? 'is over' : undefined),
  refund_failed: ({ data }) => (data['untold'] === true ? 'is over' : undefined),
  order_paid: () => 'stands',
  order_shipped: () => 'stands',
  order_refunded: (mail) => (isWhole(mail) ? 'is over' : undefined),
  membership_confirmed: () => 'goes on',
  membership_renewed: () => 'goes on',
  membership_resumed: () => 'goes on',
  membership_switched: () => 'goes on',
  membership_cancelled: () => 'is cancelled',
  membership_ended: () => 'is over',
}

/** The thing that a mail is about: the id of a registration, an order or a membership. */
function subjectOf({ data }: MailRow): string {
  const about = { ...(data['purchase'] as object | undefined), ...data } as Record<string, string | undefined>
  return about['registrationId'] ?? about['orderId'] ?? about['attemptId'] ?? ''
}

/** Sent whatever became of the thing. Where its end was known before, they say nothing of how it goes on. */
const sentAllTheSame: MailKind[] = ['membership_confirmed', 'membership_renewed', 'order_shipped']

function tellsNoFuture(mail: MailRow, all: MailRow[]): boolean {
  if (!sentAllTheSame.includes(mail.kind)) return false
  return all.some((other) => {
    const state = told[other.kind]?.(other)
    return (state === 'is over' || state === 'is cancelled') && Number(other.createdAt) <= Number(mail.sentAt)
  })
}

async function mailsOf(walk: Walk): Promise<MailRow[]> {
  // Whoever pays for an order by bank debit gives no address of the family's.
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

/** The last mail about a thing says what is so. For when all has settled. */
export async function theLastMailIsTrue(walk: Walk): Promise<void> {
  const mails = await mailsOf(walk)
  const about = Map.groupBy(mails, subjectOf)
  const registrations = await statuses(walk)
  for (const purchase of walk.purchases) {
    const mine = about.get(purchase.id) ?? []
    const registration = registrations.get(purchase.id)
    // What was paid a second time goes back without touching what stands.
    const counts = ({ kind, data }: MailRow) =>
      (kind !== 'payment_refunded' && kind !== 'refund_failed') ||
      !registration ||
      data['paymentId'] === registration.paymentId
    const sent = mine.filter((mail) => mail.status === 'sent' && counts(mail))
    const says = sent.flatMap((mail) => {
      if (tellsNoFuture(mail, mine)) return []
      // Whether a membership goes on has nothing to do with its waiver.
      const state =
        purchase.kind === 'membership' && mail.kind === 'waiver_signed' ? undefined : told[mail.kind]?.(mail)
      return state ? [{ kind: mail.kind, state }] : []
    })
    const last = says.at(-1)
    const is = await stateOf(walk, purchase, registration?.status)
    if (is === undefined) continue
    const wasOver = says.some(({ state }) => state === 'is over')
    if (wasOver && is === 'stands')
      throw new Violation('what was told as over stays over', `the ${purchase.kind} ${purchase.id} stands`)
    if (last?.state !== is)
      throw new Violation(
        'the last mail about a thing is true',
        `the ${purchase.kind} ${purchase.id} ${is}, told were ${says.map(({ kind }) => kind).join(', ') || 'nothing'}`,
      )
  }
}

async function isOnItsWayBack(walk: Walk, { id }: Purchase): Promise<boolean> {
  const rows = await walk.world.system.sql('billing')`
    select from refunds where registration_id = ${id} and status = 'pending'`
  return rows.length > 0
}

/** What the last mail should say. */
async function stateOf(walk: Walk, purchase: Purchase, registration: string | undefined): Promise<Told | undefined> {
  if (purchase.kind === 'registration') {
    if (registration === 'confirmed' || registration === 'waiver_signed') return 'stands'
    // Of what was turned away its family hears with the refund, which some banks take days for.
    if (registration === 'rejected' && (await isOnItsWayBack(walk, purchase))) return undefined
    if (registration === 'cancelled' || registration === 'rejected') return 'is over'
    return undefined
  }
  if (purchase.kind === 'order') {
    const { status, body } = await walk.operate('billing', 'GET', `/orders/${purchase.id}`)
    if (status !== 200 || body['status'] === 'unpaid') return undefined
    return body['status'] === 'refunded' ? 'is over' : 'stands'
  }
  const [row] = await walk.world.system.sql('billing')<{ status: string; seat: string }[]>`
    select status, seat from memberships where attempt_id = ${purchase.id}`
  const subscription = subscriptionOf(walk, purchase.id)
  if (!subscription || row?.seat !== 'seated' || !['active', 'ended'].includes(row.status)) return undefined
  if (subscription.status === 'canceled') return 'is over'
  return renews(subscription) ? 'goes on' : 'is cancelled'
}

/** What a mail says besides: each is about what was so when it was written, and offers what can be had. */
export async function mailsSayWhatIsSo(walk: Walk): Promise<void> {
  const mails = await mailsOf(walk)
  const switches = Map.groupBy(
    mails.filter(({ kind }) => kind === 'membership_switched'),
    subjectOf,
  )
  for (const membership of walk.memberships) {
    const { id, owner, switches: asked } = membership
    const toldOf = switches.get(id)?.length ?? 0
    if (toldOf > asked)
      throw new Violation('a change is told of once', `${id}: ${toldOf} mails about ${asked} changes of plan`)
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
      throw new Violation('what was shipped is not told as cancelled', order)
  }
  for (const account of walk.accounts) {
    if (account.state !== 'deleted' || account.userId === '') continue
    if (!mails.some(({ kind, recipient }) => kind === 'user_deleted' && recipient === account.email))
      throw new Violation('whoever is deleted is told', `${account.userId} at ${account.email}`)
  }
}
