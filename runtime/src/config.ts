import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { inProduction, productionRules, proxiesHint } from './production-rules.ts'

/** The admin secret of `npm start`; production does not start with it. */
export const localAdminSecret = 'local-admin'

/** The password of every user of the broker of `npm start`; production does not start with it. */
export const localNatsPassword = 'local-nats'

/** Returns the schema of a decimal number. An empty setting is not 0, and `0x10` is not 16. */
export function numeric<Schema extends z.ZodType<number, number>>(schema: Schema) {
  return z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, { error: 'is not a number' })
    .transform(Number)
    .pipe(schema)
}

/** Returns the schema of a timeout in whole milliseconds, at most a day: Node's timers fire at once above 24 days. */
export function milliseconds(min: number) {
  return numeric(z.int().min(min).max(86_400_000))
}

/** A comma-separated list without empty items. */
export const list = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(z.string().min(1, { error: 'has an empty item' })))

/** A URL without a path: `https://school.example`, `http://127.0.0.1:4001`. */
export const origin = z.string().transform((text, context) => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin
  context.addIssue('is not an address like https://school.example or http://127.0.0.1:4001, without a path')
  return z.NEVER
})

/** Returns the schema of another process's URL, with the default `local` for development. */
export const serviceUrl = (local: string) => origin.default(local).register(inProduction, productionRules.mustBeSet)

/** The public URL of the site. */
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
    // With a number of proxies, a request that bypasses them could claim any client address.
    context.addIssue(
      /^\d+$/.test(value) ? `is a number: ${proxiesHint}` : `is neither false nor proxies: ${proxiesHint}`,
    )
    return z.NEVER
  })
  .register(inProduction, productionRules.proxies)

/** Ten years: dates much further away would be out of range somewhere. */
const maxClockOffset = Temporal.Duration.from({ hours: 87_660 })

const clockOffset = z
  .string()
  .default('PT0S')
  .transform((text, context) => {
    try {
      const offset = Temporal.Duration.from(text)
      // Throws for units without a fixed length, such as days.
      Temporal.Now.instant().add(offset)
      if (Temporal.Duration.compare(offset.abs(), maxClockOffset) <= 0) return offset
      context.addIssue('is more than ten years (PT87660H)')
    } catch {
      context.addIssue('is not a length of time like PT40M or -PT2H (a day is PT24H)')
    }
    return z.NEVER
  })
  .register(inProduction, productionRules.clockOffset)

/** The settings of every process, by name. */
export const baseShape = {
  /** `local` for `npm start` and tests; `production` for anything that parents use. */
  APP_ENV: z.enum(['local', 'production']).default('production'),
  /** The operators' name of the whole system, the same for all of its processes. */
  SYSTEM_NAME: z.string().trim().min(1).max(200).default('local').register(inProduction, productionRules.mustBeSet),
  /** The address to listen on. The default is loopback, also in production, so that nothing is exposed by omission. */
  HOST: z.string().trim().min(1).default('127.0.0.1'),
  /** 0 means any free port. */
  PORT: numeric(z.int().min(0).max(65_535)).default(0).register(inProduction, productionRules.mustBeSet),
  /** One server, or the comma-separated servers of a cluster. */
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\/[^\s,/]+(,(nats|tls):\/\/[^\s,/]+)*$/, { error: 'is not a list like nats://host:4222' })
    .default('nats://127.0.0.1:4222')
    .register(inProduction, productionRules.mustBeSet),
  /**
   * The broker's user, which decides what the process may publish and consume (deploy/nats/users.conf): the process's name, or
   * `operator` for what prepares a roll-out. Default: the process's name.
   */
  NATS_USER: z
    .string()
    .trim()
    .regex(/^[a-z]+$/, { error: 'is not a user of the broker, such as billing' })
    .optional()
    .register(inProduction, productionRules.mustBeSet),
  NATS_PASSWORD: z.string().trim().min(1).default(localNatsPassword).register(inProduction, productionRules.secret),
  /** The broker's replicas per stream: 3 in a cluster. */
  NATS_REPLICAS: numeric(z.int().min(1).max(5)).default(1),
  /**
   * How many days the broker keeps an event, and the outbox with it. It has to be longer than the longest outage of a consumer:
   * one that comes back later misses events until an operator publishes them again.
   */
  NATS_STREAM_DAYS: numeric(z.int().min(1).max(365)).default(30),
  /**
   * The size of each service's stream, which the broker reserves on its disk. A full one rejects new events, which wait in the
   * outbox. The default holds four million events.
   */
  NATS_STREAM_MEGABYTES: numeric(z.int().min(16).max(1_048_576)).default(4_096),
  /** With `false`, a start waits until `node src/main.ts migrate` has been run for its version, and changes nothing itself. */
  MIGRATE_ON_START: z
    .enum(['true', 'false'])
    .default('true')
    .transform((value) => value === 'true'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ADMIN_SECRET: z.string().trim().min(8).default(localAdminSecret).register(inProduction, productionRules.secret),
  /** The OpenTelemetry collector that traces are sent to (OTLP over HTTP): `http://collector:4318`. None are recorded without it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'is not a URL like http://collector:4318' })
    .optional(),
  /** The share of requests whose traces are recorded, from 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: numeric(z.number().min(0).max(1)).default(1),
  /** Milliseconds for which spans are collected before they are sent. */
  OTEL_BSP_SCHEDULE_DELAY: milliseconds(10).default(5_000),
  /** An ISO 8601 duration (`PT40M`) added to the real time, to rehearse later events. Local only. */
  CLOCK_OFFSET: clockOffset,
  /** Milliseconds between the deliveries of a failing event; after the last one it becomes a dead letter. */
  CONSUMER_RETRY_DELAYS: z
    .string()
    .default('200,1000,5000,15000,30000,60000,120000')
    .transform((text) => text.split(',').map((delay) => delay.trim()))
    .pipe(z.array(milliseconds(0))),
  /** Milliseconds until an unacknowledged event (its handler may have crashed) is redelivered. */
  CONSUMER_ACK_WAIT_MS: milliseconds(100).default(30_000),
  /** How long a request may take to arrive completely, including its body. */
  REQUEST_TIMEOUT_MS: milliseconds(100).default(30_000),
  /**
   * How long a process that is told to stop still serves everything, while its readiness is 503 and each response closes its
   * connection. With more than the two seconds after which our own clients give up an idle connection, and more than a proxy
   * takes to notice, no request is lost when one of several copies stops.
   */
  DRAIN_MS: milliseconds(0).default(0),
  /** The proxies whose `X-Forwarded-For` is trusted: `false`, or their comma-separated addresses. */
  TRUST_PROXY: trustProxy,
}

