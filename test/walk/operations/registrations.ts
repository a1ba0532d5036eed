import { randomUUIDv7 } from 'node:crypto'
import type { RegisterBody } from '@robokids/contracts/bff'
import { pricesSchema, type Prices } from '@robokids/contracts/billing'
import { registrationTerms } from '@robokids/contracts/offers'
import * as fc from 'fast-check'
import type { Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { openedPage } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Family, Registered, Walk } from '../walk.ts'
import { cards, openPage } from './paying.ts'

const levels = ['basic', 'custom'] as const
const small = fc.nat(11)

async function readPrices(walk: Walk): Promise<Prices> {
  const answer = await walk.operate('billing', 'GET', '/prices')
  return answer.status === 200 ? pricesSchema.parse(answer.body) : { prices: [], promotions: [] }
}

/** The terms that the page shows before the form is sent. */
async function shown(walk: Walk, body: RegisterBody, fresh: boolean) {
  const { prices, promotions } = await readPrices(walk)
  const sku = `class:${body.classType}`
  const now = prices.find((price) => price.sku === sku)?.amount ?? 0
  const unitAmount = fresh ? now : (walk.pricesSeen.get(sku) ?? now)
  walk.pricesSeen.set(sku, unitAmount)
  const instant = Temporal.Now.instant()
  const siblingJoinsFree = promotions.some(
    ({ classTypes, startsAt, endsAt }) =>
      classTypes.includes(body.classType) &&
      Temporal.Instant.compare(startsAt, instant) <= 0 &&
      Temporal.Instant.compare(instant, endsAt) < 0,
  )
  const { classType, startDate } = body
  return registrationTerms({
    classType,
    startDate,
    children: 1 + (body.siblings?.length ?? 0),
    siblingJoinsFree,
    unitAmount,
  })
}

export async function send(
  walk: Walk,
  family: Family,
  browser: Browser,
  body: RegisterBody,
  fresh = true,
): Promise<void> {
  const owner = browser.account ?? null
  const terms = await shown(walk, body, fresh)
  const answer = await walk.agree(
    'a registration',
    terms,
    (agreed) => walk.ask(browser, 'POST', '/api/registrations', { ...body, agreed }),
    () => shown(walk, body, true),
  )
  if (answer.status !== 200) return
  const { registrationId, checkoutUrl } = answer.body as { registrationId: string; checkoutUrl: string }
  let registered = walk.registrations.find(({ id }) => id === registrationId)
  if (!registered) {
    const sent = { ...body, id: registrationId }
    registered = { kind: 'registration', by: walk.asker(browser), id: registrationId, family, body: sent, owner }
    walk.registrations.push(registered)
  }
  openedPage(walk, registered, checkoutUrl, browser, answer.agreed.dueNow)
}

export function form(family: Family, childIndex: number, siblings: number, level: number, date: string): RegisterBody {
  const [child, ...others] = [...family.children.slice(childIndex), ...family.children.slice(0, childIndex)]
  if (!child) throw new Error('A family has children')
  return {
    id: randomUUIDv7(),
    guardianName: `${family.name} Holt`,
    email: family.email,
    ...child,
    siblings: others.slice(0, siblings),
    addressLine1: '14 Alder Way',
    addressLine2: '',
    city: `City ${family.city}`,
    state: 'CA',
    zipCode: '94401',
    startDate: date,
    classType: levels[level % levels.length] ?? 'basic',
    unlessRegistered: true,
  }
}

async function holdAgain(walk: Walk, registered: Registered, browser: Browser): Promise<void> {
  const answer = await walk.ask(browser, 'POST', `/api/registrations/${registered.id}/checkout`)
  if (answer.status !== 200) return
  const { checkoutUrl } = answer.body as { checkoutUrl: string }
  openedPage(walk, registered, checkoutUrl, browser)
}

const changed = ({ body, id }: Registered, differences: Partial<RegisterBody>): RegisterBody => ({
  ...body,
  ...differences,
  id: randomUUIDv7(),
  replaces: id,
})

