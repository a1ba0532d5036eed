import { switchQuoteSchema, type Membership } from '@robokids/contracts/billing'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import { renewalTerms } from '@robokids/contracts/membership'
import { membershipTerms } from '@robokids/contracts/offers'
import * as fc from 'fast-check'
import type { Answer, Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { openedPage, sessionOf } from '../pages.ts'
import { chargesOf, nextChargeOf, subscriptionOf } from '../provider.ts'
import { catchUp, quietEvents } from '../settle.ts'
import { Violation } from '../violation.ts'
import type { Joined, Walk } from '../walk.ts'
import { cards } from './paying.ts'

const day = 24 * 3600
const plans = ['monthly', 'yearly'] as const
type Plan = (typeof plans)[number]

interface Offer {
  plan: Plan
  amount: number
  termsVersion: string
}

async function readOffer(walk: Walk, browser: Browser, plan: Plan): Promise<Offer | undefined> {
  const answer = await walk.ask(browser, 'GET', '/api/membership-plans')
  return (answer.body['plans'] as Offer[] | undefined)?.find((offer) => offer.plan === plan)
}

const isMember = (walk: Walk) => walk.browsers.some(({ account }) => account) && walk.memberships.length > 0
/** A signed-in browser, preferably of a member. */
function membersBrowser(walk: Walk, which: number): Browser {
  const all = walk.browsers.filter(({ account }) => account)
  const owners = all.filter(({ account }) => walk.memberships.some(({ owner }) => owner === account))
  return pick(owners.length > 0 ? owners : all, which)
}

const running = (walk: Walk) =>
  walk.memberships.filter(({ id }) => {
    const status = subscriptionOf(walk, id)?.status
    return status === 'active' || status === 'past_due'
  })

/** Advances to just after the next charge of a membership; its invoice is a draft for an hour. */
async function renew(walk: Walk, membershipId: string): Promise<void> {
  const end = subscriptionOf(walk, membershipId)?.items.data[0]?.current_period_end
  if (end !== undefined && (await catchUp(walk.world))) await walk.world.control('clock', { advanceTo: end + 2 * 3600 })
}

function recordChange(walk: Walk, answer: Answer, cancelled: boolean): void {
  if (answer.status !== 200) return
  const { membershipId } = answer.body as unknown as Membership
  const membership = walk.memberships.find(({ id }) => id === membershipId)
  if (!membership) return
  membership.cancelledAfter = cancelled ? countCharges(walk, membership) : null
}

/** Seconds by which the provider's clock is ahead of this machine's. */
const aheadOf = ({ world }: Walk) => world.system.simulator.now() - Date.now() / 1000

const countCharges = (walk: Walk, membership: Joined) => chargesOf(walk).filter(({ of }) => of === membership).length

export const membershipOperations = [
  operation('become a member', {
    weight: 8,
    args: fc.record({
      family: fc.nat(2),
      browser: fc.nat(1),
      plan: fc.constantFrom(...plans),
      date: fc.nat(1),
      address: fc.nat(5),
      fresh: fc.boolean(),
    }),
    async run(walk, { family: index, browser: which, plan, date: nth, address, fresh }) {
      const family = pick(walk.families, index)
      const browser = pick(family.browsers, which)
      const email =
        address < 4 ? (browser.account?.email ?? family.email) : `${walk.tag}.${family.name}.alt@walk.example`
      if (!family.addresses.includes(email)) family.addresses.push(email)
      const date = pick(walk.dates, nth)
      const seen = walk.offersSeen.get(plan)
      let offer = fresh || !seen ? await readOffer(walk, browser, plan) : (seen as Offer)
      const terms = () => {
        const { amount = 0, termsVersion = '' } = offer ?? {}
        return membershipTerms({ plan, amount, classDate: date, termsVersion })
      }
      const send = (agreed: AgreementTerms) => {
        const { termsVersion, dueNow, currency } = agreed
        // The consent text states the amount that is shown.
        const consent = { version: termsVersion ?? '', text: renewalTerms(plan, { amount: dueNow, currency }) }
        const body = { email, plan, classDate: date, consent, agreed }
        return walk.ask(browser, 'POST', '/api/createStripeSession', body)
      }
      const answer = await walk.agree('a membership', terms(), send, async () => {
        offer = await readOffer(walk, browser, plan)
        return terms()
      })
      if (offer) walk.offersSeen.set(plan, offer)
      if (answer.status !== 200) return
      const url = String(answer.body['url'])
      // A member already: the URL is the billing portal.
      const session = walk.world.system.provider.sessions.get(sessionOf(url))?.object
      if (!session) return
      const id = session.metadata?.['attemptId'] ?? ''
      let membership = walk.memberships.find((one) => one.id === id)
      if (!membership) {
        const owner = browser.account ?? null
        membership = {
          kind: 'membership',
          by: walk.asker(browser),
          id,
          family,
          email,
          address: email,
          plan,
          date,
          owner,
          cancelledAfter: null,
          switches: 0,
        }
        walk.memberships.push(membership)
      }
      openedPage(walk, membership, url, browser, answer.agreed.dueNow)
    },
  }),

  ...(['cancel', 'resume'] as const).map((change) =>
    operation(`${change} the membership`, {
      weight: change === 'cancel' ? 3 : 2,
      args: fc.record({ which: fc.nat(5) }),
      possible: isMember,
      async run(walk, { which }) {
        const answer = await walk.ask(membersBrowser(walk, which), 'POST', `/api/membership/${change}`)
        recordChange(walk, answer, change === 'cancel')
      },
    }),
  ),

  operation('ask what another plan costs', {
    weight: 3,
    args: fc.record({ which: fc.nat(5), plan: fc.constantFrom(...plans) }),
    possible: isMember,
    async run(walk, { which, plan }) {
      const browser = membersBrowser(walk, which)
      const answer = await walk.ask(browser, 'POST', '/api/membership/quote', { plan })
      if (answer.status !== 200 || !browser.account) return
      const quote = switchQuoteSchema.parse(answer.body)
      walk.quotes.push({ account: browser.account, browser, body: quote })
      const kept = chargesOf(walk)
        .filter(({ of }) => of.kind === 'membership' && of.owner === browser.account)
        .reduce((sum, charge) => sum + charge.kept, 0)
      if (quote.credit > kept)
        throw new Violation('credit is for what was kept', `${quote.credit} is credited, ${kept} was kept`)
    },
  }),

  operation('change the plan as quoted', {
    weight: 4,
    args: fc.record({ which: fc.nat(3) }),
    possible: (walk) => walk.quotes.some(({ account, browser }) => browser.account === account),
    async run(walk, { which }) {
      const quotes = walk.quotes.filter(({ account, browser }) => browser.account === account)
      const { browser, body: quote } = pick(quotes.toReversed(), which)
      const { plan, dueNow, reckonedAt, agreement } = quote
      const body = { plan, dueNow, reckonedAt, ...(agreement ? { agreed: agreement.terms } : {}) }
      const answer = await walk.ask(browser, 'POST', '/api/membership/switch', body)
      if (answer.status !== 200) return
      const view = answer.body as unknown as Membership
      const membership = walk.memberships.find(({ id }) => id === view.membershipId)
      if (membership) membership.switches += 1
      const next = view.nextCharge?.amount
      if (next !== undefined && next !== quote.amount)
        throw new Violation('what was shown is what is charged', `quoted ${quote.amount}, next charge ${next}`)
      if (view.status === 'past_due')
        throw new Violation('a change that is not paid changes nothing', `${view.membershipId} is ${view.status}`)
    },
  }),

  operation('change the card', {
    args: fc.record({ which: fc.nat(5), card: fc.constantFrom('good', 'failsLater', 'confirmed') }),
    possible: isMember,
    async run(walk, { which, card }) {
      const answer = await walk.ask(membersBrowser(walk, which), 'POST', '/api/membership/portal')
      if (answer.status !== 200) return
      const { pathname } = new URL(String(answer.body['url']))
      const number = { good: cards.good, failsLater: '4000000000000341', confirmed: cards.confirmed }[card]
      const year = new Date(walk.world.system.simulator.now() * 1000).getFullYear() + 3
      const entry = { number, expiry: `12 / ${year % 100}`, cvc: '123', name: 'Test Parent' }
      await walk.world.atProvider('POST', `${pathname}/card`, entry)
    },
  }),

  operation('cancel in the provider’s portal', {
    weight: 1,
    args: fc.record({ which: fc.nat(5) }),
    possible: isMember,
    async run(walk, { which }) {
      const browser = membersBrowser(walk, which)
      const answer = await walk.ask(browser, 'POST', '/api/membership/portal')
      const ownMemberships = running(walk).filter(({ owner }) => owner === browser.account)
      if (answer.status !== 200 || ownMemberships.length === 0) return
      const membership = pick(ownMemberships, which)
      const subscription = subscriptionOf(walk, membership.id)?.id ?? ''
      const { pathname } = new URL(String(answer.body['url']))
      const cancelled = await walk.world.atProvider('POST', `${pathname}/cancel`, { subscription })
      if (cancelled.body['status'] === 'done') membership.cancelledAfter ??= countCharges(walk, membership)
    },
  }),

  operation('a renewal comes', {
    weight: 3,
    args: fc.record({ which: fc.nat(5) }),
    possible: (walk) => running(walk).length > 0,
    run: (walk, { which }) => renew(walk, pick(running(walk), which).id),
  }),

  operation('four days pass at the provider', {
    weight: 1,
    args: fc.constant(null),
    async run({ world }) {
      if (await catchUp(world)) await world.control('clock', { advanceSeconds: 4 * day })
    },
  }),

  operation('the provider ends a membership', {
    weight: 1,
    args: fc.record({ which: fc.nat(5) }),
    possible: (walk) => running(walk).length > 0,
    async run(walk, { which }) {
      const subscription = subscriptionOf(walk, pick(running(walk), which).id)
      await walk.world.atProvider('DELETE', `/v1/subscriptions/${subscription?.id ?? ''}`)
    },
  }),

  operation('a year is nearly over for billing, which reminds its members', {
    weight: 1,
    args: fc.constant(null),
    possible: (walk) =>
      walk.world.system.processes.billing.isRunning() &&
      // A process's clock can be at most ten years ahead.
      aheadOf(walk) < 9 * 365 * day &&
      running(walk).some(({ id }) => subscriptionOf(walk, id)?.items.data[0]?.price.recurring?.interval === 'year'),
    async run(walk) {
      const hours = Math.round(aheadOf(walk) / 3600) + 340 * 24
      const later = await walk.world.system.another('billing', { CLOCK_OFFSET: `PT${hours}H` })
      // Jobs run when a process starts.
      await walk.world.jobDone(later.url, 'remind-members')
      await later.stop()
      await quietEvents(walk.world)
      const reminders = await walk.world.system.sql('notifications')<{ data: Record<string, unknown>; at: Date }[]>`
        select data, created_at as at from mails where kind = 'membership_reminder' and recipient like ${`${walk.tag}.%`}`
      for (const { data, at } of reminders) {
        const charge = nextChargeOf(walk, String(data['attemptId']))
        const next = data['next'] as { amount: number } | undefined
        const reminded = next?.amount ?? data['amount']
        if (at > new Date(Date.now() - 10_000) && charge !== undefined && reminded !== charge.amount)
          throw new Violation(
            'a reminder states what will be charged',
            `${String(reminded)}, the provider will charge ${charge.amount}`,
          )
      }
    },
  }),
]
