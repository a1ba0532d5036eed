import { randomUUIDv7 } from 'node:crypto'
import * as fc from 'fast-check'
import { operation, pick } from '../operation.ts'
import { openedPage } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Browser } from '../browser.ts'
import type { Family, Walk, Waiting } from '../walk.ts'

const small = fc.nat(11)
const levels = ['basic', 'custom'] as const
const address = { addressLine1: '14 Alder Way', addressLine2: '', city: 'Line City', state: 'CA', zipCode: '94401' }

async function join(
  walk: Walk,
  family: Family,
  browser: Browser,
  which: { seats: number; level: number; date: number },
) {
  const [child, ...siblings] = family.children.slice(0, 1 + which.seats)
  if (!child) throw new Error('A family has children')
  const body = {
    id: randomUUIDv7(),
    guardianName: `${family.name} Holt`,
    email: family.email,
    ...child,
    siblings,
    startDate: pick(walk.dates, which.date),
    classType: pick(levels, which.level),
  }
  const owner = browser.account ?? null
  const answer = await walk.ask(browser, 'POST', '/api/waitlist', body)
  if (answer.status !== 200) return
  const id = String(answer.body['entryId'])
  if (!walk.waiting.some((one) => one.id === id)) walk.waiting.push({ id, family, body: { ...body, id }, owner })
}

async function accept(walk: Walk, { id, family, body, owner }: Waiting, browser: Browser): Promise<void> {
  const answer = await walk.ask(browser, 'POST', `/api/waitlist/${id}/accept`, address)
  if (answer.status !== 200) return
  const { registrationId, checkoutUrl } = answer.body as { registrationId: string; checkoutUrl: string }
  let registered = walk.registrations.find((one) => one.id === registrationId)
  if (!registered) {
    registered = {
      kind: 'registration',
      by: { ...walk.asker(browser), account: owner ?? browser.account ?? null },
      id: registrationId,
      family,
      body: { ...body, ...address, id: registrationId, unlessRegistered: true },
      owner,
    }
    walk.registrations.push(registered)
  }
  openedPage(walk, registered, checkoutUrl, browser)
}

/** A step that can be repeated: it never fails for a place that exists. */
async function step(walk: Walk, { id }: Waiting, browser: Browser, name: 'decline' | 'leave'): Promise<void> {
  const { status } = await walk.ask(browser, 'POST', `/api/waitlist/${id}/${name}`)
  if (status !== 200 && !walk.hasFaults)
    throw new Violation('a place in line can be left', `${name} of ${id} was answered ${status}`)
}

const some = { which: small, browser: fc.nat(1) }
const isPossible = (walk: Walk) => walk.waiting.length > 0

export const waitlistOperations = [
  operation('join the waitlist', {
    weight: 5,
    args: fc.record({ family: fc.nat(2), browser: fc.nat(1), seats: fc.nat(2), level: fc.nat(1), date: fc.nat(1) }),
    run(walk, { family: which, browser, ...others }) {
      const family = pick(walk.families, which)
      return join(walk, family, pick(family.browsers, browser), others)
    },
  }),

  operation('accept an offer', {
    weight: 4,
    args: fc.record(some),
    possible: isPossible,
    run(walk, { which, browser }) {
      const waiting = pick(walk.waiting, which)
      return accept(walk, waiting, pick(waiting.family.browsers, browser))
    },
  }),

  operation('decline an offer', {
    args: fc.record(some),
    possible: isPossible,
    run(walk, { which, browser }) {
      const waiting = pick(walk.waiting, which)
      return step(walk, waiting, pick(waiting.family.browsers, browser), 'decline')
    },
  }),

  operation('leave the waitlist', {
    args: fc.record(some),
    possible: isPossible,
    run(walk, { which, browser }) {
      const waiting = pick(walk.waiting, which)
      return step(walk, waiting, pick(waiting.family.browsers, browser), 'leave')
    },
  }),

  operation('an offer runs out', {
    weight: 3,
    args: fc.record({ which: small }),
    possible: isPossible,
    async run(walk, { which }) {
      const { id } = pick(walk.waiting, which)
      await walk.world.system.sql('enrollment')`
        update waitlist_entries set offer_ends_at = now() - interval '1 second' where id = ${id} and status = 'offered'`
      await walk.world.system.wake('enrollment', 'run-waitlists')
    },
  }),

  // Otherwise few classes of a walk are ever full.
  operation('an operator changes the capacity of a class', {
    weight: 5,
    args: fc.record({ level: fc.nat(1), date: fc.nat(1), more: fc.nat(1) }),
    async run(walk, { level, date, more }) {
      const [row] = await walk.world.system.sql('enrollment')<{ id: string; taken: number }[]>`
        select id, held + sold as taken from class_sessions
        where class_type = ${pick(levels, level)} and date = ${pick(walk.dates, date)}`
      if (!row) return
      const path = `/admin/class-sessions/${row.id}/capacity`
      await walk.operate('enrollment', 'POST', path, { capacity: row.taken + more })
    },
  }),

  operation('two families race for the seats that a third one frees', {
    weight: 2,
    args: fc.record({ level: fc.nat(1), date: fc.nat(1), freed: small }),
    async run(walk, { level, date, freed }) {
      const [one, other] = walk.families
      if (!one || !other) return
      const registration = walk.registrations[freed % Math.max(1, walk.registrations.length)]
      await Promise.all([
        ...[one, other].map((family) => join(walk, family, pick(family.browsers, 0), { seats: 0, level, date })),
        registration && walk.operate('enrollment', 'POST', `/registrations/${registration.id}/expire`),
      ])
    },
  }),
]
