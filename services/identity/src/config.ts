import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { milliseconds, numeric, siteUrl } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import { derivingKeysSchema, sealingKeysSchema } from '@robokids/runtime/seal'
import { z } from 'zod'
import { poolsFileSchema } from './pools/pool-settings.ts'

/** `id:secret`, comma-separated. */
const pairs = z.string().transform((list, context) => {
  const entries = new Map<string, string>()
  for (const entry of list.split(',').filter((one) => one.trim() !== '')) {
    const [, id, secret] = /^([^:]+):(.+)$/.exec(entry.trim()) ?? []
    if (id === undefined || secret === undefined) {
      context.addIssue('is not a list like id:secret,id:secret')
      return z.NEVER
    }
    if (entries.has(id)) {
      context.addIssue(`has two secrets for ${id}`)
      return z.NEVER
    }
    entries.set(id, secret)
  }
  return entries
})

const standardPools = fileURLToPath(new URL('../pools.json', import.meta.url))

const poolsFile = z
  .string()
  .default(standardPools)
  .transform((path, context) => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as unknown
    } catch (error) {
      context.addIssue(`cannot be read: ${(error as Error).message}`)
      return z.NEVER
    }
  })
  .pipe(poolsFileSchema)

/** `+1,+44` */
const dialCodes = z
  .string()
  .transform((list) => list.split(',').map((code) => code.trim()))
  .refine((codes) => codes.every((code) => /^\+[1-9]\d{0,6}$/.test(code)), 'is not a list like +1,+44')

/** Settings that are checked against each other. */
const clientsSchema = z.object({ POOLS_FILE: poolsFileSchema, CLIENT_SECRETS: z.map(z.string(), z.string()) })

/** At most one year. */
const minutes = (standard: number) =>
  numeric(
    z
      .number()
      .positive()
      .max(365 * 24 * 60),
  ).default(standard)
const count = (standard: number) => numeric(z.int().min(1)).default(standard)

export const configSchema = z
  .object({
    /** Public URL of this service; a pool's issuer is `{ISSUER_URL}/{poolId}`. */
    ISSUER_URL: z
      .url({ protocol: /^https?$/ })
      .default('http://localhost:4001')
      .transform((url) => url.replace(/\/+$/, ''))
      .register(inProduction, productionRules.mustBeSet),
    /** URL of the site, where passkeys are used. */
    SITE_URL: siteUrl,
    /** A JSON file of pools and their app clients (pool-settings.ts), created or updated at startup. */
    POOLS_FILE: poolsFile,
    /** The secrets of the app clients that have one: `clientId:secret`, comma-separated. */
    CLIENT_SECRETS: pairs.default(new Map()).register(inProduction, productionRules.namedSecrets),
    /** Access keys for the administrator operations (AWS signature): `accessKeyId:secretAccessKey`, comma-separated. */
    ADMIN_KEYS: pairs.default(new Map([['local', 'local']])).register(inProduction, productionRules.namedSecrets),
    /** Seal what a leaked database must not reveal: SRP verifiers, authenticator secrets, signing keys. */
    SEALING_KEYS: sealingKeysSchema,
    /**
     * Derive what is not stored: codes, a refresh token's successor, responses for unknown usernames. The first key
     * derives; values derived by the others are still accepted.
     */
    MAC_KEYS: derivingKeysSchema,
    /** Seals one-time codes in transit to notifications, which has the same keys. */
    CODE_SEALING_KEYS: sealingKeysSchema,

    /** argon2id with OWASP's parameters. */
    ARGON2_MEMORY_KIB: numeric(z.int().min(8)).default(19_456),
    ARGON2_PASSES: count(2),
    /** Passwords hashed concurrently; further ones are queued. */
    HASHES_AT_ONCE: count(availableParallelism()),
    /**
     * Longest queue of passwords to hash, as estimated waiting time; further requests are rejected with a retry hint.
     */
    HASH_LINE_MS: milliseconds(1).default(2_000),

    SIGN_IN_STEP_SECONDS: numeric(z.int().min(1).max(86_400)).default(180),
    SIGN_UP_CODE_MINUTES: minutes(24 * 60),
    ATTRIBUTE_CODE_MINUTES: minutes(24 * 60),
    RESET_CODE_MINUTES: minutes(60),
    /** Attempts per caller and code, until a code is requested again. Sign-in codes expire with their step. */
    CODE_TRIES: count(5),
    /**
     * Attempts per day at six-digit codes sent to one address: for all unknown callers together, and for each device
     * and network known to the account. Further codes have twelve digits. Authenticators have a quarter, because three
     * of their codes are valid at any time.
     */
    CODE_TRIES_A_DAY: count(40),
    /**
     * Codes per account and hour requested by one caller; also how often all unknown callers together can have the same
     * code sent.
     */
    CODES_AN_HOUR: count(10),
    /** Sign-in codes per account and hour requested by all unknown callers together. */
    ACCOUNT_CODES_AN_HOUR: count(20),
    /** Responses that must not reveal whether an account exists are delayed to a multiple of this. */
    EVEN_ANSWER_MS: milliseconds(1).default(150),

    /**
     * Wrong passwords per account, caller and day before the next attempt has to wait; the wait starts at one second
     * and doubles.
     */
    FREE_SIGN_IN_FAILURES: count(5),
    MAX_SIGN_IN_WAIT_SECONDS: count(15 * 60),
    /** Wrong passwords per account and hour from all unknown callers before unknown callers have to wait. */
    ACCOUNT_FAILURES_AN_HOUR: count(100),
    /** Requests that could be guesses (sign-ins, codes) per address and minute. */
    ADDRESS_ATTEMPTS_A_MINUTE: count(120),
    /** Sign-ups and code requests per address and hour. */
    ADDRESS_REQUESTS_AN_HOUR: count(100),
    /** Text messages per address and hour, over all accounts: each costs money. */
    ADDRESS_TEXTS_AN_HOUR: count(30),
    /** Text messages per day, over all accounts. */
    TEXTS_A_DAY: count(500),
    /** Dial codes of the phone numbers that may receive text messages, comma-separated. */
    TEXT_COUNTRIES: dialCodes.default(['+1']),

    /** Age at which a signing key is replaced; the old one stays published until its last token has expired. */
    SIGNING_KEY_DAYS: numeric(z.number().positive().max(3_650)).default(90),
  })
  .superRefine(
    ({ POOLS_FILE, CLIENT_SECRETS }, context) => {
      for (const { id, secret } of POOLS_FILE.pools.flatMap((pool) => pool.clients)) {
        if (!secret || CLIENT_SECRETS.has(id)) continue
        context.addIssue({ code: 'custom', path: ['CLIENT_SECRETS'], message: `has no secret for ${id}` })
      }
    },
    // Runs even if other settings are invalid, to report all errors at once.
    { when: ({ value }) => clientsSchema.safeParse(value).success },
  )
export type Config = z.infer<typeof configSchema>
