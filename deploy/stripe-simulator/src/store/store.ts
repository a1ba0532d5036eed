/**
 * Everything the simulator remembers: maps in memory, in order of creation. Where a file is configured, what changes is
 * written to it before anybody hears of it: a kill costs nothing that was answered.
 */
import type {
  BalanceTransaction,
  BillingPortalConfiguration,
  BillingPortalSession,
  Charge,
  Customer,
  CustomerBalanceTransaction,
  Dispute,
  Invoice,
  InvoiceLineItem,
  InvoicePayment,
  LineItem,
  Metadata,
  PaymentIntent,
  PaymentMethod,
  Price,
  Product,
  Refund,
  Session,
  SnapshotEvent,
  Subscription,
  SubscriptionSchedule,
  TestClock,
  ThinEvent,
  WebhookEndpoint,
} from '../protocol/types.ts'
import { report } from '../report.ts'
import { setAside, StateFile, UnreadableState, type RowChange } from './state-file.ts'

export interface SessionRecord {
  object: Session
  lineItems: LineItem[]
  /** What the PaymentIntent gets once a payment is tried. */
  paymentIntentData: {
    description: string | null
    metadata: Metadata
    receipt_email: string | null
    statement_descriptor: string | null
    statement_descriptor_suffix: string | null
  }
  /** Of a session in `subscription` mode: what the subscription gets, and the payment, which the session does not show. */
  subscriptionData?: { description: string | null; metadata: Metadata; paymentIntentId: string | null }
  /** The payment that waits for the parent's confirmation (3-D Secure), if any. */
  challenge: Challenge | null
  /** The `checkout.session.completed` event, whose delivery the redirect waits for. */
  completedEventId: string | null
  /** When an asynchronous payment settles, and how. */
  settlement: { at: number; outcome: 'succeeded' | 'failed' } | null
}

interface Challenge {
  id: string
  paymentMethodId: string
  /** Names the test card without its number: the last four digits of each listed card differ. */
  last4: string
  name: string
  email: string
}

interface CustomerRecord {
  object: Customer
  deleted: boolean
}

export interface RefundRecord {
  object: Refund
  /** A refund that changes by itself later, as the refund test cards do. */
  settlement: { at: number; status: 'succeeded' | 'failed' } | null
}

export interface DisputeRecord {
  object: Dispute
  /** What the bank decides after evidence was handed in, and when. */
  settlement: { at: number; outcome: 'won' | 'lost' } | null
}

/** What a subscription does not show. */
export interface SubscriptionState {
  /** The end of the period that `invoice.upcoming` has announced. */
  announced: number | null
  /** Prorations that wait for the next invoice. */
  pending: InvoiceLineItem[]
}

export interface PortalSessionRecord {
  object: BillingPortalSession
  expiresAt: number
  /** The flow has been walked through; the page shows its confirmation. */
  done: string | null
}

export interface EventRecord {
  snapshot: SnapshotEvent
  thin: ThinEvent
}

export interface EndpointRecord {
  object: WebhookEndpoint
  /** The newest first; each signs. */
  secrets: string[]
  /** Secrets that were rolled, and until when they sign too (milliseconds of the machine's clock). */
  retiring?: { secret: string; until: number }[]
  payload: 'snapshot' | 'thin'
  /** From the start-up options, and so replaced by the next start's options. */
  configured: boolean
  /** Made as an event destination, and shown as one alone: what only that has. */
  destination?: { name: string; description: string; updated: number }
}

export interface DeliveryRecord {
  id: string
  eventId: string
  endpointId: string
  status: 'pending' | 'held' | 'delivered' | 'failed' | 'dropped'
  attempts: { at: number; status: number | null; error: string | null }[]
  /** Milliseconds of the machine's clock; deliveries do not follow the simulated time. */
  nextAt: number
  /** How many answers are lost on the way back. */
  lostAnswers?: number
}

