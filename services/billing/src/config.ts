import { list, milliseconds, numeric, serviceUrl, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'

const secretKey = z
  .string()
  .regex(/^(sk|rk)_(test|live)_\w+$/, { error: 'is not a secret key of Stripe, like sk_test_…' })
  .register(inProduction, productionRules.providerKey)
/** Base URL of a Stripe simulator. Compose files pass an empty string for none. */
const simulatorUrl = z
  .union([z.literal('').transform(() => undefined), z.url({ protocol: /^https?$/ })])
  .optional()
  .register(inProduction, productionRules.simulator)
const keyAndSimulatorSchema = z.object({ STRIPE_SECRET_KEY: secretKey, STRIPE_API_URL: z.url().optional() })
const webhookSecrets = list
  .pipe(
    z.array(z.string().regex(/^whsec_\S+$/, { error: 'is not a signing secret of a Stripe webhook, like whsec_…' })),
  )
  .register(inProduction, productionRules.webhookSecrets)

export const configSchema = z
  .object({
    STRIPE_SECRET_KEY: secretKey,
    /** Base URL of a Stripe simulator; the real Stripe if omitted. */
    STRIPE_API_URL: simulatorUrl,
    /** Webhook signing secrets, comma-separated: both the new and the old one during a rotation. */
    STRIPE_WEBHOOK_SECRETS: webhookSecrets,
    STRIPE_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(10_000),
    /** Public URL of the site, to which the payment page returns. */
    SITE_URL: siteUrl,
    /** Source of registration facts. */
    ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
    RECONCILE_EVERY_MS: milliseconds(50).default(60_000),
    /** Unpaid orders per account or browser at a time: each is a payment page at Stripe. */
    UNPAID_ORDERS_PER_BUYER: numeric(z.int().min(1)).default(10),
    /** Unpaid orders per network, which families may share: an IPv4 /24 or an IPv6 /48. */
    UNPAID_ORDERS_PER_NETWORK: numeric(z.int().min(1)).default(60),
  })
  .refine((config) => config.STRIPE_API_URL === undefined || !isLiveKey(config.STRIPE_SECRET_KEY), {
    path: ['STRIPE_SECRET_KEY'],
    error: 'a live key never goes to a simulator: leave STRIPE_API_URL out, or use a test key',
    // Runs beside other invalid settings as well, to report all of them at once.
    when: ({ value }) => keyAndSimulatorSchema.safeParse(value).success,
  })
export type BillingConfig = z.infer<typeof configSchema>
export type BillingContext = Context<BillingConfig>

/** Whether a key moves real money. */
export function isLiveKey(key: string): boolean {
  return /^(sk|rk)_live_/.test(key)
}
