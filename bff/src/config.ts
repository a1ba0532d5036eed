import { list, milliseconds, numeric, origin, serviceUrl, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import { sealingKeysSchema } from '@robokids/runtime/seal'
import { z } from 'zod'

export const configSchema = z.object({
  /** The public origin of the site. Requests that change something must come from it. */
  SITE_URL: siteUrl,
  /** The contact for security reports in /.well-known/security.txt. */
  SECURITY_EMAIL: z
    .email()
    .default('security@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  IDENTITY_URL: serviceUrl('http://127.0.0.1:4001'),
  /** Identity's issuer URL in tokens, if it differs from its address here. */
  IDENTITY_ISSUER_URL: origin.optional(),
  IDENTITY_POOL: z.string().trim().min(1).default('us-west-1_RoboKids'),
  /** The BFF's app client, and its secret. */
  IDENTITY_CLIENT_ID: z.string().trim().min(1).default('robokidsbff'),
  IDENTITY_CLIENT_SECRET: z.string().trim().min(1).register(inProduction, productionRules.secret),
  /** The sign-in pages of a hosted identity service, if any: logging out here also logs out there. */
  IDENTITY_PAGES_URL: origin.optional(),
  /** Signs the challenges of proofs of work: anyone who knows it needs none. The same for all BFFs. */
  PROOF_SECRET: z.string().trim().min(16).register(inProduction, productionRules.secret),
  /** The maximum number of keys that a browser derives for a proof at normal demand: a quarter of a second on a laptop. */
  PROOF_DERIVATIONS: numeric(z.int().min(1).max(10_000)).default(800),
  /** Seal the cookies. */
  SESSION_KEYS: sealingKeysSchema,
  ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
  BILLING_URL: serviceUrl('http://127.0.0.1:4003'),
  NOTIFICATIONS_URL: serviceUrl('http://127.0.0.1:4004'),
  /** Public client ids, distinguished in limits and logs; they grant nothing. */
  API_KEYS: list.default(['robokids-web']),
  /** Requests per minute and network to /api: reads, and requests that change something. */
  RATE_LIMIT_READS: numeric(z.int().min(1)).default(1200),
  RATE_LIMIT_WRITES: numeric(z.int().min(1)).default(600),
  /**
   * Requests for stock alerts, and to join a waitlist, per hour and network, each of which may send a mail; eight times as many per /48 of IPv6. Per
   * account, together with its requests for codes, sign-ups of other emails and changes of its membership.
   */
  RATE_LIMIT_NOTICES: numeric(z.int().min(1)).default(30),
  /** The same two per hour and mailbox, ignoring plus tags. */
  RATE_LIMIT_NOTICES_TO_MAILBOX: numeric(z.int().min(1)).default(10),
  /**
   * Messages of the contact page per hour and network (eight times as many per /48 of IPv6), account and mailbox.
   */
  RATE_LIMIT_MESSAGES: numeric(z.int().min(1)).default(20),
  /** Open event streams per network: the tabs of a household or a school. */
  STREAMS_PER_ADDRESS: numeric(z.int().min(1)).default(60),
  /** How long a service may take to respond. */
  UPSTREAM_TIMEOUT_MS: milliseconds(100).default(15_000),
  /** The folder of the built web; empty serves the API alone. */
  WEB_DIST: z.string().default(''),
  /**
   * A folder that all BFFs of the site share, where each stores the files of its build and finds those of other builds: during a
   * roll-out, a page of one version may request its scripts from the other. If unset, each serves only its own files.
   */
  WEB_ASSETS_SHARED: z.string().trim().min(1).optional(),
})

export type Config = z.infer<typeof configSchema>
