import { list, milliseconds, numeric, origin, serviceUrl, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import { sealingKeysSchema } from '@robokids/runtime/seal'
import { z } from 'zod'

export const configSchema = z.object({
  /** The one origin that parents see. Requests that change something must come from it. */
  SITE_URL: siteUrl,
  /** Where faults of the site's security are reported to: /.well-known/security.txt says so. */
  SECURITY_EMAIL: z
    .email()
    .default('security@robokidslearning.example')
    .register(inProduction, productionRules.realAddress),
  IDENTITY_URL: serviceUrl('http://127.0.0.1:4001'),
  /** What identity calls itself in tokens, where that is not how it is reached from here. */
  IDENTITY_ISSUER_URL: origin.optional(),
  IDENTITY_POOL: z.string().trim().min(1).default('us-west-1_RoboKids'),
  /** The app client that this is, and its secret. */
  IDENTITY_CLIENT_ID: z.string().trim().min(1).default('robokidsbff'),
  IDENTITY_CLIENT_SECRET: z.string().trim().min(1).register(inProduction, productionRules.secret),
  /** Where a hosted service in identity's place has sign-in pages of its own: whoever logs out here is logged out there as well. */
  IDENTITY_PAGES_URL: origin.optional(),
  /** Signs the challenges of proofs of work: whoever knows it needs none. The same for all BFFs. */
  PROOF_SECRET: z.string().trim().min(16).register(inProduction, productionRules.secret),
  /** Keys that a browser derives at most for a proof while nothing runs hot: a quarter of a second on a laptop. */
  PROOF_DERIVATIONS: numeric(z.int().min(1).max(10_000)).default(800),
  /** Seal the cookies. */
  SESSION_KEYS: sealingKeysSchema,
  ENROLLMENT_URL: serviceUrl('http://127.0.0.1:4002'),
  BILLING_URL: serviceUrl('http://127.0.0.1:4003'),
  NOTIFICATIONS_URL: serviceUrl('http://127.0.0.1:4004'),
  /** Public client ids, told apart in limits and logs; never an authority. */
  API_KEYS: list.default(['robokids-web']),
  /** Requests a minute from one address, to anything under /api and to what changes something. */
  RATE_LIMIT_READS: numeric(z.int().min(1)).default(1200),
  RATE_LIMIT_WRITES: numeric(z.int().min(1)).default(600),
  /**
   * Requests for news of a product an hour from one address, each of which may send a mail; eight times as many from
   * a whole /48 of IPv6. Of one account, with its requests for codes, sign-ups of other addresses and changes of its membership.
   */
  RATE_LIMIT_NOTICES: numeric(z.int().min(1)).default(30),
  /** Requests for news an hour that are about one mailbox, whatever follows a plus in its address. */
  RATE_LIMIT_NOTICES_TO_MAILBOX: numeric(z.int().min(1)).default(10),
  /**
   * Messages of the contact page an hour from one address, and eight times as many from a whole /48 of IPv6; of one account, and
   * about one mailbox.
   */
  RATE_LIMIT_MESSAGES: numeric(z.int().min(1)).default(20),
  /** Event streams that one address may have open: a household's or a school's tabs. */
  STREAMS_PER_ADDRESS: numeric(z.int().min(1)).default(60),
  /** How long a service may take to answer. */
  UPSTREAM_TIMEOUT_MS: milliseconds(100).default(15_000),
  /** The folder of the built web; empty serves the API alone. */
  WEB_DIST: z.string().default(''),
  /**
   * A folder that all BFFs of the site share, where each puts the files of its build and finds those of other builds: while two
   * versions run, a page of the one asks the other for its scripts. Left out, each has its own files alone.
   */
  WEB_ASSETS_SHARED: z.string().trim().min(1).optional(),
})

export type Config = z.infer<typeof configSchema>
