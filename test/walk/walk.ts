import type { RegisterBody } from '@robokids/contracts/bff'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { Address } from '@robokids/contracts/enrollment'
import type { OrderItem } from '@robokids/contracts/shop'
import type { SwitchQuote } from '@robokids/contracts/billing'
import { Browser, type Answer } from './browser.ts'
import type { Step } from './step.ts'
import { Violation } from './violation.ts'
import type { World } from './world.ts'

export interface Account {
  userId: string
  email: string
  password: string
  state: 'unconfirmed' | 'active' | 'disabled' | 'deleted'
  /** When all services had handled its deletion. */
  goneSince?: Date
  /** A new address that is not verified yet. */
  pendingEmail?: string | undefined
  family: Family
}

export interface Family {
  name: string
  /** The address that it uses now. */
  email: string
  /** All addresses that it has used, oldest first. */
  addresses: string[]
  children: { childName: string; childAge: number }[]
  browsers: Browser[]
  accounts: Account[]
  city: number
}

/** The requester of a purchase, by which ownership is proven. */
export interface Asker {
  /** The signed-in account. */
  account: Account | null
  /** The browser's identity for the site. */
  browser: object
}

export interface Registered {
  kind: 'registration'
  by: Asker
  id: string
  family: Family
  body: RegisterBody
  /** The account that was signed in when it was made. */
  owner: Account | null
}
export interface Ordered {
  kind: 'order'
  by: Asker
  id: string
  family: Family
  items: OrderItem[]
  /** Identifies a cart across the orders that replace each other. */
  cart: string
  /** The account that was signed in when it was made. */
  owner: Account | null
}
export interface Joined {
  kind: 'membership'
  by: Asker
  id: string
  family: Family
  /** The address that it was requested with. */
  email: string
  /** Its owner's current address. */
  address: string
  plan: 'monthly' | 'yearly'
  date: string
  /** The account that was signed in, or has taken it over since. */
  owner: Account | null
  /** The number of charges when its member cancelled it; null while it continues. */
  cancelledAfter: number | null
  /** Accepted plan changes. */
  switches: number
}
/** A family's place in the line of a class. */
export interface Waiting {
  id: string
  family: Family
  body: Omit<RegisterBody, keyof Address>
  /** The account that was signed in when it joined. */
  owner: Account | null
}
/** A move of a registration's children whose difference is to be paid: a purchase of its own. */
export interface Moving {
  kind: 'move'
  by: Asker
  /** The id of the change. */
  id: string
  of: Registered
  family: Family
}
/** A cancellation or move that a family has confirmed. */
export interface Changed {
  id: string
  of: Registered
  browser: Browser
  path: string
  body: object
}
export type Purchase = Registered | Ordered | Joined | Moving

/** A payment page, whatever its current state. */
export interface Page {
  sessionId: string
  of: Purchase
  /** The price shown before it was opened, in cents. */
  shown: number
  /** Opened by somebody other than the purchaser, so nothing else was closed for it. */
  byStranger?: boolean
  /** Whether our site has redirected to it. Nobody pays otherwise, and a page may be left over for released seats. */
  opened?: boolean
  /** URL of the bank's challenge, once there is one. */
  challenge?: string | undefined
}

export interface Quote {
  account: Account
  browser: Browser
  body: SwitchQuote
}

/** One walk: what its families have done, and what they were answered. */
export class Walk {
  readonly world: World
  /** Distinguishes its records from those of other walks. */
  readonly tag: string
  /** Its own class dates; each has a session of two levels and one of members. */
  readonly dates: readonly string[]
  readonly families: Family[]
  readonly registrations: Registered[] = []
  readonly orders: Ordered[] = []
  readonly memberships: Joined[] = []
  readonly pages: Page[] = []
  readonly waiting: Waiting[] = []
  readonly moves: Moving[] = []
  readonly changes: Changed[] = []
  /** By registration, the quotes that a family has seen: an open page still shows them. */
  readonly changesSeen = new Map<string, string>()
  readonly quotes: Quote[] = []
  /** Separate browsers to check accounts in when all has settled. */
  readonly windows = new Map<Account, Browser>()
  /** Prices last seen: an open page still shows them. */
  readonly pricesSeen = new Map<string, number>()
  readonly offersSeen = new Map<string, unknown>()
  /** By this machine's clock, and by the provider's. */
  readonly begunAt = new Date()
  readonly bookedFrom: string
  /** An outage is in effect, so that 503 is a valid response. */
  hasFaults = false
  /** Two operations run concurrently, so each may see effects of the other. */
  isConcurrent = false
  /** The steps that were possible and executed. */
  readonly takenSteps: Step[] = []

