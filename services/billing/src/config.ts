import { list, milliseconds, numeric, serviceUrl, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'

const secretKey = z
  .string()
  .regex(/^(sk|rk)_(test|live)_\w+$/, { error: 'is not a secret key of Stripe, like sk_test_…' })
  .register(inProduction, productionRules.providerKey)
/** Where a simulator of Stripe is. Compose files give an empty one for none. */
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
    /** Where a simulator of Stripe is; left out, the real one is meant. */
    STRIPE_API_URL: simulatorUrl,
    /** The signing secrets that webhooks may carry, comma-separated: while one is being replaced, the new and the old. */
    STRIPE_WEBHOOK_SECRETS: webhookSecrets,
    STRIPE_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(10_000),
    /** Where parents find the site: the payment page sends them back there. */
    SITE_URL: siteUrl,
    /** Where it is asked what a registration says. */
    ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
    RECONCILE_EVERY_MS: milliseconds(50).default(60_000),
    /** Orders that are begun and not paid at once, of one account or browser: each is a payment page at the provider. */
    UNPAID_ORDERS_PER_BUYER: numeric(z.int().min(1)).default(10),
    /** The same of one network, which families may share: a /24 of IPv4, a /48 of IPv6. */
    UNPAID_ORDERS_PER_NETWORK: numeric(z.int().min(1)).default(60),
  })
  .refine((config) => config.STRIPE_API_URL === undefined || !isLiveKey(config.STRIPE_SECRET_KEY), {
    path: ['STRIPE_SECRET_KEY'],
    error: 'a live key never goes to a simulator: leave STRIPE_API_URL out, or use a test key',
    // Also beside other settings that are wrong, to tell them all at once.
    when: ({ value }) => keyAndSimulatorSchema.safeParse(value).success,
  })
export type BillingConfig = z.infer<typeof configSchema>
export type BillingContext = Context<BillingConfig>

/** Whether a key moves real money. */
export function isLiveKey(key: string): boolean {
  return /^(sk|rk)_live_/.test(key)
}
