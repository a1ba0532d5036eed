import type { RegisterBody } from '@robokids/contracts/bff'
import type { AgreementTerms } from '@robokids/contracts/agreement'
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
  /** Since when everybody knows that it is deleted. */
  goneSince?: Date
  /** An address that it is about to have, once that is verified. */
  pendingEmail?: string | undefined
  family: Family
}

export interface Family {
  name: string
  /** The address that it gives now. */
  email: string
  /** Every address that it ever gave, oldest first. */
  addresses: string[]
  children: { childName: string; childAge: number }[]
  browsers: Browser[]
  accounts: Account[]
  city: number
}

/** Who asked for something: what proves that it is theirs. */
export interface Asker {
  /** Who was signed in. */
  account: Account | null
  /** As what the site knows the browser. */
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
  /** The orders that are one cart, changed. */
  cart: string
  /** The account that was signed in when it was made. */
  owner: Account | null
}
export interface Joined {
  kind: 'membership'
  by: Asker
  id: string
  family: Family
  /** That it was asked for with. */
  email: string
  /** That of its owner by now. */
  address: string
  plan: 'monthly' | 'yearly'
  date: string
  /** The account that was signed in, or has had it since: whose it is. */
  owner: Account | null
  /** How often the provider had charged when its member cancelled it; null while it goes on. */
  cancelledAfter: number | null
  /** How often a change of its plan was accepted. */
  switches: number
}
export type Purchase = Registered | Ordered | Joined

/** A payment page that was opened once, whatever has become of it. */
export interface Page {
  sessionId: string
  of: Purchase
  /** Cents that were shown before it was opened. */
  shown: number
  /** Whoever did not make what it is for has opened it: then nothing else was closed for it. */
  byStranger?: boolean
  /** Our site has led to it. Nobody pays where it never did, and a page may be left behind there for seats that are gone. */
  opened?: boolean
  /** Where the bank asks, once it does. */
  challenge?: string | undefined
}

export interface Quote {
  account: Account
  browser: Browser
  body: SwitchQuote
}

/** One walk: what its families have done, and what they were told. */
export class Walk {
  readonly world: World
  /** Tells its records from those of other walks. */
  readonly tag: string
  /** Its own class dates; each has a session of two levels and one of members. */
  readonly dates: readonly string[]
  readonly families: Family[]
  readonly registrations: Registered[] = []
  readonly orders: Ordered[] = []
  readonly memberships: Joined[] = []
  readonly pages: Page[] = []
  readonly quotes: Quote[] = []
  /** Browsers of their own in which to look at accounts when all has settled. */
  readonly windows = new Map<Account, Browser>()
  /** What was last seen of prices: a page that stays open shows it still. */
  readonly pricesSeen = new Map<string, number>()
  readonly offersSeen = new Map<string, unknown>()
  /** On this machine's clock, and on the provider's. */
  readonly begunAt = new Date()
  readonly bookedFrom: string
  /** Something is ordered to be away, so that 503 is an answer. */
  troubled = false
  /** Two things are done at the same time: what one of them finds may be the other's doing. */
  together = false
  /** The steps that were possible, and so taken. */
  readonly taken: Step[] = []

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
    return [...this.registrations, ...this.orders, ...this.memberships]
  }

  /** Who asks in a browser. */
  asker(browser: Browser): Asker {
    return { account: browser.account ?? null, browser: browser.knownAs }
  }

  /** Whether a purchase was made by whoever asks: by their account or in their browser. */
  isMadeBy({ account, browser }: Asker, { by }: Purchase): boolean {
    return by.browser === browser || (account !== null && by.account === account)
  }

  /** The cart that somebody changes: one of which an order is another's is not theirs to change. */
  cartOf(asker: Asker, cart: string): string | undefined {
    const mayChange = ({ by }: Ordered) =>
      by.account === null ? by.browser === asker.browser : by.account === asker.account
    return this.orders.filter((order) => order.cart === cart).every(mayChange) ? cart : undefined
  }

  /** An account has proven to have its address: it owns what nobody owns of that address, or nobody any more. */
  verified(account: Account): void {
    for (const membership of this.memberships) {
      const { owner, address } = membership
      const isFree = owner === null || owner.state === 'deleted'
      if (isFree && address === account.email && this.isPaid(membership)) membership.owner = account
    }
  }

  /** An account has another address, and what it owns goes with it. */
  moved(account: Account, email: string): void {
    for (const membership of this.memberships)
      if (membership.owner === account && membership.address === account.email) membership.address = email
    account.email = email
    this.verified(account)
  }

  /** Whether a membership was ever paid at the provider. */
  isPaid({ id }: Joined): boolean {
    for (const { metadata } of this.world.system.provider.subscriptions.values())
      if (metadata['attemptId'] === id) return true
    return false
  }

  /** What was paid and belongs to nobody goes to the account that has its address. */
  paid(): void {
    for (const account of this.accounts) if (account.state === 'active') this.verified(account)
  }

  /** A request by somebody's browser. @throws Violation where the answer is no answer. */
  async ask(browser: Browser, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
    return this.judge(`${method} ${path}`, await browser.ask(method, path, body, headers))
  }

  /** An operator's request. */
  async operate(service: 'billing' | 'enrollment' | 'notifications', method: string, path: string, body?: unknown) {
    return this.judge(`${method} ${path} (${service})`, await this.world.operate(service, method, path, body))
  }

  judge(what: string, answer: Answer): Answer {
    const { status, body } = answer
    const away = this.troubled && (status === 503 || status === 0)
    const isLimit = status === 429 && body['code'] !== 'too_many_unpaid'
    if (!away && (status === 0 || status >= 500 || isLimit))
      throw new Violation('every request is answered', `${what} was answered ${status} ${JSON.stringify(body)}`)
    return answer
  }

  /**
   * Sends what was agreed to. Where something else is offered by now, that is agreed to instead, as a page has it: this
   * always gets through.
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