export const registrationOperations = [
  operation('register', {
    weight: 8,
    args: fc.record({
      family: fc.nat(2),
      browser: fc.nat(1),
      child: fc.nat(1),
      siblings: fc.nat(1),
      level: fc.nat(1),
      date: fc.nat(1),
      fresh: fc.boolean(),
    }),
    run(walk, { family: which, browser, child, siblings, level, date, fresh }) {
      const family = pick(walk.families, which)
      const body = form(family, child, siblings, level, pick(walk.dates, date))
      return send(walk, family, pick(family.browsers, browser), body, fresh)
    },
  }),

  operation('correct a registration', {
    weight: 5,
    args: fc.record({ which: small, browser: fc.nat(1), fresh: fc.boolean() }),
    possible: (walk) => walk.registrations.length > 0,
    run(walk, { which, browser, fresh }) {
      const before = pick(walk.registrations, which)
      const { family } = before
      family.city += 1
      return send(walk, family, pick(family.browsers, browser), changed(before, { city: `City ${family.city}` }), fresh)
    },
  }),

  operation('choose another class', {
    args: fc.record({ which: small, browser: fc.nat(1), level: fc.nat(1), date: fc.nat(1) }),
    possible: (walk) => walk.registrations.length > 0,
    run(walk, { which, browser, level, date }) {
      const before = pick(walk.registrations, which)
      const body = changed(before, { classType: pick(levels, level), startDate: pick(walk.dates, date) })
      return send(walk, before.family, pick(before.family.browsers, browser), body)
    },
  }),

  operation('send a registration again', {
    args: fc.record({ which: small, browser: fc.nat(1) }),
    possible: (walk) => walk.registrations.length > 0,
    run(walk, { which, browser }) {
      const { family, body } = pick(walk.registrations, which)
      return send(walk, family, pick(family.browsers, browser), body)
    },
  }),

  operation('register the same child again', {
    weight: 4,
    args: fc.record({ which: small, browser: fc.nat(1), late: fc.boolean() }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which, browser, late }) {
      const { id, family, body } = pick(walk.registrations, which)
      // A family that comes back after its seat was released often starts from an empty form.
      if (late) await walk.operate('enrollment', 'POST', `/registrations/${id}/expire`)
      const { replaces: _, ...again } = body
      await send(walk, family, pick(family.browsers, browser), { ...again, id: randomUUIDv7() })
    },
  }),

  operation('hold a seat again and pay', {
    weight: 4,
    args: fc.record({ which: small, browser: fc.nat(1) }),
    possible: (walk) => walk.registrations.length > 0,
    run(walk, { which, browser }) {
      const registered = pick(walk.registrations, which)
      return holdAgain(walk, registered, pick(registered.family.browsers, browser))
    },
  }),

  operation('register again after the hold ran out, pay, and return to the older tab', {
    weight: 2,
    args: fc.record({ which: small }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which }) {
      const older = pick(walk.registrations, which)
      const browser = older.family.browsers.find((one) => walk.isMadeBy(walk.asker(one), older))
      if (!browser) return
      await walk.operate('enrollment', 'POST', `/registrations/${older.id}/expire`)
      const { replaces: _, ...again } = older.body
      const pagesBefore = walk.pages.length
      await send(walk, older.family, browser, { ...again, id: randomUUIDv7() })
      const page = walk.pages.slice(pagesBefore).find(({ of }) => of.kind === 'registration')
      if (page) {
        await openPage(walk, page)
        if (page.opened) await walk.world.control(`checkout/${page.sessionId}/pay`, { card: cards.good })
      }
      await holdAgain(walk, older, browser)
    },
  }),

  operation('look at a registration', {
    args: fc.record({ which: small, returned: fc.boolean() }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which, returned }) {
      const { family, id } = pick(walk.registrations, which)
      const answer = await walk.ask(pick(family.browsers, 0), 'GET', `/api/registrations/${id}?returned=${returned}`)
      if (answer.status !== 200 && answer.status !== 503 && answer.status !== 0)
        throw new Violation('what was made can be seen', `${id} was answered ${answer.status}`)
    },
  }),

  operation('let a hold go', {
    weight: 1,
    args: fc.record({ which: small }),
    possible: (walk) => walk.registrations.length > 0,
    async run(walk, { which }) {
      await walk.operate('enrollment', 'POST', `/registrations/${pick(walk.registrations, which).id}/expire`)
    },
  }),
]
