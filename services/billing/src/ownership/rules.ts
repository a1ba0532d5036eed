/** The state of an account from an instant on, as published by identity. */
export interface AccountState {
  userId: string
  /** On the clock of events. */
  at: Temporal.Instant
  /** The verified address, or null. */
  email: string | null
  emailKey: string | null
  status: 'active' | 'disabled' | 'deleted'
}

/** When a purchase was started, with which address, and with which signed-in account, if any. */
export interface Origin {
  at: Temporal.Instant
  email: string
  emailKey: string
  ownerId: string | null
}

/** The owner of a purchase and its current address. */
export interface Ownership {
  ownerId: string | null
  /** Since when the account owns it. */
  ownedAt: Temporal.Instant | null
  email: string
  emailKey: string
  /** When an owning account was last deleted or disabled: nobody can manage the purchase from then on. */
  accountEndedAt: Temporal.Instant | null
}

/** An account at an instant, with all addresses verified until then. */
interface Holder extends AccountState {
  /** The last of them, which another account may have verified since. */
  last: { email: string; emailKey: string } | null
  keys: Set<string>
}

/**
 * Resolves the owner of a purchase: the signed-in account, or else the first account that verifies its address. The purchase
 * stays with that account whatever happens to the address, and follows it to a new address if it was at the old one. It is
 * unowned again once the account is deleted, until another one verifies the address.
 * @param states in any order, with any duplicates
 */
export function resolveOwnership(origin: Origin, states: AccountState[]): Ownership {
  const accounts = new Map<string, Holder>()
  const { email, emailKey } = origin
  const owned: Ownership = { ownerId: null, ownedAt: null, email, emailKey, accountEndedAt: null }

  /** Returns the account, other than `except`, that has the address now. */
  const holder = (except?: string) =>
    accounts
      .values()
      .find(({ userId, ...one }) => userId !== except && one.status !== 'deleted' && one.emailKey === owned.emailKey)
      ?.userId ?? null
  const end = ({ userId, at, status }: AccountState) => {
    owned.accountEndedAt = at
    if (status !== 'deleted') return
    owned.ownerId = holder(userId)
    owned.ownedAt = owned.ownerId === null ? null : at
  }
  const begin = () => {
    owned.ownerId = origin.ownerId ?? holder()
    if (owned.ownerId === null) return
    owned.ownedAt = origin.at
    const owner = accounts.get(owned.ownerId)
    if (!owner) return
    // An old address of the account was entered: it has another one by now.
    if (owner.last && owner.keys.has(emailKey)) Object.assign(owned, owner.last)
    if (owner.status !== 'active') end(owner)
  }
  const follow = (state: AccountState, before: Holder | undefined) => {
    const isOwners = state.userId === owned.ownerId
    if (isOwners && state.status !== 'active' && before?.status !== state.status) end(state)
    if (state.status === 'deleted' || state.emailKey === null) return
    if (owned.ownerId === null && state.emailKey === owned.emailKey) {
      Object.assign(owned, { ownerId: state.userId, ownedAt: state.at })
    } else if (isOwners && before?.last?.emailKey === owned.emailKey) {
      Object.assign(owned, { email: state.email, emailKey: state.emailKey })
    }
  }

  let begun = false
  for (const state of sortByTime(states)) {
    if (!begun && Temporal.Instant.compare(state.at, origin.at) > 0) {
      begin()
      begun = true
    }
    const before = accounts.get(state.userId)
    if (before?.status === 'deleted') continue
    if (begun) follow(state, before)
    accounts.set(state.userId, { ...state, ...addressesWith(state, before) })
  }
  if (!begun) begin()
  return owned
}

function addressesWith({ email, emailKey }: AccountState, before: Holder | undefined): Pick<Holder, 'last' | 'keys'> {
  const { last = null, keys = new Set<string>() } = before ?? {}
  return email === null || emailKey === null
    ? { last, keys }
    : { last: { email, emailKey }, keys: keys.union(new Set([emailKey])) }
}

/** The latest state of an account, or undefined if there is none. */
export function currentState(states: AccountState[], userId: string): AccountState | undefined {
  const own = sortByTime(states.filter((state) => state.userId === userId))
  return own.find(({ status }) => status === 'deleted') ?? own.at(-1)
}

/** Sorts by time; states of the same instant in an order that does not depend on their arrival. */
function sortByTime(states: AccountState[]): AccountState[] {
  const tie = ({ userId, status, emailKey }: AccountState) => `${userId} ${rank[status]} ${emailKey ?? ''}`
  return states.toSorted(
    (a, b) => Temporal.Instant.compare(a.at, b.at) || (tie(a) < tie(b) ? -1 : tie(a) > tie(b) ? 1 : 0),
  )
}

const rank = { active: 0, disabled: 1, deleted: 2 } as const

/**
 * Who makes a request: the signed-in account, and the browser that the BFF identifies by its cookie. Neither an address, which
 * anybody can enter, nor a reference, which mails contain, identifies anybody.
 */
export interface Requester {
  ownerId: string | null
  browserId: string | null
}

/** Whether the requester made a purchase. */
export function isMadeBy({ ownerId, browserId }: Requester, made: Requester): boolean {
  return isSame(ownerId, made.ownerId) || isSame(browserId, made.browserId)
}

function isSame(a: string | null, b: string | null): boolean {
  return a !== null && a === b
}

/** Whether two purchases belong to the same person: to the same account, or, if one has no account, to the same address. */
export function isSamePerson(
  a: Pick<Ownership, 'ownerId' | 'emailKey'>,
  b: Pick<Ownership, 'ownerId' | 'emailKey'>,
): boolean {
  if (a.ownerId !== null && b.ownerId !== null) return a.ownerId === b.ownerId
  return a.emailKey === b.emailKey
}
