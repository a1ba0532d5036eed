import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'

const secretKey = z.string().regex(/^(sk|rk)_(test|live)_\w+$/, {
  error: 'is not a secret key of Stripe, like sk_test_…',
})
const webhookSecrets = z
  .string()
  .transform((list) => list.split(',').map((secret) => secret.trim()))
  .pipe(
    z
      .array(z.string().regex(/^whsec_\S+$/, { error: 'is not a signing secret of a Stripe webhook, like whsec_…' }))
      .min(1),
  )

export const configSchema = z
  .object({
    STRIPE_SECRET_KEY: secretKey,
    /** Where a simulator of Stripe is; left out, the real one is meant. */
    STRIPE_API_URL: z.union([z.literal('').transform(() => undefined), z.url({ protocol: /^https?$/ })]).optional(),
    /** The signing secrets that webhooks may carry, comma-separated: while one is being replaced, the new and the old. */
    STRIPE_WEBHOOK_SECRETS: webhookSecrets,
    STRIPE_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(10_000),
    /** Where parents find the site: the payment page sends them back there. */
    SITE_URL: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    RECONCILE_EVERY_MS: z.coerce.number().int().min(50).default(60_000),
  })
  .refine((config) => config.STRIPE_API_URL === undefined || !isLiveKey(config.STRIPE_SECRET_KEY), {
    path: ['STRIPE_SECRET_KEY'],
    error: 'a live key never goes to a simulator: leave STRIPE_API_URL out, or use a test key',
  })
export type BillingConfig = z.infer<typeof configSchema>
export type BillingContext = Context<BillingConfig>

/** Whether a key moves real money. */
export function isLiveKey(key: string): boolean {
  return /^(sk|rk)_live_/.test(key)
}
