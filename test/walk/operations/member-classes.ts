import { randomUUIDv7 } from 'node:crypto'
import { memberClassesSchema, type MemberClasses } from '@robokids/contracts/member-classes'
import * as fc from 'fast-check'
import type { Answer, Browser } from '../browser.ts'
import { operation, pick } from '../operation.ts'
import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

const path = '/api/dashboard/member-classes'
const isPossible = (walk: Walk) => walk.memberships.length > 0 && walk.browsers.some(({ account }) => account)

/** A signed-in browser, preferably of a member, with what it can book; undefined if it is not signed in any more. */
async function readClasses(
  walk: Walk,
  which: number,
): Promise<{ browser: Browser; classes: MemberClasses } | undefined> {
  const all = walk.browsers.filter(({ account }) => account)
  const owners = all.filter(({ account }) => walk.memberships.some(({ owner }) => owner === account))
  const browser = pick(owners.length > 0 ? owners : all, which)
  const answer = await walk.ask(browser, 'GET', path)
  return answer.status === 200 ? { browser, classes: memberClassesSchema.parse(answer.body) } : undefined
}

/** What a change of one's own class may be answered: it happened, or something has changed since the page was read. */
const allowed = new Set([
  'no_credit',
  'already_booked',
  'booking_changed',
  'booking_not_found',
  'change_not_allowed',
  'class_full',
  'class_not_offered',
  'membership_not_changeable',
  'membership_not_found',
  'not_found',
  'rate_limited',
  'sign_in_required',
  'upstream_unavailable',
  'busy',
])

function check(what: string, { status, body }: Answer): void {
  const code = String(body['code'])
  if (status !== 200 && !allowed.has(code))
    throw new Violation('a member can change its own classes', `${what} was answered ${status} ${code}`)
}

export const memberClassOperations = [
  operation('book a members’ class', {
    weight: 4,
    args: fc.record({ which: fc.nat(5), membership: fc.nat(1), date: fc.nat(3), again: fc.boolean() }),
    possible: isPossible,
    async run(walk, { which, membership, date, again }) {
      const read = await readClasses(walk, which)
      if (!read || read.classes.memberships.length === 0 || read.classes.dates.length === 0) return
      const { membershipId } = pick(read.classes.memberships, membership)
      const { classDate } = pick(read.classes.dates, date)
      const body = { id: randomUUIDv7(), membershipId, classDate }
      const send = () => walk.ask(read.browser, 'POST', path, body)
      // In two tabs, or a request that is repeated.
      for (const answer of again ? await Promise.all([send(), send()]) : [await send()]) check('booking', answer)
    },
  }),

  operation('move a members’ class', {
    weight: 3,
    args: fc.record({ which: fc.nat(5), booking: fc.nat(3), date: fc.nat(3) }),
    possible: isPossible,
    async run(walk, { which, booking, date }) {
      const read = await readClasses(walk, which)
      const booked = read?.classes.memberships.flatMap((one) => one.booked) ?? []
      if (!read || booked.length === 0 || read.classes.dates.length === 0) return
      const { bookingId, classDate: from } = pick(booked, booking)
      const { classDate } = pick(read.classes.dates, date)
      const body = { id: randomUUIDv7(), from, classDate }
      check('moving', await walk.ask(read.browser, 'POST', `${path}/${bookingId}/move`, body))
    },
  }),

  operation('cancel a members’ class', {
    weight: 2,
    args: fc.record({ which: fc.nat(5), booking: fc.nat(3) }),
    possible: isPossible,
    async run(walk, { which, booking }) {
      const read = await readClasses(walk, which)
      const booked = read?.classes.memberships.flatMap((one) => one.booked.map((of) => ({ one, of }))) ?? []
      if (!read || booked.length === 0) return
      const { one, of } = pick(booked, booking)
      const body = { id: randomUUIDv7(), from: of.classDate, keepsCredit: !one.hasEnded }
      check('canceling', await walk.ask(read.browser, 'POST', `${path}/${of.bookingId}/cancel`, body))
    },
  }),
]
