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
  /** The address that mails come from. */
  MAIL_FROM: z.email().default('hello@robokidslearning.example').register(inProduction, productionRules.realAddress),
  /** The operator's address: what needs somebody's hand is told there. */
  OPERATOR_EMAIL: z
    .email()
    .default('operator@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  /** The address that families write to: messages of the contact page go there. */
  SUPPORT_EMAIL: z
    .email()
    .default('hello@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  /** Where the links in a mail lead. */
  SITE_URL: siteUrl,
  /** Where signed waivers are fetched from. */
  ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
  /** How long the mail server may leave a command unanswered; for all of one mail it may take three times as long. */
  SMTP_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(20_000),
  /** Where a text message is posted as `{id, to, text}`; left out, none can be sent. */
  SMS_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Sent along as a bearer token. */
  SMS_TOKEN: z.string().trim().min(1).optional(),
  /** How long the gateway for text messages may take to answer. */
  SMS_TIMEOUT_MS: numeric(z.int().min(100).max(60_000)).default(10_000),
  /** What identity's codes are sealed with. */
  CODE_SEALING_KEYS: sealingKeysSchema,
})
export type Config = z.infer<typeof configSchema>
