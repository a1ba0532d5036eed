import type { Clock } from '../clock.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Faults } from '../faults.ts'
import type { Store } from '../store/store.ts'

/** The shared dependencies of all resources. */
export interface Context {
  store: Store
  clock: Clock
  deliveries: Deliveries
  faults: Faults
  settings: Settings
}

interface Settings {
  /** Base URL of the payment page, without trailing slash. */
  publicUrl: string
  merchantName: string
  /** Empty: any `sk_test_…`. */
  apiKeys: readonly string[]
  /** Seconds after which the refunds of the refund test cards change. */
  refundSettleSeconds: number
  /** How long a paid checkout waits for the response to its completed webhook before it redirects. */
  redirectWaitMs: number
  sessionCreateDelayMs: number
  /** Seconds after which the payments of the dispute test card are disputed. */
  disputeAfterSeconds: number
  /** Days before a renewal at which `invoice.upcoming` announces it. */
  upcomingDays: number
  dunning: Dunning
}

/** The handling of renewals that cannot be charged. */
export interface Dunning {
  /** Days to wait after the first failure, the second, and so on. */
  retryAfterDays: readonly number[]
  /** After the last attempt the subscription is cancelled, marked unpaid, or left past due. */
  lastly: 'cancel' | 'unpaid' | 'past_due'
}
