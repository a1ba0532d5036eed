import { maxChildren } from '@robokids/contracts/children'
import { paymentPageMinutes, unopenedHoldMinutes } from '@robokids/contracts/seat-hold'
import { numeric } from '@robokids/runtime/config'
import { z } from 'zod'

const minutes = numeric(
  z
    .int()
    .min(1)
    .max(24 * 60),
)

/** A registration takes one seat for each of its children, so no limit may be lower than that. */
const seats = numeric(z.int().min(maxChildren))

export const configSchema = z.object({
  /** How long seats are kept for a parent who pays: as long as the page can be paid, and 5 minutes more for its outcome to arrive. */
  HOLD_MINUTES: minutes.default(paymentPageMinutes + 5),
  /** How long they are kept before their payment page is opened. The forms tell families the default. */
  UNOPENED_HOLD_MINUTES: minutes.default(unopenedHoldMinutes),
  /** Seats that wait for their payment at once, of one account or browser: four children in two classes are 8. */
  UNPAID_SEATS_PER_FAMILY: seats.default(12),
  /**
   * The same of one network, which families may share: a /24 of IPv4, a /48 of IPv6. Raise it for an evening at which a whole
   * school registers.
   */
  UNPAID_SEATS_PER_NETWORK: seats.default(16),
})
export type Config = z.infer<typeof configSchema>
