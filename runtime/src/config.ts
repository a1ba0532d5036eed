import { z } from 'zod'
import { localSealingKeys } from './seal.ts'

/** The value under which `npm start` runs; production refuses to start with it. */
export const localAdminSecret = 'local-admin'

const baseShape = {
  /** `local` is `npm start` and tests; anything that parents use is `production`. */
  APP_ENV: z.enum(['local', 'production']).default('production'),
  HOST: z.string().default('127.0.0.1'),
  /** 0 takes any free port. */
  PORT: z.coerce.number().int().min(0).max(65535).default(0),
  NATS_URL: z.string().default('nats://127.0.0.1:4222'),
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  NATS_REPLICAS: z.coerce.number().int().min(1).max(5).default(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ADMIN_SECRET: z.string().min(8).default(localAdminSecret),
  /** Added to the real time, as an ISO 8601 duration (`PT40M`): to rehearse what happens later. Local only. */
  CLOCK_OFFSET: z.string().default('PT0S'),
  /** Milliseconds between the deliveries of an event that fails; after the last one it is a dead letter. */
  CONSUMER_RETRY_DELAYS: z
    .string()
    .default('200,1000,5000,15000,30000,60000,120000')
    .transform((list) => list.split(',').map(Number))
    .pipe(z.array(z.number().int().min(0))),
  /** Milliseconds after which an event whose handler says nothing, having crashed perhaps, is delivered again. */
  CONSUMER_ACK_WAIT_MS: z.coerce.number().int().min(100).default(30_000),
  /** What proxies stand in front: `false`, `true`, a number of hops, or addresses. Their `X-Forwarded-For` is believed. */
  TRUST_PROXY: z
    .string()
    .default('false')
    .transform((value) =>
      value === 'true' ? true : value === 'false' ? false : /^\d+$/.test(value) ? Number(value) : value,
    ),
}

const databaseShape = {
  DATABASE_URL: z.string().min(1),
  DATABASE_POOL: z.coerce.number().int().min(2).max(200).default(10),
}

const baseSchema = z.object(baseShape)
const databaseSchema = z.object(databaseShape)

/** The settings that every process has. */
export type BaseConfig = z.infer<typeof baseSchema>
/** The settings of a process that owns a database. */
export type DatabaseConfig = z.infer<typeof databaseSchema>

export type Environment = Readonly<Record<string, string | undefined>>

/** Thrown when settings are missing or wrong; the message lists each with its reason. */
export class ConfigError extends Error {}

/**
 * Reads a process's settings from the environment: the base ones and the service's own.
 * @throws ConfigError naming every setting that is missing or wrong, and default secrets in production.
 */
export function readConfig<Own>(own: z.ZodType<Own>, env: Environment): BaseConfig & Own {
  const base = baseSchema.safeParse(env)
  const rest = own.safeParse(env)
  const issues = [...(base.error?.issues ?? []), ...(rest.error?.issues ?? [])]
  const problems = issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  if (base.success && base.data.APP_ENV === 'production') {
    if (base.data.ADMIN_SECRET === localAdminSecret) problems.push('ADMIN_SECRET: set one of your own in production')
    for (const [name, value] of Object.entries(env)) {
      if (value === localSealingKeys) problems.push(`${name}: set keys of your own in production`)
    }
    if (base.data.CLOCK_OFFSET !== 'PT0S') problems.push('CLOCK_OFFSET: is for local rehearsals only')
  }
  if (problems.length > 0 || !base.success || !rest.success) {
    throw new ConfigError(`These settings are missing or wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`)
  }
  return { ...base.data, ...rest.data }
}

/** Reads where a service's database is. @throws ConfigError */
export function readDatabaseConfig(env: Environment): DatabaseConfig {
  const read = databaseSchema.safeParse(env)
  if (!read.success)
    throw new ConfigError('DATABASE_URL: says where the database is, postgres://user:password@host/name')
  return read.data
}
