import { randomUUIDv7 } from 'node:crypto'
import * as fc from 'fast-check'
import type { Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { openedPage, sessionAt, sessionOf } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Account, Family, Joined, Page, Purchase, Walk } from '../walk.ts'

const which = fc.nat(11)

/**
 * A browser of another family, possibly signed in. A browser in which this family has confirmed its account does not
 * count.
 */
function strangersBrowser(walk: Walk, family: Family, index: number): Browser | undefined {
  const browser = pick(
    walk.families.filter((one) => one !== family).flatMap(({ browsers }) => browsers),
    index,
  )
  return browser.account?.family === family ? undefined : browser
}

/** The open pages that nothing is about to close: none while a payment that may close them is being processed. */
async function lastingPages(walk: Walk, of: Purchase[]): Promise<Page[]> {
  const ids = of.map(({ id }) => id)
  const { system } = walk.world
  const attempts = await system.sql('billing')<{ sessionId: string; status: string; lasts: boolean }[]>`
    select stripe_session_id as "sessionId", status, status = 'open' and close_requested_at is null as lasts
    from checkout_attempts where registration_id = any(${ids}::uuid[])
    union all select stripe_session_id, status, status = 'open' and close_requested_at is null
    from membership_attempts where id = any(${ids}::uuid[])`
  const held = await system.sql('enrollment')<{ id: string }[]>`
    select id from registrations where id = any(${ids}::uuid[]) and status = 'held'`
  const attemptOf = (page: Page) => attempts.find(({ sessionId }) => sessionId === page.sessionId)
  const isHeld = (page: Page) => held.some(({ id }) => id === page.of.id)
  const isComplete = (page: Page) => sessionAt(walk, page)?.status === 'complete'
  const pages = walk.pages.filter((page) => ids.includes(page.of.id))
  if (pages.some((page) => isComplete(page) && (attemptOf(page)?.status !== 'paid' || isHeld(page)))) return []
  const isThere = ({ state }: Account) => state === 'active' || state === 'unconfirmed'
  return pages.filter(
    (page) =>
      attemptOf(page)?.lasts === true &&
      sessionAt(walk, page)?.status === 'open' &&
      page.of.family.accounts.every(isThere) &&
      (page.of.kind !== 'registration' || isHeld(page)),
  )
}

/** A stranger who knows a family's address, child or reference closes none of its pages, and learns nothing. */
async function checkNothingChanges(walk: Walk, of: Purchase[], act: () => Promise<{ body: Record<string, unknown> }>) {
  const ids = of.map(({ id }) => id)
  const before = await lastingPages(walk, of)
  const { body } = await act()
  const code = String(body['code'])
  if (code.startsWith('already_')) throw new Violation('a stranger learns nothing', `${ids.join(', ')}: ${code}`)
  const closed = before.filter((page) => sessionAt(walk, page)?.status === 'expired')
  if (closed.length > 0 && !walk.isConcurrent && !walk.hasFaults)
    throw new Violation('a stranger closes nothing', closed.map(({ sessionId }) => sessionId).join(', '))
}

export const strangerOperations = [
  operation('a stranger registers a family’s child, and names its registration', {
    weight: 2,
    args: fc.record({ which, browser: fc.nat(3), names: fc.boolean() }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which, browser: index, names }) {
      const { family, body: known, id, ...made } = pick(walk.registrations, which)
      const browser = strangersBrowser(walk, family, index)
      if (!browser || walk.isMadeBy(walk.asker(browser), { family, body: known, id, ...made })) return
      const { replaces: _, ...content } = known
      const body = { ...content, id: randomUUIDv7(), city: 'Elsewhere', ...(names ? { replaces: id } : {}) }
      const own = walk.registrations.filter((one) => one.body.email === known.email)
      if (own.some((one) => walk.isMadeBy(walk.asker(browser), one))) return
      await checkNothingChanges(walk, own, async () => {
        const answer = await walk.ask(browser, 'POST', '/api/registrations', body)
        if (answer.status !== 200) return answer
        const { registrationId, checkoutUrl } = answer.body as { registrationId: string; checkoutUrl: string }
        const by = walk.asker(browser)
        const registered = { kind: 'registration' as const, by, id: registrationId, family, body, owner: by.account }
        walk.registrations.push(registered)
        openedPage(walk, registered, checkoutUrl, browser)
        return answer
      })
    },
  }),

  operation('a stranger becomes a member with a member’s address', {
    weight: 2,
    args: fc.record({ which, browser: fc.nat(3), date: fc.nat(1) }),
    possible: (walk) => walk.memberships.length > 0,
    async run(walk, { which, browser: index, date: nth }) {
      const { family, address: email } = pick(walk.memberships, which)
      const browser = strangersBrowser(walk, family, index)
      if (!browser) return
      const by = walk.asker(browser)
      const theirs = (one: Joined) => one.email === email || one.address === email
      const own = walk.memberships.filter(theirs)
      if (own.some((one) => walk.isMadeBy(by, one) || (by.account && one.owner === by.account))) return
      await checkNothingChanges(walk, own, async () => {
        const date = pick(walk.dates, nth)
        const asked = { email, plan: 'monthly' as const, classDate: date }
        const answer = await walk.ask(browser, 'POST', '/api/createStripeSession', asked)
        const url = String(answer.body['url'])
        const session =
          answer.status === 200 ? walk.world.system.provider.sessions.get(sessionOf(url))?.object : undefined
        if (!session) return answer
        const id = session.metadata?.['attemptId'] ?? ''
        if (walk.memberships.some((one) => one.id === id)) return answer
        const of = { family, email, address: email, plan: 'monthly' as const, date, owner: by.account }
        const joined: Joined = { kind: 'membership', by, id, ...of, cancelledAfter: null, switches: 0 }
        walk.memberships.push(joined)
        openedPage(walk, joined, url, browser)
        return answer
      })
    },
  }),

  operation('a stranger orders in place of a family’s order', {
    weight: 1,
    args: fc.record({ which, browser: fc.nat(3) }),
    possible: (walk) => walk.orders.length > 0,
    async run(walk, { which, browser: index }) {
      const named = pick(walk.orders, which)
      const browser = strangersBrowser(walk, named.family, index)
      if (!browser) return
      const cart = walk.orders.filter((one) => one.cart === named.cart)
      if (cart.some((one) => walk.isMadeBy(walk.asker(browser), one))) return
      const id = randomUUIDv7()
      await checkNothingChanges(walk, cart, async () => {
        const body = { orderId: id, items: named.items, replaces: named.id }
        const answer = await walk.ask(browser, 'POST', '/api/checkout', body)
        if (answer.status !== 200) return answer
        const by = walk.asker(browser)
        const of = { family: named.family, items: named.items, cart: id, owner: by.account }
        const ordered = { kind: 'order' as const, by, id, ...of }
        walk.orders.push(ordered)
        openedPage(walk, ordered, String(answer.body['checkoutUrl']), browser)
        return answer
      })
    },
  }),
]