const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'is not a URL like postgres://user:password@host/name' })
  .register(inProduction, productionRules.databaseUrl)

/** The settings of a process that owns a database, by name. */
export const databaseShape = {
  DATABASE_URL: databaseUrl,
  DATABASE_POOL: numeric(z.int().min(2).max(200)).default(10),
}

const baseSchema = z.object(baseShape)
const databaseSchema = z.object(databaseShape)

/** The settings of every process. */
export type BaseConfig = z.infer<typeof baseSchema>
/** The settings of a process that owns a database. */
export type DatabaseConfig = z.infer<typeof databaseSchema>
/** The schema of a process's own settings, by their environment variable names. */
export type Settings<Own> = z.ZodType<Own> & { shape: Readonly<Record<string, z.core.$ZodType>> }

export type Environment = Readonly<Record<string, string | undefined>>

/** Thrown if settings are missing or wrong; the message lists each with the reason, but never its value. */
export class ConfigError extends Error {}

/** Why a setting is refused. */
interface Problem {
  name: string
  reason: string
}

/**
 * Returns `env` with the settings `names` that are given as files: `ADMIN_SECRET_FILE=/run/secrets/admin_secret` sets `ADMIN_SECRET`
 * to that file's content, without the line break at its end. So a secret is neither in the environment of a container nor in
 * its description.
 */
export function readSettingFiles(
  names: readonly string[],
  env: Environment,
): { env: Environment; problems: readonly Problem[] } {
  const values: Record<string, string> = {}
  const problems: Problem[] = []
  for (const name of names) {
    const variable = `${name}_FILE`
    const path = env[variable]
    if (path === undefined) continue
    if (env[name] !== undefined) {
      problems.push({ name, reason: `${name}: is set by ${variable} as well` })
      continue
    }
    try {
      values[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      problems.push({ name, reason: `${variable}: cannot be read (${(error as NodeJS.ErrnoException).code})` })
    }
  }
  return { env: { ...env, ...values }, problems }
}

/** Parses several groups of settings. @throws ConfigError naming all that are missing, wrong or not allowed in production. */
function readAll(parts: Settings<unknown>[], given: Environment): object {
  const files = readSettingFiles([...new Set(parts.flatMap((part) => Object.keys(part.shape)))], given)
  const { env } = files
  const reads = parts.map((part) =>
    part.safeParse(env, { error: (issue) => (issue.input === undefined ? 'is not set' : undefined) }),
  )
  const unreadable = new Set(files.problems.map(({ name }) => name))
  const problems = [...files.problems]
  for (const { path, message } of reads.flatMap((read) => read.error?.issues ?? [])) {
    const name = String(path[0])
    if (!unreadable.has(name)) problems.push({ name, reason: `${path.join('.')}: ${message}` })
  }
  // Everything that is not `local` counts as production, also a misspelled APP_ENV.
  if (env['APP_ENV'] !== 'local') {
    for (const [name, schema] of parts.flatMap((part) => Object.entries(part.shape))) {
      const value = env[name]
      const rule = inProduction.get(schema)
      if (!rule || problems.some((problem) => problem.name === name)) continue
      const reason = value === undefined ? rule.required && 'has to be set in production' : rule.findProblem?.(value)
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
 * Reads a process's settings from the environment, or from the files that it names: the base settings and its own. With `database`, it also validates the
 * database settings, which `readDatabaseConfig` returns.
 * @throws ConfigError naming every setting that is missing or wrong, and in production those that are for development only.
 */
export function readConfig<Own>(own: Settings<Own>, env: Environment, { database = false } = {}): BaseConfig & Own {
  return readAll([baseSchema, own, ...(database ? [databaseSchema] : [])], env) as BaseConfig & Own
}

/** Reads the database settings of a service. @throws ConfigError */
export function readDatabaseConfig(env: Environment): DatabaseConfig {
  return readAll([databaseSchema], env) as DatabaseConfig
}

/**
 * Reads the settings of a program that is no process of the system.
 * @throws ConfigError naming every setting that is missing or wrong, and in production those that are for development only.
 */
export function readSettingsOf<Own>(own: Settings<Own>, env: Environment): Own {
  return readAll([own], env) as Own
}
