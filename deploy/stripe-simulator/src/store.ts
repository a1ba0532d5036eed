/**
 * Everything the simulator remembers: maps in memory, in order of creation, written to one JSON file when a file is
 * configured. Writes are debounced and atomic (a temporary file, then a rename); a kill can cost the last 50 ms.
 */
import { report } from './report.ts'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

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
} from './types.ts'

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

interface Tables {
  sessions: Map<string, SessionRecord>
  paymentIntents: Map<string, PaymentIntent>
  paymentMethods: Map<string, PaymentMethod>
  charges: Map<string, Charge>
  refunds: Map<string, RefundRecord>
  balanceTransactions: Map<string, BalanceTransaction>
  customers: Map<string, CustomerRecord>
  products: Map<string, Product>
  prices: Map<string, Price>
  subscriptions: Map<string, Subscription>
  invoices: Map<string, Invoice>
  invoicePayments: Map<string, InvoicePayment>
  disputes: Map<string, DisputeRecord>
  plannedDisputes: Map<string, { at: number }>
  customerBalances: Map<string, CustomerBalanceTransaction>
  subscriptionStates: Map<string, SubscriptionState>
  subscriptionSchedules: Map<string, SubscriptionSchedule>
  portalConfigurations: Map<string, BillingPortalConfiguration>
  portalSessions: Map<string, PortalSessionRecord>
  testClocks: Map<string, TestClock>
  events: Map<string, EventRecord>
  endpoints: Map<string, EndpointRecord>
  deliveries: Map<string, DeliveryRecord>
  savedResponses: Map<string, SavedResponse>
}

const TABLE_NAMES = [
  'sessions',
  'paymentIntents',
  'paymentMethods',
  'charges',
  'refunds',
  'balanceTransactions',
  'customers',
  'products',
  'prices',
  'subscriptions',
  'invoices',
  'invoicePayments',
  'disputes',
  'plannedDisputes',
  'customerBalances',
  'subscriptionStates',
  'subscriptionSchedules',
  'portalConfigurations',
  'portalSessions',
  'testClocks',
  'events',
  'endpoints',
  'deliveries',
  'savedResponses',
] as const satisfies readonly (keyof Tables)[]

/** 1 had no disputes, portal, test clocks and subscription states; what a file lacks is empty. */
const FORMAT = 2
const READABLE = [1, FORMAT]
const WRITE_AFTER_MS = 50

export class Store implements Tables {
  readonly sessions: Tables['sessions'] = new Map()
  readonly paymentIntents: Tables['paymentIntents'] = new Map()
  readonly paymentMethods: Tables['paymentMethods'] = new Map()
  readonly charges: Tables['charges'] = new Map()
  readonly refunds: Tables['refunds'] = new Map()
  readonly balanceTransactions: Tables['balanceTransactions'] = new Map()
  readonly customers: Tables['customers'] = new Map()
  readonly products: Tables['products'] = new Map()
  readonly prices: Tables['prices'] = new Map()
  readonly subscriptions: Tables['subscriptions'] = new Map()
  readonly invoices: Tables['invoices'] = new Map()
  readonly invoicePayments: Tables['invoicePayments'] = new Map()
  readonly disputes: Tables['disputes'] = new Map()
  readonly plannedDisputes: Tables['plannedDisputes'] = new Map()
  readonly customerBalances: Tables['customerBalances'] = new Map()
  readonly subscriptionStates: Tables['subscriptionStates'] = new Map()
  readonly subscriptionSchedules: Tables['subscriptionSchedules'] = new Map()
  readonly portalConfigurations: Tables['portalConfigurations'] = new Map()
  readonly portalSessions: Tables['portalSessions'] = new Map()
  readonly testClocks: Tables['testClocks'] = new Map()
  readonly events: Tables['events'] = new Map()
  readonly endpoints: Tables['endpoints'] = new Map()
  readonly deliveries: Tables['deliveries'] = new Map()
  readonly savedResponses: Tables['savedResponses'] = new Map()

  /** Saved too, so that a session that expired under an advanced clock stays expired after a restart. */
  clockOffsetMs = 0

  readonly #file: string | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #dirty = false

  /**
   * Reads the file if there is one. A file that is no state is set aside, never written over, and told about: the
   * simulator starts empty.
   */
  constructor(file?: string) {
    this.#file = file
    if (file === undefined) return
    mkdirSync(dirname(file), { recursive: true })
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    const broken = this.#load(text)
    if (broken === null) return
    const aside = `${file}.broken-${Date.now()}`
    renameSync(file, aside)
    report(`starting empty: the state file was set aside as ${aside}`, broken)
  }

  /** Null, or what is wrong with the text, of which then nothing is taken. */
  #load(text: string): string | null {
    let saved: Record<string, unknown>
    try {
      saved = JSON.parse(text) as Record<string, unknown>
    } catch {
      return 'it is not JSON'
    }
    if (typeof saved !== 'object' || saved === null || !READABLE.includes(saved['format'] as number)) {
      return 'it has a format that this version does not read'
    }
    for (const name of TABLE_NAMES) {
      const table = saved[name] ?? []
      if (!Array.isArray(table) || !table.every(isEntry)) return `its table ${name} is damaged`
    }
    this.clockOffsetMs = Number(saved['clockOffsetMs'] ?? 0) || 0
    for (const name of TABLE_NAMES) {
      const table = this[name] as Map<string, unknown>
      for (const [key, value] of (saved[name] ?? []) as [string, unknown][]) table.set(key, value)
    }
    return null
  }

  /** Call after every change: the file follows shortly after. */
  changed(): void {
    if (this.#file === undefined) return
    this.#dirty = true
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.flush()
    }, WRITE_AFTER_MS)
  }

  /** Resolves when everything changed so far is in the file. */
  async flush(): Promise<void> {
    const file = this.#file
    if (file === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(async () => {
      if (!this.#dirty) return
      this.#dirty = false
      const state: Record<string, unknown> = { format: FORMAT, clockOffsetMs: this.clockOffsetMs }
      for (const name of TABLE_NAMES) state[name] = [...this[name]]
      const temporary = `${file}.tmp`
      try {
        await writeFile(temporary, JSON.stringify(state), { mode: 0o600 })
        await rename(temporary, file)
      } catch (error) {
        // A full disk must not end the payments that are in memory; the next change tries again.
        this.#dirty = true
        report(`could not write ${file}`, error)
      }
    })
    await this.#writing
  }
}

function isEntry(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    typeof value[0] === 'string' &&
    typeof value[1] === 'object' &&
    value[1] !== null
  )
}

/** Newest first, the order of the API's lists. */
export function newestFirst<T>(table: ReadonlyMap<string, T>): T[] {
  return [...table.values()].toReversed()
}
