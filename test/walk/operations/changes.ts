import { randomUUIDv7 } from 'node:crypto'
import {
  changeQuoteSchema,
  changeSchema,
  changesSchema,
  moveResponseSchema,
  type ChangeQuote,
  type Changes,
} from '@robokids/contracts/changes'
import * as fc from 'fast-check'
import type { Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { openedPage, sessionAt } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Registered, Walk } from '../walk.ts'
import { activeAccount } from './accounts.ts'
import { cards, openPage } from './paying.ts'
import { form, send } from './registrations.ts'

const levels = ['basic', 'custom'] as const
const small = fc.nat(11)
/** Which children, by position, as bits. */
const whom = fc.oneof(fc.constantFrom(1, 7), fc.nat(7))

interface AtHome {
  registered: Registered
  browser: Browser
  known: Changes
}

/** Registrations that have been asked to be paid, newest first. */
const candidates = (walk: Walk) =>
  walk.registrations.filter(({ id }) => walk.pages.some(({ of }) => of.id === id)).toReversed()

const isSomebodyAtHome = (walk: Walk) =>
  walk.registrations.some(({ family }) => family.browsers.some((one) => one.account))

/** A registration as its owner sees it; undefined if none of its family's browsers is signed in as that. */
async function atHome(walk: Walk, which: number): Promise<AtHome | undefined> {
  const homes = candidates(walk).flatMap((registered) =>
    registered.family.browsers.flatMap((browser) => (browser.account ? [{ registered, browser }] : [])),
  )
  if (homes.length === 0) return undefined
  const { registered, browser } = pick(homes, which)
  const answer = await walk.ask(browser, 'GET', `/api/registrations/${registered.id}/changes`)
  return answer.status === 200 ? { registered, browser, known: changesSchema.parse(answer.body) } : undefined
}

/** The places of some children who have a seat; of one class only, unless nobody looked. */
function chosenOf({ places }: Changes, bits: number): string[] {
  const seated = places.filter(({ status }) => status === 'seated')
  const first = seated.find((_, index) => (bits >> index) % 2 === 1) ?? seated[0]
  return seated
    .filter(
      (one, index) => one === first || ((bits >> index) % 2 === 1 && one.classSessionId === first?.classSessionId),
    )
    .map(({ placeId }) => placeId)
}

/**
 * Confirms what a family was shown, possibly a while ago. If something else would happen by now, it is shown that, and confirms
 * it: this always succeeds in the end.
 */
async function confirm(
  walk: Walk,
  { registered, browser }: AtHome,
  what: 'cancellation' | 'move',
  body: { placeIds: string[]; to?: string },
  late: boolean,
) {
  const base = `/api/registrations/${registered.id}/${what}`
  const asked = await walk.ask(browser, 'POST', `${base}/quote`, body)
  if (asked.status !== 200) return undefined
  let quote: ChangeQuote = changeQuoteSchema.parse(asked.body)
  const seen = `${registered.id} ${what} ${JSON.stringify(body)}`
  const shown = late ? walk.changesSeen.get(seen) : undefined
  walk.changesSeen.set(seen, quote.quoteId)
  for (let turn = 0; ; turn += 1) {
    const request = { ...body, id: randomUUIDv7(), quoteId: turn === 0 ? (shown ?? quote.quoteId) : quote.quoteId }
    const answer = await walk.ask(browser, 'POST', base, request)
    if (answer.status === 200) {
      walk.changes.push({ id: request.id, of: registered, browser, path: base, body: request })
      return { answer, quote }
    }
    if (answer.body['code'] !== 'quote_outdated') return undefined
    if (turn === 3)
      throw new Violation('agreeing to what is offered gets through', `${base}: ${JSON.stringify(answer.body)}`)
    quote = changeQuoteSchema.parse(answer.body['quote'])
  }
}

function checkAsShown({ terms }: ChangeQuote, confirmed: { due: number; back: number }): void {
  if (terms.due !== confirmed.due || terms.back !== confirmed.back)
    throw new Violation(
      'what was shown is what is charged',
      `${terms.due} to pay and ${terms.back} back were shown, and confirmed were ${confirmed.due} and ${confirmed.back}`,
    )
}

