import { foundMembershipSchema, type Membership } from '@robokids/contracts/billing'
import { Browser } from '../browser.ts'
import { chargesOf, nextChargeOf, openInvoicesOf, renews, subscriptionOf } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Account, Walk } from '../walk.ts'

/** A browser in which an account is signed in; undefined if it cannot sign in. */
export async function browserOf(walk: Walk, account: Account): Promise<Browser | undefined> {
  const known = walk.browsers.find((one) => one.account === account) ?? walk.windows.get(account)
  if (known) return known
  const browser = new Browser(walk.world.system.siteUrl)
  const { email, password } = account
  const answer = await walk.ask(browser, 'POST', '/api/auth/sign-in', { email, password })
  if (answer.body['step'] !== 'DONE') return undefined
  browser.account = account
  walk.windows.set(account, browser)
  return browser
}

/** The memberships that an account sees; undefined if it cannot sign in. */
async function seenBy(walk: Walk, account: Account): Promise<Membership[] | undefined> {
  const browser = await browserOf(walk, account)
  if (!browser) return undefined
  const answer = await walk.ask(browser, 'GET', '/api/membership')
  if (answer.status !== 200) return undefined
  const { membership, others = [] } = foundMembershipSchema.parse(answer.body)
  return [...(membership ? [membership] : []), ...others]
}

/** Every renewing membership belongs to an account that sees it and can cancel it, or to an address without account. */
export async function membershipsHaveOwners(walk: Walk): Promise<void> {
  const shown = new Map<string, Account>()
  const seen = new Map<Account, Membership[] | undefined>()
  for (const account of walk.accounts) {
    if (account.state !== 'active') continue
    const all = await seenBy(walk, account)
    seen.set(account, all)
    for (const { membershipId } of all ?? []) {
      const other = shown.get(membershipId)
      if (other)
        throw new Violation('a membership is its owner’s alone', `${membershipId}: ${other.email} and ${account.email}`)
      shown.set(membershipId, account)
    }
  }
  for (const membership of walk.memberships) {
    const subscription = subscriptionOf(walk, membership.id)
    const { owner, id, email } = membership
    const account = shown.get(id)
    // A deleted account leaves its paid membership to its address.
    if (account && owner && owner.state !== 'deleted' && account !== owner)
      throw new Violation('a membership is its owner’s alone', `${id} of ${owner.email} is shown to ${account.email}`)
    if (!subscription || !renews(subscription) || !owner) continue
    const what = `${id}, bought for ${email}, of ${owner.email} (${owner.state})`
    if (owner.state === 'deleted' || owner.state === 'disabled')
      throw new Violation('a membership ends with its account', what)
    if (owner.state === 'active' && seen.get(owner) && !account)
      throw new Violation('a charged account can see and cancel it', what)
  }
  for (const [account, memberships] of seen)
    for (const one of memberships ?? []) checkAgainstProvider(walk, account, one)
}

/** A member is shown what the provider will do. */
function checkAgainstProvider(walk: Walk, { email }: Account, view: Membership): void {
  const subscription = subscriptionOf(walk, view.membershipId)
  if (!subscription) return
  const differ = (what: string, ours: unknown, theirs: unknown) => {
    if (ours !== theirs)
      throw new Violation(
        'a member is shown what the provider will do',
        `${view.membershipId} of ${email}: ${what} is ${String(ours)}, the provider says ${String(theirs)}`,
      )
  }
  const hasEnded = subscription.status === 'canceled'
  differ('its end', view.status === 'ended', hasEnded)
  if (hasEnded) return
  differ('whether it continues', view.endsAt === null, renews(subscription))
  const item = subscription.items.data[0]
  differ('its price', view.amount, item?.price.unit_amount)
  // A plan change that awaits confirmation has an open invoice too, and a voided invoice leaves the status unchanged.
  const isUnpaid = ['past_due', 'unpaid'].includes(subscription.status) && openInvoicesOf(walk, subscription).length > 0
  differ('whether a payment is open', view.status === 'past_due', isUnpaid)
  const charge = nextChargeOf(walk, view.membershipId)
  differ('the next charge', view.nextCharge?.amount, charge?.amount)
  differ('the day of it', view.nextCharge && Date.parse(view.nextCharge.at) / 1000, charge?.at ?? null)
}

/** A cancelled membership, or one whose account is gone, is not charged. */
export async function cancelledIsNotCharged(walk: Walk): Promise<void> {
  const charges = chargesOf(walk)
  for (const membership of walk.memberships) {
    const { id, cancelledAfter, owner } = membership
    const isOver = cancelledAfter !== null || owner?.state === 'deleted' || owner?.state === 'disabled'
    if (!isOver) continue
    const count = charges.filter(({ of }) => of === membership).length
    if (cancelledAfter !== null && count > cancelledAfter)
      throw new Violation(
        'what is cancelled is charged no more',
        `${id} was charged ${count - cancelledAfter} times since`,
      )
    const subscription = subscriptionOf(walk, id)
    const open = subscription ? openInvoicesOf(walk, subscription) : []
    if (open.some(({ next_payment_attempt }) => next_payment_attempt !== null))
      throw new Violation('what is cancelled is charged no more', `${id} has an open invoice that is tried again`)
  }
}

/** Each browser shows the account's current data. */
export async function sessionsAreCurrent(walk: Walk): Promise<void> {
  for (const browser of walk.browsers) {
    const { account } = browser
    if (account?.state !== 'active') continue
    const { body } = await walk.ask(browser, 'GET', '/api/auth/session')
    const user = body['user'] as { email: string; userId: string } | null
    if (user?.userId === account.userId && user.email !== account.email)
      throw new Violation('a session shows the address of now', `${user.email} where ${account.email} is verified`)
  }
}