export interface SavedResponse {
  key: string
  fingerprint: string
  status: number
  body: unknown
  requestId: string
  /** Seconds. */
  createdAt: number
}

/** What is not in the file yet, by row. */
class Journal {
  /** Whether there is a file. */
  isKept = false
  nextRow = 1
  readonly changes = new Map<number, () => RowChange>()
  whenChanged: () => void = () => {}

  note(row: number, change: () => RowChange): void {
    if (this.changes.size === 0) this.whenChanged()
    this.changes.set(row, change)
  }
}

/**
 * The records of one kind by their key, in order of creation. What `set` and `delete` change is saved by itself; after a
 * change inside a record call `save`.
 */
export class Table<T extends object> extends Map<string, T> {
  readonly #name: string
  readonly #journal: Journal
  readonly #rows = new Map<string, number>()

  constructor(name: string, journal: Journal) {
    super()
    this.#name = name
    this.#journal = journal
  }

  override set(key: string, value: T): this {
    super.set(key, value)
    if (!this.#journal.isKept) return this
    if (!this.#rows.has(key)) this.#rows.set(key, this.#journal.nextRow++)
    this.save(key)
    return this
  }

  override delete(key: string): boolean {
    this.save(key)
    this.#rows.delete(key)
    return super.delete(key)
  }

  /** A key of nothing that is kept here, such as a preview, is nothing to save. */
  save(key: string): void {
    const row = this.#rows.get(key)
    if (row === undefined) return
    this.#journal.note(row, () => {
      // A record that was deleted and made again has another row.
      const value = this.#rows.get(key) === row ? JSON.stringify(this.get(key)) : null
      return { row, table: this.#name, key, value }
    })
  }

  /** Takes a record from the file. */
  load(row: number, key: string, value: T): void {
    super.set(key, value)
    this.#rows.set(key, row)
  }

  /** Forgets what was loaded; the file keeps it. */
  unload(): void {
    super.clear()
    this.#rows.clear()
  }
}

export class Store {
  readonly #journal = new Journal()
  readonly #tables = new Map<string, Table<object>>()

  readonly sessions = this.#table<SessionRecord>('sessions')
  readonly paymentIntents = this.#table<PaymentIntent>('paymentIntents')
  readonly paymentMethods = this.#table<PaymentMethod>('paymentMethods')
  readonly charges = this.#table<Charge>('charges')
  readonly refunds = this.#table<RefundRecord>('refunds')
  readonly balanceTransactions = this.#table<BalanceTransaction>('balanceTransactions')
  readonly customers = this.#table<CustomerRecord>('customers')
  readonly products = this.#table<Product>('products')
  readonly prices = this.#table<Price>('prices')
  readonly subscriptions = this.#table<Subscription>('subscriptions')
  readonly invoices = this.#table<Invoice>('invoices')
  readonly invoicePayments = this.#table<InvoicePayment>('invoicePayments')
  readonly disputes = this.#table<DisputeRecord>('disputes')
  readonly plannedDisputes = this.#table<{ at: number }>('plannedDisputes')
  readonly customerBalances = this.#table<CustomerBalanceTransaction>('customerBalances')
  readonly subscriptionStates = this.#table<SubscriptionState>('subscriptionStates')
  readonly subscriptionSchedules = this.#table<SubscriptionSchedule>('subscriptionSchedules')
  readonly portalConfigurations = this.#table<BillingPortalConfiguration>('portalConfigurations')
  readonly portalSessions = this.#table<PortalSessionRecord>('portalSessions')
  readonly testClocks = this.#table<TestClock>('testClocks')
  readonly events = this.#table<EventRecord>('events')
  readonly endpoints = this.#table<EndpointRecord>('endpoints')
  readonly deliveries = this.#table<DeliveryRecord>('deliveries')
  readonly savedResponses = this.#table<SavedResponse>('savedResponses')
  /** Kept too, so that a session that expired under an advanced clock stays expired after a restart. */
  readonly #clock = this.#table<{ ms: number }>('clock')

