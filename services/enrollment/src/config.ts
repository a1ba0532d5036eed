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
  /** How long seats are held once the payment page is open: the page's lifetime, and 5 minutes for its outcome to arrive. */
  HOLD_MINUTES: minutes.default(paymentPageMinutes + 5),
  /** How long seats are held until the payment page is opened. The forms show the default to families. */
  UNOPENED_HOLD_MINUTES: minutes.default(unopenedHoldMinutes),
  /** The maximum number of unpaid seats per account or browser: four children in two classes take 8. */
  UNPAID_SEATS_PER_FAMILY: seats.default(12),
  /**
   * The same per network (a /24 of IPv4, a /48 of IPv6), which several families may share. Raise it for an evening on which a
   * whole school registers.
   */
  UNPAID_SEATS_PER_NETWORK: seats.default(16),
})
export type Config = z.infer<typeof configSchema>
