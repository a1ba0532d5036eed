import type { Browser } from './browser.ts'
import { Violation } from './violation.ts'
import type { Page, Purchase, Walk } from './walk.ts'

/** Records a payment page. A URL that leads elsewhere means that nothing is left to pay. */
export function openedPage(walk: Walk, of: Purchase, url: string, browser: Browser, shown?: number): void {
  const sessionId = sessionOf(url)
  const isLink = new URL(url).pathname.split('/').at(-2) === 'pay'
  if (url.startsWith(walk.world.system.siteUrl) && !isLink) return
  const known = walk.pages.find((page) => page.sessionId === sessionId)
  const amount = walk.world.system.provider.sessions.get(sessionId)?.object.amount_total ?? 0
  if (shown !== undefined && amount !== shown)
    throw new Violation(
      'what was shown is what is charged',
      `${shown} was shown, ${amount} is to be paid at ${sessionId}`,
    )
  const byStranger = !walk.isMadeBy(walk.asker(browser), of)
  if (!known) walk.pages.push({ sessionId, of, shown: shown ?? amount, byStranger })
}

export function sessionOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) ?? ''
}

export function sessionAt(walk: Walk, { sessionId }: Page) {
  return walk.world.system.provider.sessions.get(sessionId)?.object
}
