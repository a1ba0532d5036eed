import { numeric, serviceUrl, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import { sealingKeysSchema } from '@robokids/runtime/seal'
import { z } from 'zod'

export const configSchema = z.object({
  /** `smtp://user:password@host:port`, or `smtps://` for TLS from the first byte. */
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .default('smtp://127.0.0.1:1025')
    .register(inProduction, productionRules.mustBeSet),
  /** The sender's address. */
  MAIL_FROM: z.email().default('hello@robokidslearning.example').register(inProduction, productionRules.realAddress),
  /** The operator's address, for mails about work that needs a person. */
  OPERATOR_EMAIL: z
    .email()
    .default('operator@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  /** The school's address for families; messages from the contact page are sent to it. */
  SUPPORT_EMAIL: z
    .email()
    .default('hello@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  /** The base URL of links in mails. */
  SITE_URL: siteUrl,
  /** The service that signed waivers are fetched from. */
  ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
  /** The timeout of each SMTP command; one whole mail may take three times as long. */
  SMTP_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(20_000),
  /** Mails sent at the same time by each process, each over a connection of its own. */
  SMTP_CONNECTIONS: numeric(z.int().min(2).max(100)).default(10),
  /** Text messages are posted to this URL as `{id, to, text}`; if omitted, none can be sent. */
  SMS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The bearer token for `SMS_URL`. */
  SMS_TOKEN: z.string().trim().min(1).optional(),
  /** The timeout of the SMS gateway. */
  SMS_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(10_000),
  /** The keys with which identity seals codes. */
  CODE_SEALING_KEYS: sealingKeysSchema,
})
export type Config = z.infer<typeof configSchema>
