import { dashboardPastSchema, dashboardSchema, type DashboardCard } from '@robokids/contracts/dashboard'
import type { Browser } from '../browser.ts'
import { Violation } from '../violation.ts'
import type { Account, Walk } from '../walk.ts'
import { browserOf } from './memberships.ts'

interface Owned {
  id: string
  owner: string | null
  status: string
  paid: boolean
}

/** The cards of a home, with those of what is over; undefined if the browser is not signed in any more. */
async function cardsSeenBy(walk: Walk, browser: Browser, account: Account): Promise<DashboardCard[] | undefined> {
  const answer = await walk.ask(browser, 'GET', '/api/dashboard')
  if (answer.status !== 200) return undefined
  const home = dashboardSchema.parse(answer.body)
  if (home.account.userId !== account.userId) return undefined
  if (home.unavailable.length > 0 && !walk.hasFaults)
    throw new Violation('a home shows all of its parts', `${account.email} does not see ${home.unavailable.join(', ')}`)
  const past = await walk.ask(browser, 'GET', '/api/dashboard/past')
  return [
    ...(home.classes?.cards ?? []),
    ...((past.status === 200 && dashboardPastSchema.parse(past.body).cards) || []),
  ]
}

/** An account's home shows every paid registration that it owns, as it is, and nobody else's. For a settled system. */
export async function homesAgree(walk: Walk): Promise<void> {
  const accounts = walk.accounts.flatMap(({ userId }) => (userId === '' ? [] : [userId]))
  // Also those whose family was told that something failed.
  const all = await walk.world.system.sql('enrollment')<Owned[]>`
    select id, owner_id as owner, status, payment_id is not null as paid from registrations
    where id = any(${walk.registrations.map(({ id }) => id)}::uuid[]) or owner_id = any(${accounts}::uuid[])`
  const known = new Map(all.map((row) => [row.id, row]))
  for (const account of walk.accounts) {
    if (account.state !== 'active') continue
    const browser = await browserOf(walk, account)
    const cards = browser && (await cardsSeenBy(walk, browser, account))
    if (!cards) continue
    for (const { registrationId } of cards) {
      const owner = known.get(registrationId)?.owner
      if (owner !== account.userId)
        throw new Violation(
          'a home shows its own account’s alone',
          `${registrationId} of ${owner} to ${account.userId}`,
        )
    }
    for (const { id, status, owner, paid } of all) {
      if (owner !== account.userId || !paid) continue
      const shown = cards.find(({ cardId }) => cardId === id)
      if (shown?.status !== status)
        throw new Violation('what is shown is so', `${id} is ${status}, and ${shown?.status} on its family’s home`)
    }
  }
}
