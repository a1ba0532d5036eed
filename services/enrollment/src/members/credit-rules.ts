import { maxCredits, type creditReasons } from '@robokids/contracts/member-classes'

/** The rules for the credits of one membership. */

export const bookingStatuses = ['booked', 'ended'] as const

/**
 * `unused`: for a class to book. `booked`: it pays for a class, also once that is over. `given_up`: its payment went back, so its
 * class was given up; both come back together. `lapsed`: it came when there were enough, or the membership ended before it was used.
 */
export const creditStatuses = ['unused', 'booked', 'given_up', 'lapsed'] as const
type CreditStatus = (typeof creditStatuses)[number]

export interface Credit {
  id: string
  month: string
  isFirst: boolean
  /** Of the last event that was applied. */
  version: number
  withdrawn: (typeof creditReasons)[number] | null
  status: CreditStatus
  /** Set while it is `booked` or `given_up`. */
  bookingId: string | null
}

/** What an event says about a credit. */
export type CreditChange = Pick<Credit, 'id' | 'month' | 'isFirst' | 'version' | 'withdrawn'>

interface State {
  membershipId: string
  hasEnded: boolean
  /** Whether a class is booked and still ahead, so that it can be given up. */
  isAhead: (bookingId: string) => boolean
}

const isUsable = ({ status, withdrawn }: Credit) => status === 'unused' && withdrawn === null

/** The classes to book. */
export function countUnused(credits: Credit[]): number {
  return credits.filter(isUsable).length
}

/** The state of a credit that pays for no class: it can be used, unless there are enough or the membership has ended. */
function idleStatus(others: Credit[], hasEnded: boolean): CreditStatus {
  return hasEnded || countUnused(others) >= maxCredits ? 'lapsed' : 'unused'
}

/**
 * Applies an event of a credit. Events may arrive repeatedly and in any order: the one with the highest version counts.
 * @returns undefined if nothing changes; otherwise the new state, and what is to be done with its class. After `restore` the caller
 * applies `withoutClass` if there is no seat for it.
 */
export function applyCredit(
  credits: Credit[],
  change: CreditChange,
  { membershipId, hasEnded, isAhead }: State,
): { credit: Credit; effect: 'none' | 'give_up' | 'restore' } | undefined {
  const known = credits.find(({ id }) => id === change.id)
  if (known && known.version >= change.version) return undefined
  const others = credits.filter((one) => one !== known)
  const before: Credit =
    known ??
    (change.isFirst
      ? { ...change, withdrawn: null, status: 'booked', bookingId: membershipId }
      : { ...change, withdrawn: null, status: idleStatus(others, hasEnded), bookingId: null })
  const credit = { ...before, version: change.version, withdrawn: change.withdrawn }
  const { bookingId } = credit
  if (change.withdrawn !== null) {
    if (before.status !== 'booked' || bookingId === null || !isAhead(bookingId)) return { credit, effect: 'none' }
    return { credit: { ...credit, status: 'given_up' }, effect: 'give_up' }
  }
  if (before.withdrawn === null) return { credit, effect: 'none' }
  if (before.status === 'given_up') return { credit: { ...credit, status: 'booked' }, effect: 'restore' }
  // Others may have come meanwhile.
  return {
    credit: before.status === 'unused' ? { ...credit, status: idleStatus(others, hasEnded) } : credit,
    effect: 'none',
  }
}

/** A credit whose class ends without having taken place. */
export function withoutClass(credits: Credit[], credit: Credit, hasEnded: boolean): Credit {
  const others = credits.filter(({ id }) => id !== credit.id)
  return { ...credit, status: idleStatus(others, hasEnded), bookingId: null }
}

/** The credit that the next booked class uses: the oldest. */
export function nextCredit(credits: Credit[]): Credit | undefined {
  return credits
    .filter(isUsable)
    .toSorted((a, b) => (`${a.month} ${a.id}` < `${b.month} ${b.id}` ? -1 : 1))
    .at(0)
}

/** Whether the credit of a class can be used again once it is canceled; undefined if there are enough already. */
export function keepsCredit(credits: Credit[], hasEnded: boolean): boolean | undefined {
  if (hasEnded) return false
  return countUnused(credits) < maxCredits ? true : undefined
}

/** The unused credits of a membership that ends. */
export function lapsing(credits: Credit[]): Credit[] {
  return credits.filter(({ status }) => status === 'unused').map((credit) => ({ ...credit, status: 'lapsed' }))
}

/** The credit of a class that the school cancels: it comes back however many there are. */
export function returnedCredit(credit: Credit, hasEnded: boolean): Credit {
  return { ...credit, status: hasEnded ? 'lapsed' : 'unused', bookingId: null }
}
