/** What an account was from a moment on, as identity tells it. */
export interface AccountState {
  userId: string
  /** When it became so, on the clock of events. */
  at: Temporal.Instant
  /** The address that is proven to be the account's; null where none is. */
  email: string | null
  emailKey: string | null
  status: 'active' | 'disabled' | 'deleted'
}

/** What somebody asked for: when, with which address, and with which account signed in, if any. */
export interface Origin {
  at: Temporal.Instant
  email: string
  emailKey: string
  ownerId: string | null
}

/** Whose it is, and at which address it is known. */
export interface Ownership {
  ownerId: string | null
  /** Since when it is that account's. */
  ownedAt: Temporal.Instant | null
  email: string
  emailKey: string
  /** When an account that owned it was deleted or disabled, the latest time: nobody can look after it from then on. */
  accountEndedAt: Temporal.Instant | null
}

/** An account at a moment, with all that was proven to be its address until then. */
interface Holder extends AccountState {
  /** The last of them, which may be taken from it by now. */
  last: { email: string; emailKey: string } | null
  keys: Set<string>
}

/**
 * Whose something is, given all that is known of the accounts it may belong to: the account's that was signed in, else the
 * first one's that proves to have its address. It stays with that account whatever becomes of the address, and is known at
 * the account's new one where it was known at the old one. It is nobody's again where the account is deleted, until another
 * one proves to have the address.
 * @param states in any order, and each as often as it comes
 */
export function ownershipOf(origin: Origin, states: AccountState[]): Ownership {
  const accounts = new Map<string, Holder>()
  const { email, emailKey } = origin
  const owned: Ownership = { ownerId: null, ownedAt: null, email, emailKey, accountEndedAt: null }

  /** Another account than this one that has the address now. */
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
    // Typed out of habit, perhaps: the account has another address by now.
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
  for (const state of inOrder(states)) {
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

/** The latest of an account's states; undefined where it is not known. */
export function currentState(states: AccountState[], userId: string): AccountState | undefined {
  const own = inOrder(states.filter((state) => state.userId === userId))
  return own.find(({ status }) => status === 'deleted') ?? own.at(-1)
}

/** By time; what is told of one moment in an order that does not depend on which came first. */
function inOrder(states: AccountState[]): AccountState[] {
  const tie = ({ userId, status, emailKey }: AccountState) => `${userId} ${rank[status]} ${emailKey ?? ''}`
  return states.toSorted(
    (a, b) => Temporal.Instant.compare(a.at, b.at) || (tie(a) < tie(b) ? -1 : tie(a) > tie(b) ? 1 : 0),
  )
}

const rank = { active: 0, disabled: 1, deleted: 2 } as const

/**
 * Who asks for something: the account that is signed in, and the browser that the BFF knows by its cookie. An address proves
 * nobody, as anybody can type it, nor does a reference, which stands in mails.
 */
export interface Asker {
  ownerId: string | null
  browserId: string | null
}

/** Whether something was made by whoever asks. */
export function isMadeBy({ ownerId, browserId }: Asker, made: Asker): boolean {
  return isSame(ownerId, made.ownerId) || isSame(browserId, made.browserId)
}

function isSame(a: string | null, b: string | null): boolean {
  return a !== null && a === b
}

/** Whether two purchases are the same person's, as far as can be known: one account's, or known at one address. */
export function isSamePerson(
  a: Pick<Ownership, 'ownerId' | 'emailKey'>,
  b: Pick<Ownership, 'ownerId' | 'emailKey'>,
): boolean {
  if (a.ownerId !== null && b.ownerId !== null) return a.ownerId === b.ownerId
  return a.emailKey === b.emailKey
}