  readonly #path: string
  #file: StateFile | undefined

  /**
   * Reads the file if there is one. A file that is no state is set aside, never written over, and told about: the
   * simulator starts empty.
   * @throws Error where another simulator has the file
   */
  constructor(path?: string) {
    this.#path = path ?? ''
    if (path === undefined) return
    try {
      this.#open(path)
    } catch (error) {
      if (!(error instanceof UnreadableState)) throw error
      report(`starting empty: the state file was set aside as ${setAside(path)}`, error.message)
      this.#open(path)
    }
    this.#sharePrices()
    this.#journal.isKept = true
    // The change's own turn comes to its end first: what it changed is saved together.
    this.#journal.whenChanged = () => queueMicrotask(() => this.commit())
  }

  #table<T extends object>(name: string): Table<T> {
    const table = new Table<T>(name, this.#journal)
    this.#tables.set(name, table)
    return table
  }

  #open(path: string): void {
    const file = StateFile.open(path)
    try {
      for (const { row, table, key, value } of file.rows()) {
        const record = parsed(value)
        const kept = this.#tables.get(table)
        if (kept === undefined || record === undefined) throw new UnreadableState(`its table ${table} is damaged`)
        kept.load(row, key, record)
        this.#journal.nextRow = row + 1
      }
    } catch (error) {
      file.close()
      for (const table of this.#tables.values()) table.unload()
      throw error
    }
    this.#file = file
  }

  /** A price is one object, wherever it is shown: a change of it shows everywhere. */
  #sharePrices(): void {
    const share = (one: { price: Price }) => {
      one.price = this.prices.get(one.price.id) ?? one.price
    }
    for (const { lineItems } of this.sessions.values()) lineItems.forEach(share)
    for (const { items } of this.subscriptions.values()) items.data.forEach(share)
  }

  get clockOffsetMs(): number {
    return this.#clock.get('offset')?.ms ?? 0
  }

  set clockOffsetMs(ms: number) {
    this.#clock.set('offset', { ms })
  }

  /** Saves an object of the API that has changed. */
  save(object: { id?: string; object: string }): void {
    if (object.id !== undefined) this.#tables.get(tableOf[object.object] ?? '')?.save(object.id)
  }

  /** How much was written to the file since the start; null without one. */
  get written(): { rows: number; bytes: number } | null {
    return this.#file?.written ?? null
  }

  /** Writes what has changed. It is called after every change by itself, and before an answer goes out. */
  commit(): void {
    const { changes } = this.#journal
    if (this.#file === undefined || changes.size === 0) return
    try {
      this.#file.write([...changes.values()].map((change) => change()))
      changes.clear()
    } catch (error) {
      // A full disk must not end the payments that are in memory; the next answer tries again.
      report(`could not write ${this.#path}`, error)
    }
  }

  /** Another simulator can have the file from here on. */
  close(): void {
    this.commit()
    this.#file?.close()
    this.#file = undefined
  }
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Where each object of the API is kept. */
const tableOf: Record<string, keyof Store> = {
  'checkout.session': 'sessions',
  payment_intent: 'paymentIntents',
  payment_method: 'paymentMethods',
  charge: 'charges',
  refund: 'refunds',
  customer: 'customers',
  product: 'products',
  price: 'prices',
  subscription: 'subscriptions',
  subscription_schedule: 'subscriptionSchedules',
  invoice: 'invoices',
  invoice_payment: 'invoicePayments',
  dispute: 'disputes',
  'billing_portal.configuration': 'portalConfigurations',
  'billing_portal.session': 'portalSessions',
  'test_helpers.test_clock': 'testClocks',
}

/** Newest first, the order of the API's lists. */
export function newestFirst<T>(table: ReadonlyMap<string, T>): T[] {
  return [...table.values()].toReversed()
}
