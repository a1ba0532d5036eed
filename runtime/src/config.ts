import { isIP } from 'node:net'
import { z } from 'zod'

/** The value under which `npm start` runs; production refuses to start with it. */
export const localAdminSecret = 'local-admin'

/** What production asks of a setting beyond its shape. */
export interface ProductionRule {
  /** It has to be set: what stands in for it where it is left out is for a developer's machine. */
  required?: boolean
  /** Why production does not take a value, in words that follow the setting's name; undefined where it does. */
  refuse?(value: string): string | undefined
}

/**
 * Production's rules, each beside the setting that it is for: `schema.register(inProduction, rule)`. It has to be the last
 * call, since what any other answers is another schema.
 */
export const inProduction = z.registry<ProductionRule>()

/** For a setting whose default is on the same machine: production means it only where it says so. */
export const mustBeSet: ProductionRule = { required: true }

/** For a secret. Those for development begin with `local` (`whsec_local`, `robokidsbff:local-client-secret`), and no others do. */
export const ownSecret = (kind: 'secret' | 'keys'): ProductionRule => ({
  required: true,
  refuse: (list) =>
    list.split(',').some((value) => /(^|[:_])local/.test(value.trim()))
      ? `set ${kind === 'secret' ? 'one' : 'keys'} of your own in production`
      : undefined,
})

/** Names that are reserved for examples and tests (RFC 2606): nobody is behind them. */
const reservedName = /(^|\.)(example|invalid|test|example\.(com|net|org))$/

/** For an address, of mail or of a page, that somebody has to be behind. */
export const realAddress: ProductionRule = {
  required: true,
  refuse(address) {
    const host = URL.parse(address)?.hostname ?? address.slice(address.indexOf('@') + 1)
    return reservedName.test(host.toLowerCase()) ? 'is an example: set an address of your own in production' : undefined
  },
}

/** A number in decimal digits: an empty setting is not 0, nor is `0x10` 16. */
export function numeric<Schema extends z.ZodType<number, number>>(schema: Schema) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, { error: 'is not a number' })
    .transform(Number)
    .pipe(schema)
}

/** Whole milliseconds that something is waited for, a day at the most: a timer that is told of more than 24 days waits for none. */
export function milliseconds(least: number) {
  return numeric(z.int().min(least).max(86_400_000))
}

/** A list, comma-separated, of which no part is empty. */
export const list = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(z.string().min(1, { error: 'has an empty part' })))

/** An address without a path: `https://school.example`, `http://127.0.0.1:4001`. */
export const origin = z.string().transform((text, context) => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin
  context.addIssue('is not an address like https://school.example or http://127.0.0.1:4001, without a path')
  return z.NEVER
})

/** Where another process of the system is; on a developer's machine at `local`. */
export const serviceUrl = (local: string) => origin.default(local).register(inProduction, mustBeSet)

/** Where people find the site. Cookies, passkeys and the payment page's way back need https, also behind a proxy. */
export const siteUrl = origin.default('http://localhost:3000').register(inProduction, {
  required: true,
  refuse: (url) => (/^https:/i.test(url) ? realAddress.refuse?.(url) : 'has to begin with https:// in production'),
})

const networkNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const proxies = 'name the proxies by address, network (10.0.0.0/8) or name (loopback, linklocal, uniquelocal)'

const trustProxy = z
  .string()
  .default('false')
  .transform((value, context): boolean | string[] => {
    if (value === 'true' || value === 'false') return value === 'true'
    const networks = value.split(',').map((network) => network.trim())
    if (networks.every((network) => networkNames.has(network) || isNetwork(network))) return networks
    // By their number, whoever comes past them would be believed, whatever address they claim.
    context.addIssue(/^\d+$/.test(value) ? `is a number: ${proxies}` : `is neither false nor proxies: ${proxies}`)
    return z.NEVER
  })
  .register(inProduction, {
    refuse: (value) =>
      value === 'true' || /\/0+\s*(,|$)/.test(value) ? `believes every visitor's header: ${proxies}` : undefined,
  })

/** Ten years: what is planned from a time much further away has dates that nothing can hold. */
const furthestOffset = Temporal.Duration.from({ hours: 87_660 })

const clockOffset = z
  .string()
  .default('PT0S')
  .transform((text, context) => {
    try {
      const offset = Temporal.Duration.from(text)
      // What has no fixed length, a day for one, cannot be added to an instant.
      Temporal.Now.instant().add(offset)
      if (Temporal.Duration.compare(offset.abs(), furthestOffset) <= 0) return offset
      context.addIssue('is more than ten years (PT87660H)')
    } catch {
      context.addIssue('is not a length of time like PT40M or -PT2H (a day is PT24H)')
    }
    return z.NEVER
  })
  .register(inProduction, {
    refuse: (text) =>
      Temporal.Duration.from(text).blank ? undefined : 'is for rehearsals: leave it out in production',
  })