async function cancel(walk: Walk, home: AtHome, bits: number, late: boolean): Promise<void> {
  const placeIds = chosenOf(home.known, bits)
  if (placeIds.length === 0) return
  const done = await confirm(walk, home, 'cancellation', { placeIds }, late)
  if (done) checkAsShown(done.quote, changeSchema.parse(done.answer.body).terms)
}

async function move(
  walk: Walk,
  home: AtHome,
  { bits, level, date, late }: { bits: number; level: number; date: number; late: boolean },
): Promise<void> {
  const placeIds = chosenOf(home.known, bits)
  const [to] = await walk.world.system.sql('enrollment')<{ id: string }[]>`
    select id from class_sessions where class_type = ${pick(levels, level)} and date = ${pick(walk.dates, date)}`
  if (placeIds.length === 0 || !to) return
  const done = await confirm(walk, home, 'move', { placeIds, to: to.id }, late)
  if (!done) return
  const { change, checkoutUrl } = moveResponseSchema.parse(done.answer.body)
  checkAsShown(done.quote, change.terms)
  recordMove(walk, home, change, checkoutUrl)
}

function recordMove(
  walk: Walk,
  { registered, browser }: Pick<AtHome, 'registered' | 'browser'>,
  { changeId, terms }: { changeId: string; terms: { due: number } },
  checkoutUrl: string | null,
): void {
  if (checkoutUrl === null) return
  let moving = walk.moves.find(({ id }) => id === changeId)
  if (!moving) {
    moving = { kind: 'move', by: walk.asker(browser), id: changeId, of: registered, family: registered.family }
    walk.moves.push(moving)
  }
  openedPage(walk, moving, checkoutUrl, browser, terms.due)
  // The answer leads there.
  for (const page of walk.pages) if (page.of === moving) page.opened = true
}

const some = { which: small, whom, late: fc.boolean() }

