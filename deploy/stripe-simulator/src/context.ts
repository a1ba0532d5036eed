import type { Clock } from './clock.ts'
import type { Faults } from './faults.ts'
import type { Store } from './store/store.ts'
import type { Deliveries } from './webhooks/deliveries.ts'

/** What every resource works with. */
export interface Context {
  store: Store
  clock: Clock
  deliveries: Deliveries
  faults: Faults
  settings: Settings
}

interface Settings {
  /** Where a browser finds the payment page: no trailing slash. */
  publicUrl: string
  merchantName: string
  /** Empty: any `sk_test_…`. */
  apiKeys: readonly string[]
  /** Seconds after which the refunds of the refund test cards change. */
  refundSettleSeconds: number
  /** How long a paid checkout waits for the answer to its completed-webhook before it redirects. */
  redirectWaitMs: number
  sessionCreateDelayMs: number
  /** Seconds after which the payments of the dispute test card are disputed. */
  disputeAfterSeconds: number
  /** Days before a renewal at which `invoice.upcoming` announces it. */
  upcomingDays: number
  dunning: Dunning
}

/** What becomes of a renewal that cannot be charged. */
export interface Dunning {
  /** Days to wait after the first failure, the second, and so on. */
  retryAfterDays: readonly number[]
  /** After the last: the subscription is cancelled, marked unpaid, or left as it is. */
  lastly: 'cancel' | 'unpaid' | 'past_due'
}
