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

/** What has to fit together. */
const clientsSchema = z.object({ POOLS_FILE: poolsFileSchema, CLIENT_SECRETS: z.map(z.string(), z.string()) })

/** A year at the most. */
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
    /** Where clients find this service; a pool's issuer is `{ISSUER_URL}/{poolId}`. */
    ISSUER_URL: z
      .url({ protocol: /^https?$/ })
      .default('http://localhost:4001')
      .transform((url) => url.replace(/\/+$/, ''))
      .register(inProduction, productionRules.mustBeSet),
    /** Where parents find the site: where their passkeys are used. */
    SITE_URL: siteUrl,
    /** A JSON file of pools and their app clients (pool-settings.ts); they are made, or brought up to date, at the start. */
    POOLS_FILE: poolsFile,
    /** The secrets of the app clients that have one: `clientId:secret`, comma-separated. */
    CLIENT_SECRETS: pairs.default(new Map()).register(inProduction, productionRules.namedSecrets),
    /** Who may call the administrator operations, by AWS signature: `accessKeyId:secretAccessKey`, comma-separated. */
    ADMIN_KEYS: pairs.default(new Map([['local', 'local']])).register(inProduction, productionRules.namedSecrets),
    /** Seals what the database must not give away by itself: SRP verifiers, authenticator secrets, signing keys. */
    SEALING_KEYS: sealingKeysSchema,
    /**
     * Derive what is not kept: codes, a refresh token's successor, what a name that nobody has is answered. The first one
     * derives, and what the others derived is still known.
     */
    MAC_KEYS: derivingKeysSchema,
    /** Seals one-time codes on their way to notifications, which has the same. */
    CODE_SEALING_KEYS: sealingKeysSchema,

    /** argon2id, by OWASP's parameters. */
    ARGON2_MEMORY_KIB: numeric(z.int().min(8)).default(19_456),
    ARGON2_PASSES: count(2),
    /** How many passwords are hashed at once; more wait. */
    HASHES_AT_ONCE: count(availableParallelism()),
    /** How much of that work may be in line; who comes then is told to try again in a moment. */
    HASH_LINE_MS: milliseconds(1).default(2_000),

    SIGN_IN_STEP_SECONDS: numeric(z.int().min(1).max(86_400)).default(180),
    SIGN_UP_CODE_MINUTES: minutes(24 * 60),
    ATTRIBUTE_CODE_MINUTES: minutes(24 * 60),
    RESET_CODE_MINUTES: minutes(60),
    /** Tries that one caller has at a code, until they ask for it again. Codes of a sign-in live as long as its step. */
    CODE_TRIES: count(5),
    /**
     * Tries a day at six-digit codes that go to one address: of all strangers together, and of each device and network that
     * is known to the account. Whoever asks after that is sent a code of twelve digits. Authenticators have a quarter, as
     * three of their codes are right at any time.
     */
    CODE_TRIES_A_DAY: count(40),
    /** Codes that one account is sent within an hour at one caller's asking, and the same code at that of all strangers. */
    CODES_AN_HOUR: count(10),
    /** Codes of sign-ins that one account is sent within an hour at the asking of all strangers. */
    ACCOUNT_CODES_AN_HOUR: count(20),
    /** Operations that must not tell whether there is an account answer after a whole number of these. */
    EVEN_ANSWER_MS: milliseconds(1).default(150),

    /** Wrong passwords of one account from one caller in a day, before the next has to wait; the wait doubles from a second on. */
    FREE_SIGN_IN_FAILURES: count(5),
    MAX_SIGN_IN_WAIT_SECONDS: count(15 * 60),
    /** Wrong passwords of one account from all strangers in an hour, before strangers have to wait. */
    ACCOUNT_FAILURES_AN_HOUR: count(100),
    /** Requests that may guess something (sign-ins, codes) from one address in a minute. */
    ADDRESS_ATTEMPTS_A_MINUTE: count(120),
    /** Sign-ups and codes asked for from one address in an hour. */
    ADDRESS_REQUESTS_AN_HOUR: count(100),
    /** Text messages of all accounts together that one address has sent in an hour: each costs money. */
    ADDRESS_TEXTS_AN_HOUR: count(30),
    /** Text messages of all accounts together in a day. */
    TEXTS_A_DAY: count(500),
    /** How the numbers begin that text messages are sent to, comma-separated. */
    TEXT_COUNTRIES: dialCodes.default(['+1']),

    /** After how long a new signing key takes over; the old one stays published until its last token is dead. */
    SIGNING_KEY_DAYS: numeric(z.number().positive().max(3_650)).default(90),
  })
  .superRefine(
    ({ POOLS_FILE, CLIENT_SECRETS }, context) => {
      for (const { id, secret } of POOLS_FILE.pools.flatMap((pool) => pool.clients)) {
        if (!secret || CLIENT_SECRETS.has(id)) continue
        context.addIssue({ code: 'custom', path: ['CLIENT_SECRETS'], message: `has no secret for ${id}` })
      }
    },
    // Also beside other settings that are wrong, to tell them all at once.
    { when: ({ value }) => clientsSchema.safeParse(value).success },
  )
export type Config = z.infer<typeof configSchema>
