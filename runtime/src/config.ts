import { isIP } from 'node:net'
import { z } from 'zod'
import { inProduction, productionRules, proxiesByName } from './production-rules.ts'

/** The value under which `npm start` runs; production refuses to start with it. */
export const localAdminSecret = 'local-admin'

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
export const serviceUrl = (local: string) => origin.default(local).register(inProduction, productionRules.mustBeSet)

/** Where people find the site. */
export const siteUrl = origin.default('http://localhost:3000').register(inProduction, productionRules.siteUrl)

const networkNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const trustProxy = z
  .string()
  .default('false')
  .transform((value, context): boolean | string[] => {
    if (value === 'true' || value === 'false') return value === 'true'
    const networks = value.split(',').map((network) => network.trim())
    if (networks.every((network) => networkNames.has(network) || isNetwork(network))) return networks
    // By their number, whoever comes past them would be believed, whatever address they claim.
    context.addIssue(
      /^\d+$/.test(value) ? `is a number: ${proxiesByName}` : `is neither false nor proxies: ${proxiesByName}`,
    )
    return z.NEVER
  })
  .register(inProduction, productionRules.proxies)

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
  .register(inProduction, productionRules.clockOffset)

/** The settings that every process has, by their names. */
export const baseShape = {
  /** `local` is `npm start` and tests; anything that parents use is `production`. */
  APP_ENV: z.enum(['local', 'production']).default('production'),
  /** What operators call the whole system that this process is a part of; each of its processes says the same. */
  SYSTEM_NAME: z.string().trim().min(1).max(200).default('local').register(inProduction, productionRules.mustBeSet),
  /** Where it listens. Loopback unless it says otherwise, in production as well: nothing is open by omission. */
  HOST: z.string().trim().min(1).default('127.0.0.1'),
  /** 0 takes any free port. */
  PORT: numeric(z.int().min(0).max(65_535)).default(0).register(inProduction, productionRules.mustBeSet),
  /** One server or, comma-separated, several of a cluster. */
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/[^\s,/]+(,(nats|tls):\/\/[^\s,/]+)*$/, { error: 'is not a list like nats://host:4222' })
    .default('nats://127.0.0.1:4222')
    .register(inProduction, productionRules.mustBeSet),
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  NATS_REPLICAS: numeric(z.int().min(1).max(5)).default(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ADMIN_SECRET: z.string().trim().min(8).default(localAdminSecret).register(inProduction, productionRules.secret),
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
  /** How long a request may take to arrive, its body with it. */
  REQUEST_TIMEOUT_MS: milliseconds(100).default(30_000),
  /** What proxies stand in front, whose `X-Forwarded-For` is believed: `false`, or their addresses, comma-separated. */
  TRUST_PROXY: trustProxy,
}

const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'says where the database is, postgres://user:password@host/name' })
  .register(inProduction, productionRules.databaseUrl)

/** The settings of a process that owns a database, by their names. */
export const databaseShape = {
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
  // Whatever is not for a developer's machine is held to be in production, also where APP_ENV is misspelt.
  if (env['APP_ENV'] !== 'local') {
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
