import * as fc from 'fast-check'
import { askJson } from '../../src/browser.ts'
import { operation, pick } from '../operation.ts'
import { sessionAt } from '../pages.ts'
import { Violation } from '../violation.ts'
import type { Page, Walk } from '../walk.ts'

export const cards = {
  good: '4242424242424242',
  declined: '4000000000009995',
  confirmed: '4000002760003184',
  slowRefund: '4000000000007726',
  failingRefund: '4000000000005126',
} as const
type CardName = keyof typeof cards

const cardName = fc.oneof(
  { weight: 5, arbitrary: fc.constant<CardName>('good') },
  { weight: 3, arbitrary: fc.constantFrom<CardName>('declined', 'confirmed', 'slowRefund', 'failingRefund') },
)
const which = fc.nat(15)

/** Newest first, so that open pages are tried more often than abandoned ones. */
const newest = (walk: Walk, index: number): Page => pick(walk.pages.toReversed(), index)
const hasPages = (walk: Walk) => walk.pages.length > 0

/** Whether its page is opened by a link on our site. */
const hasLink = ({ of }: Page) => of.kind === 'registration' || of.kind === 'membership'

/** Opens a payment page by its link on our site, which may lead back instead: then it cannot be paid. */
export async function openPage(walk: Walk, page: Page): Promise<void> {
  const { of, sessionId } = page
  const path = `/api/${of.kind === 'registration' ? 'registrations' : 'membership-checkouts'}/${of.id}/pay/${sessionId}`
  const answer = await askJson(walk.world.system.siteUrl + path, { redirect: 'manual' })
  walk.checkResponse(`GET ${path}`, answer)
  // The BFF is down.
  if (answer.status === 0) return
  const target = answer.headers.get('location') ?? ''
  const leadsThere = target.includes(sessionId)
  if (answer.status !== 303 || leadsThere === target.startsWith(walk.world.system.siteUrl))
    throw new Violation('a payment page is opened, or the way back is', `${path} led to ${answer.status} ${target}`)
  if (leadsThere) page.opened = true
}

export const payingOperations = [
  operation('open a payment page', {
    weight: 4,
    args: fc.record({ which: fc.oneof(fc.nat(2), which) }),
    possible: (walk) => walk.pages.some(hasLink),
    async run(walk, { which }) {
      const pages = walk.pages.filter(hasLink)
      await openPage(walk, pick(pages.toReversed(), which))
    },
  }),

  operation('pay', {
    weight: 14,
    args: fc.record({ which: fc.oneof(fc.nat(2), which), card: cardName }),
    possible: hasPages,
    async run(walk, { which, card }) {
      const page = newest(walk, which)
      // An opened page may stay open for long.
      if (hasLink(page) && !page.opened) await openPage(walk, page)
      if (hasLink(page) && !page.opened) return
      const body = { card: cards[card], ...(page.of.kind === 'order' ? { email: page.of.family.email } : {}) }
      const { status, redirectUrl } = (await walk.world.control(`checkout/${page.sessionId}/pay`, body)).body
      if (status === 'requires_action') page.challenge = String(redirectUrl)
    },
  }),

  operation('answer the bank', {
    weight: 3,
    args: fc.record({ which, passed: fc.boolean() }),
    possible: (walk) => walk.pages.some(({ challenge }) => challenge !== undefined),
    async run(walk, { which, passed }) {
      const page = pick(
        walk.pages.filter(({ challenge }) => challenge !== undefined),
        which,
      )
      const { pathname } = new URL(page.challenge ?? '')
      page.challenge = undefined
      await walk.world.atProvider('POST', pathname, { answer: passed ? 'complete' : 'fail' })
    },
  }),

  operation('pay by bank debit', {
    weight: 1,
    args: fc.record({ which }),
    possible: hasPages,
    async run(walk, { which }) {
      await walk.world.control(`checkout/${newest(walk, which).sessionId}/complete-async`)
    },
  }),

  operation('the bank debit comes, or does not', {
    args: fc.record({ which, succeeds: fc.boolean() }),
    possible: (walk) => walk.pages.some((page) => isProcessing(walk, page)),
    async run(walk, { which, succeeds }) {
      const page = pick(
        walk.pages.filter((page) => isProcessing(walk, page)),
        which,
      )
      const outcome = succeeds ? 'succeeded' : 'failed'
      await walk.world.control(`checkout/${page.sessionId}/settle-async`, { outcome })
    },
  }),

  operation('a payment page expires', {
    args: fc.record({ which }),
    possible: hasPages,
    async run(walk, { which }) {
      await walk.world.control(`checkout/${newest(walk, which).sessionId}/expire`)
    },
  }),
]

function isProcessing(walk: Walk, page: Page): boolean {
  const session = sessionAt(walk, page)
  return session?.status === 'complete' && session.payment_status === 'unpaid'
}