const baseShape = {
  /** `local` is `npm start` and tests; anything that parents use is `production`. */
  APP_ENV: z.enum(['local', 'production']).default('production'),
  /** What operators call the whole system that this process is a part of; each of its processes says the same. */
  SYSTEM_NAME: z.string().trim().min(1).max(200).default('local').register(inProduction, mustBeSet),
  /** Where it listens. Loopback unless it says otherwise, in production as well: nothing is open by omission. */
  HOST: z.string().trim().min(1).default('127.0.0.1'),
  /** 0 takes any free port. */
  PORT: numeric(z.int().min(0).max(65_535)).default(0).register(inProduction, mustBeSet),
  /** One server or, comma-separated, several of a cluster. */
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/[^\s,/]+(,(nats|tls):\/\/[^\s,/]+)*$/, { error: 'is not a list like nats://host:4222' })
    .default('nats://127.0.0.1:4222')
    .register(inProduction, mustBeSet),
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  NATS_REPLICAS: numeric(z.int().min(1).max(5)).default(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ADMIN_SECRET: z.string().min(8).default(localAdminSecret).register(inProduction, ownSecret('secret')),
  /** Added to the real time, as an ISO 8601 duration (`PT40M`): to rehearse what happens later. Local only. */
  CLOCK_OFFSET: clockOffset,
  /** Milliseconds between the deliveries of an event that fails; after the last one it is a dead letter. */
  CONSUMER_RETRY_DELAYS: z
    .string()
    .default('200,1000,5000,15000,30000,60000,120000')
    .transform((text) => text.split(',').map((delay) => delay.trim()))
    .pipe(z.array(milliseconds(0))),
  /** Milliseconds after which an event whose handler says nothing, having crashed perhaps, is delivered again. */
  CONSUMER_ACK_WAIT_MS: milliseconds(100).default(30_000),
  /** What proxies stand in front, whose `X-Forwarded-For` is believed: `false`, or their addresses, comma-separated. */
  TRUST_PROXY: trustProxy,
}

const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'says where the database is, postgres://user:password@host/name' })
  .register(inProduction, {
    refuse(text) {
      const { username, password } = new URL(text)
      return password === '' || password === username || password.startsWith('local')
        ? 'needs a password of its own in production'
        : undefined
    },
  })

const databaseShape = {
  DATABASE_URL: databaseUrl,
  DATABASE_POOL: numeric(z.int().min(2).max(200)).default(10),
}

const baseSchema = z.object(baseShape)
const databaseSchema = z.object(databaseShape)

/** The settings that every process has. */
export type BaseConfig = z.infer<typeof baseSchema>
/** The settings of a process that owns a database. */
export type DatabaseConfig = z.infer<typeof databaseSchema>
/** A process's own settings: an object of them, by their names in the environment. */
export type Settings<Own> = z.ZodType<Own> & { shape: Readonly<Record<string, z.core.$ZodType>> }

export type Environment = Readonly<Record<string, string | undefined>>

/** Thrown when settings are missing or wrong; the message lists each with its reason, and never a value. */
export class ConfigError extends Error {}

/** Reads settings of several kinds at once. @throws ConfigError naming all that are missing, wrong or not for production. */
function readAll(parts: Settings<unknown>[], env: Environment): object {
  const reads = parts.map((part) =>
    part.safeParse(env, { error: (issue) => (issue.input === undefined ? 'is not set' : undefined) }),
  )
  const problems = reads
    .flatMap((read) => read.error?.issues ?? [])
    .map(({ path, message }) => ({ name: String(path[0]), reason: `${path.join('.')}: ${message}` }))
  if ((env['APP_ENV'] ?? 'production') === 'production') {
    for (const [name, schema] of parts.flatMap((part) => Object.entries(part.shape))) {
      const value = env[name]
      const rule = inProduction.get(schema)
      if (!rule || problems.some((problem) => problem.name === name)) continue
      const reason = value === undefined ? rule.required && 'has to be set in production' : rule.refuse?.(value)
      if (reason) problems.push({ name, reason: `${name}: ${reason}` })
    }
  }
  if (problems.length > 0) {
    throw new ConfigError(
      `These settings are missing or wrong:\n${problems.map(({ reason }) => `  ${reason}`).join('\n')}`,
    )
  }
  return Object.assign({}, ...reads.map((read) => read.data)) as object
}

/**
 * Reads a process's settings from the environment: the base ones, its own and, where it has a database, whether that one's
 * are right as well (`readDatabaseConfig` reads them).
 * @throws ConfigError naming every setting that is missing or wrong, and in production what is for development alone.
 */
export function readConfig<Own>(own: Settings<Own>, env: Environment, { database = false } = {}): BaseConfig & Own {
  return readAll([baseSchema, own, ...(database ? [databaseSchema] : [])], env) as BaseConfig & Own
}

/** Reads where a service's database is. @throws ConfigError */
export function readDatabaseConfig(env: Environment): DatabaseConfig {
  return readAll([databaseSchema], env) as DatabaseConfig
}
