import type { Clock } from './clock.ts'
import type { Faults } from './faults.ts'
import type { Store } from './store.ts'
import type { Deliveries } from './webhooks.ts'

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
}