  constructor(world: World, tag: string, dates: readonly string[]) {
    this.world = world
    this.tag = tag
    this.dates = dates
    this.bookedFrom = Temporal.Instant.fromEpochMilliseconds(world.system.simulator.now() * 1000).toString()
    // Two families share a network, and none has one with those of other walks.
    const nth = Number(tag.replace(/\D/g, '')).toString(16)
    const homes = { ada: `2001:db8:${nth}:a::1`, bo: `2001:db8:${nth}:b::1`, cy: `2001:db9:${nth}::1` }
    const browserAt = (address: string) => Object.assign(new Browser(world.system.siteUrl), { address })
    this.families = (['ada', 'bo', 'cy'] as const).map((name) => ({
      name,
      email: `${tag}.${name}@walk.example`,
      addresses: [`${tag}.${name}@walk.example`],
      children: [
        { childName: `${name} one`, childAge: 8 },
        { childName: `${name} two`, childAge: 10 },
        { childName: `${name} three`, childAge: 12 },
      ],
      browsers: [browserAt(homes[name]), browserAt(homes[name])],
      accounts: [],
      city: 0,
    }))
  }

  get accounts(): Account[] {
    return this.families.flatMap(({ accounts }) => accounts)
  }

  get browsers(): Browser[] {
    return this.families.flatMap(({ browsers }) => browsers)
  }

  get purchases(): Purchase[] {
    return [...this.registrations, ...this.orders, ...this.memberships, ...this.moves]
  }

  /** The requester in a browser. */
  asker(browser: Browser): Asker {
    return { account: browser.account ?? null, browser: browser.browserKey }
  }

  /** Whether a purchase was made by this requester: by account or browser. */
  isMadeBy({ account, browser }: Asker, { by }: Purchase): boolean {
    return by.browser === browser || (account !== null && by.account === account)
  }

  /** The cart that a requester changes; undefined if one of its orders belongs to somebody else. */
  cartOf(asker: Asker, cart: string): string | undefined {
    const mayChange = ({ by }: Ordered) =>
      by.account === null ? by.browser === asker.browser : by.account === asker.account
    return this.orders.filter((order) => order.cart === cart).every(mayChange) ? cart : undefined
  }

  /**
   * An account has verified its address: it takes over paid memberships of that address that have no owner any more.
   */
  addressVerified(account: Account): void {
    for (const membership of this.memberships) {
      const { owner, address } = membership
      const isFree = owner === null || owner.state === 'deleted'
      if (isFree && address === account.email && this.isPaid(membership)) membership.owner = account
    }
  }

  /** An account has another address, and its memberships move with it. */
  addressChanged(account: Account, email: string): void {
    for (const membership of this.memberships)
      if (membership.owner === account && membership.address === account.email) membership.address = email
    account.email = email
    this.addressVerified(account)
  }

  /** Whether a membership was ever paid at the provider. */
  isPaid({ id }: Joined): boolean {
    for (const { metadata } of this.world.system.provider.subscriptions.values())
      if (metadata['attemptId'] === id) return true
    return false
  }

  /** Assigns paid memberships without owner to the account that has their address. */
  assignPaidPurchases(): void {
    for (const account of this.accounts) if (account.state === 'active') this.addressVerified(account)
  }

  /** Sends a browser's request. @throws Violation for an invalid response */
  async ask(browser: Browser, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    return this.checkResponse(`${method} ${path}`, await browser.ask(method, path, body, headers))
  }

  /** Sends an operator's request. */
  async operate(service: 'billing' | 'enrollment' | 'notifications', method: string, path: string, body?: unknown) {
    return this.checkResponse(`${method} ${path} (${service})`, await this.world.operate(service, method, path, body))
  }

  checkResponse(what: string, answer: Answer): Answer {
    const { status, body } = answer
    const away = this.hasFaults && (status === 503 || status === 0)
    const isLimit = status === 429 && body['code'] !== 'too_many_unpaid'
    if (!away && (status === 0 || status >= 500 || isLimit))
      throw new Violation('every request is answered', `${what} was answered ${status} ${JSON.stringify(body)}`)
    return answer
  }

  /**
   * Sends the agreed terms. If others are offered by now, agrees to those, as a page does: this always succeeds in the
   * end.
   */
  async agree(
    what: string,
    agreed: AgreementTerms,
    send: (agreed: AgreementTerms) => Promise<Answer>,
    readAgain: () => Promise<AgreementTerms>,
  ): Promise<Answer & { agreed: AgreementTerms }> {
    const changed = ['price_changed', 'terms_changed', 'quote_outdated']
    let terms = agreed
    let answer = await send(terms)
    for (let turn = 0; changed.includes(String(answer.body['code'])); turn += 1) {
      if (turn === 3)
        throw new Violation('agreeing to what is offered gets through', `${what}: ${JSON.stringify(answer.body)}`)
      const offered = answer.body['agreement'] as { terms: AgreementTerms } | undefined
      terms = offered?.terms ?? (await readAgain())
      answer = await send(terms)
    }
    return { ...answer, agreed: terms }
  }
}
