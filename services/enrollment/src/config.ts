import { numeric } from '@robokids/runtime/config'
import { z } from 'zod'

export const configSchema = z.object({
  /** How long seats are kept for a parent who pays: the checkout's 31 minutes and 5 more for its outcome to arrive. */
  HOLD_MINUTES: numeric(
    z
      .int()
      .min(1)
      .max(24 * 60),
  ).default(36),
})
export type Config = z.infer<typeof configSchema>
