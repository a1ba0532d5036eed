/**
 * The simulator's state: maps in memory, in order of creation. If a file is configured, changes are
 * written to it before the response: a crash loses nothing that was acknowledged.
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
import { moveAside, StateFile, UnreadableState, type RowChange } from './state-file.ts'

export interface SessionRecord {
  object: Session
  lineItems: LineItem[]
  /** Parameters for the PaymentIntent, created on the first attempt to pay. */
  paymentIntentData: {
    description: string | null
    metadata: Metadata
    receipt_email: string | null
    statement_descriptor: string | null
    statement_descriptor_suffix: string | null
  }
  /** In `subscription` mode: the subscription's parameters, and the payment, which the session does not show. */
  subscriptionData?: { description: string | null; metadata: Metadata; paymentIntentId: string | null }
  /** The payment waiting for the parent's confirmation (3-D Secure), if any. */
  challenge: Challenge | null
  /** The `checkout.session.completed` event, whose delivery the redirect waits for. */
  completedEventId: string | null
  /** When an asynchronous payment settles, and how. */
  settlement: { at: number; outcome: 'succeeded' | 'failed' } | null
}

interface Challenge {
  id: string
  paymentMethodId: string
  /** Identifies the test card without its number: the last four digits of all listed cards differ. */
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
  /** The scheduled change of a refund, with the refund test cards. */
  settlement: { at: number; status: 'succeeded' | 'failed' } | null
}

export interface DisputeRecord {
  object: Dispute
  /** The bank's scheduled decision after evidence was submitted. */
  settlement: { at: number; outcome: 'won' | 'lost' } | null
}

/** State of a subscription that is not in the API object. */
export interface SubscriptionState {
  /** The end of the period already announced by `invoice.upcoming`. */
  announced: number | null
  /** Pending prorations for the next invoice. */
  pending: InvoiceLineItem[]
}

export interface PortalSessionRecord {
  object: BillingPortalSession
  expiresAt: number
  /** Whether the flow is completed; the page shows its confirmation. */
  done: string | null
}

export interface EventRecord {
  snapshot: SnapshotEvent
  thin: ThinEvent
}

export interface EndpointRecord {
  object: WebhookEndpoint
  /** Newest first; all of them sign. */
  secrets: string[]
  /** Rolled secrets, with the end of their validity (milliseconds of the machine's clock). */
  retiring?: { secret: string; until: number }[]
  payload: 'snapshot' | 'thin'
  /** Configured at startup, and replaced by the next start's options. */
  configured: boolean
  /** For event destinations, which are only shown as such: their additional properties. */
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
  /** The number of responses to ignore. */
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

/** Unsaved changes by row. */
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
 * The records of one kind by key, in order of creation. `set` and `delete` are saved automatically; after a
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

  /** The key of an object that is not stored, such as a preview, is ignored. */
  save(key: string): void {
    const row = this.#rows.get(key)
    if (row === undefined) return
    this.#journal.note(row, () => {
      // A record that was deleted and created again has another row.
      const value = this.#rows.get(key) === row ? JSON.stringify(this.get(key)) : null
      return { row, table: this.#name, key, value }
    })
  }

  /** Loads a record from the file. */
  load(row: number, key: string, value: T): void {
    super.set(key, value)
    this.#rows.set(key, row)
  }

  /** Unloads all records; the file keeps them. */
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
  /** Saved as well, so that a session that expired under an advanced clock stays expired after a restart. */
  readonly #clock = this.#table<{ ms: number }>('clock')

  readonly #path: string
  #file: StateFile | undefined

  /**
   * Reads the file if there is one. An unreadable file is moved aside, never overwritten, and reported: the
   * simulator starts empty.
   * @throws Error if another simulator has the file open
   */
  constructor(path?: string) {
    this.#path = path ?? ''
    if (path === undefined) return
    try {
      this.#open(path)
    } catch (error) {
      if (!(error instanceof UnreadableState)) throw error
      report(`starting empty: the state file was set aside as ${moveAside(path)}`, error.message)
      this.#open(path)
    }
    this.#sharePrices()
    this.#journal.isKept = true
    // Deferred to the end of the current turn, so that all of its changes are saved together.
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

  /** A price is one shared object, so that changes show everywhere. */
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

  /** Saves a changed API object. */
  save(object: { id?: string; object: string }): void {
    if (object.id !== undefined) this.#tables.get(tableOf[object.object] ?? '')?.save(object.id)
  }

  /** Statistics of writes to the file; null without one. */
  get written(): { rows: number; bytes: number } | null {
    return this.#file?.written ?? null
  }

  /** Writes the changes. Called automatically after every change, and before a response is sent. */
  commit(): void {
    const { changes } = this.#journal
    if (this.#file === undefined || changes.size === 0) return
    try {
      this.#file.write([...changes.values()].map((change) => change()))
      changes.clear()
    } catch (error) {
      // A full disk must not lose the payments in memory; the next response retries.
      report(`could not write ${this.#path}`, error)
    }
  }

  /** Releases the file for another simulator. */
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

/** The records of each API object. */
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