export const changeOperations = [
  // Otherwise few families are signed in and have paid.
  operation('register at home and pay', {
    weight: 6,
    args: fc.record({ family: fc.nat(2), siblings: fc.nat(2), level: fc.nat(1), date: fc.nat(1) }),
    async run(walk, { family: which, siblings, level, date }) {
      const family = pick(walk.families, which)
      const browser = pick(family.browsers, 0)
      if (!browser.account) await activeAccount(walk, family, browser)
      const before = walk.pages.length
      await send(walk, family, browser, form(family, 0, siblings, level, pick(walk.dates, date)))
      const page = walk.pages.slice(before).find(({ of }) => of.kind === 'registration')
      if (!page) return
      await openPage(walk, page)
      if (page.opened) await walk.world.control(`checkout/${page.sessionId}/pay`, { card: cards.good })
    },
  }),

  operation('cancel children', {
    weight: 6,
    args: fc.record(some),
    possible: isSomebodyAtHome,
    async run(walk, { which, whom: bits, late }) {
      const home = await atHome(walk, which)
      if (home) await cancel(walk, home, bits, late)
    },
  }),

  operation('move children', {
    weight: 12,
    args: fc.record({ ...some, level: fc.nat(1), date: fc.nat(1) }),
    possible: isSomebodyAtHome,
    async run(walk, { which, whom: bits, ...others }) {
      const home = await atHome(walk, which)
      if (home) await move(walk, home, { bits, ...others })
    },
  }),

  operation('move a child and pay the difference', {
    weight: 6,
    args: fc.record({ which: small, whom, date: fc.nat(1), twice: fc.boolean() }),
    possible: isSomebodyAtHome,
    async run(walk, { which, whom: bits, date, twice }) {
      const home = await atHome(walk, which)
      if (!home) return
      const before = walk.moves.length
      await move(walk, home, { bits, level: 1, date, late: false })
      const moving = walk.moves.slice(before).at(0)
      const page = walk.pages.find(({ of }) => of === moving)
      if (!page) return
      const pay = () => walk.world.control(`checkout/${page.sessionId}/pay`, { card: cards.good })
      await Promise.all(twice ? [pay(), pay()] : [pay()])
      await walk.ask(home.browser, 'GET', `/api/registrations/${home.registered.id}/changes?returned=true`)
    },
  }),

  operation('confirm a change again', {
    weight: 3,
    args: fc.record({ which: small }),
    possible: (walk) => walk.changes.length > 0,
    async run(walk, { which }) {
      const { id, of, browser, path, body } = pick(walk.changes.toReversed(), which)
      const answer = await walk.ask(browser, 'POST', path, body)
      if (answer.status !== 200) return
      const isMove = path.endsWith('/move')
      const { change, checkoutUrl } = isMove
        ? moveResponseSchema.parse(answer.body)
        : { change: changeSchema.parse(answer.body), checkoutUrl: null }
      recordMove(walk, { registered: of, browser }, change, checkoutUrl)
      // Of two tabs with the same move, the first has made it.
      if (!isMove && change.changeId !== id)
        throw new Violation('a change is made once', `${id} was answered as ${change.changeId}`)
    },
  }),

  operation('give up a move', {
    weight: 3,
    args: fc.record({ which: small }),
    possible: (walk) => walk.moves.length > 0,
    async run(walk, { which }) {
      const { id, of, family } = pick(walk.moves.toReversed(), which)
      const browser = family.browsers.find(({ account }) => account)
      if (browser) await walk.ask(browser, 'POST', `/api/registrations/${of.id}/move/withdraw`, { changeId: id })
    },
  }),

  operation('a move runs out', {
    weight: 3,
    args: fc.record({ which: small }),
    possible: (walk) => walk.moves.length > 0,
    async run(walk, { which }) {
      const { id } = pick(walk.moves.toReversed(), which)
      await walk.world.system.sql('enrollment')`
        update changes set held_until = now() - interval '1 second' where id = ${id} and status = 'held'`
      await walk.world.system.wake('enrollment', 'expire-moves')
    },
  }),

  operation('a move runs out while it is paid', {
    weight: 3,
    args: fc.record({ which: small }),
    possible: (walk) => walk.moves.length > 0,
    async run(walk, { which }) {
      const moving = pick(walk.moves.toReversed(), which)
      const page = walk.pages.find((one) => one.of === moving && sessionAt(walk, one)?.status === 'open')
      if (!page) return
      await Promise.all([
        walk.world.control(`checkout/${page.sessionId}/pay`, { card: cards.good }),
        walk.world.system.sql('enrollment')`
          update changes set held_until = now() - interval '1 second' where id = ${moving.id} and status = 'held'`,
      ])
      await walk.world.system.wake('enrollment', 'expire-moves')
    },
  }),

  operation('look at the changes', {
    args: fc.record({ which: small, returned: fc.boolean() }),
    possible: isSomebodyAtHome,
    async run(walk, { which, returned }) {
      const home = await atHome(walk, which)
      if (!home) return
      const path = `/api/registrations/${home.registered.id}/changes?returned=${returned}`
      await walk.ask(home.browser, 'GET', path)
    },
  }),

  operation('correct names and the address', {
    weight: 3,
    args: fc.record({ which: small, whom, age: fc.nat(3) }),
    possible: isSomebodyAtHome,
    async run(walk, { which, whom: bits, age }) {
      const home = await atHome(walk, which)
      if (!home) return
      const { registered, browser, known } = home
      const chosen = new Set(chosenOf(known, bits))
      const children = known.places
        .filter(({ placeId }) => chosen.has(placeId))
        .map(({ placeId, childName }) => ({ placeId, childName: childName.toUpperCase(), childAge: 8 + age }))
      const address = { addressLine1: '2 Elm Street', addressLine2: '', city: 'Reno', state: 'NV', zipCode: '89501' }
      await walk.ask(browser, 'POST', `/api/registrations/${registered.id}/correction`, { children, address })
    },
  }),

  operation('the school changes its policy', {
    weight: 3,
    args: fc.record({ percent: fc.constantFrom(0, 33, 50, 100), freeMoves: fc.constantFrom(1, 2, 5) }),
    async run(walk, { percent, freeMoves }) {
      await walk.world.setPolicy(percent, freeMoves)
    },
  }),
]
