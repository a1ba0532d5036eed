import { sealingKeysSchema } from '@robokids/runtime/seal'
import { z } from 'zod'

export const configSchema = z.object({
  /** The one origin that parents see. Requests that change something must come from it. */
  SITE_URL: z
    .url()
    .default('http://localhost:3000')
    .transform((url) => new URL(url).origin),
  IDENTITY_URL: z.url().default('http://127.0.0.1:4001'),
  /** What identity calls itself in tokens, where that is not how it is reached from here. */
  IDENTITY_ISSUER_URL: z.url().optional(),
  IDENTITY_POOL: z.string().default('us-west-1_RoboKids'),
  /** The app client that this is, and its secret. */
  IDENTITY_CLIENT_ID: z.string().default('robokidsbff'),
  IDENTITY_CLIENT_SECRET: z.string().min(1),
  /** Seal the cookies. */
  SESSION_KEYS: sealingKeysSchema,
  ENROLLMENT_URL: z.url().default('http://127.0.0.1:4002'),
  BILLING_URL: z.url().default('http://127.0.0.1:4003'),
  NOTIFICATIONS_URL: z.url().default('http://127.0.0.1:4004'),
  /** Public client ids, told apart in limits and logs; never an authority. */
  API_KEYS: z
    .string()
    .default('robokids-web')
    .transform((list) => list.split(',')),
  /** Requests a minute from one address, to anything under /api and to what changes something. */
  RATE_LIMIT_READS: z.coerce.number().int().min(1).default(1200),
  RATE_LIMIT_WRITES: z.coerce.number().int().min(1).default(600),
  /** Requests for news of a product an hour from one address: each may send a mail. */
  RATE_LIMIT_NOTICES: z.coerce.number().int().min(1).default(30),
  /** Event streams that one address may have open: a household's or a school's tabs. */
  STREAMS_PER_ADDRESS: z.coerce.number().int().min(1).default(60),
  /** How long a service may take to answer. */
  UPSTREAM_TIMEOUT_MS: z.coerce.number().int().min(100).default(15_000),
  /** The folder of the built web; empty serves the API alone. */
  WEB_DIST: z.string().default(''),
})

export type Config = z.infer<typeof configSchema>
