import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { numeric } from '@robokids/runtime/config'
import { localSealingKeys } from '@robokids/runtime/seal'
import { z } from 'zod'
import {
  clientSecret,
  owningServices,
  perService,
  portSetting,
  services,
  urlSetting,
  type OwningService,
  type ServiceName,
} from './services.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

const port = (standard: number) => numeric(z.int().min(1).max(65_535)).default(standard)

const servicePorts = Object.fromEntries(
  owningServices.map((name) => [portSetting(name), port(services[name].port)]),
) as Record<ReturnType<typeof portSetting<OwningService>>, ReturnType<typeof port>>

const settingsSchema = z.object({
  PORT: port(3000),
  ...servicePorts,
  STRIPE_SIMULATOR_PORT: port(4010),
  POSTGRES_PORT: port(4020),
  NATS_PORT: port(4022),
  MAILBOX_PORT: port(1080),
  SMTP_PORT: port(1025),
  SMS_PORT: port(1081),
  API_PAGES_PORT: port(4030),
  /** The data folder. */
  DATA_DIR: z
    .string()
    .trim()
    .min(1)
    .default('.data')
    .transform((path) => resolve(root, path)),
  /** External servers, instead of those started here. */
  NATS_URL: z.string().trim().min(1).optional(),
  DATABASE_SERVER_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  LOG_LEVEL: z.string().default('warn'),
})

export type Settings = z.infer<typeof settingsSchema>

/** Errors for equal ports, of which only the first program could start. */
function sharedPorts(settings: Settings): string[] {
  const own: [keyof Settings, boolean][] = [
    ['POSTGRES_PORT', settings.DATABASE_SERVER_URL === undefined],
    ['NATS_PORT', settings.NATS_URL === undefined],
  ]
  const unused = new Set<string>(own.flatMap(([name, isUsed]) => (isUsed ? [] : [name])))
  const ports = Object.entries(settings).filter(([name]) => name.endsWith('PORT') && !unused.has(name))
  return ports.flatMap(([name, port], index) => {
    const [first] = ports.slice(0, index).find(([, other]) => other === port) ?? []
    return first === undefined ? [] : [`${name}: is the same as ${first}`]
  })
}

/**
 * Reads the settings from the environment; errors are printed and end the process.
 * @param refused returns further errors, given these settings: lines like `LOG_LEVEL: is not a level`
 */
export function readSettings(env: NodeJS.ProcessEnv, refused: (settings: Settings) => string[] = () => []): Settings {
  const read = settingsSchema.safeParse(env)
  const issues = read.error?.issues ?? []
  const wrong = issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  // Further errors are reported together with these.
  const own = new Set(issues.map((issue) => String(issue.path[0])))
  const settings = settingsSchema.parse(Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name))))
  const others = refused(settings).filter((line) => !own.has(/^\w+/.exec(line)?.[0] ?? ''))
  const problems = new Set([...wrong, ...sharedPorts(settings), ...others])
  if (problems.size === 0) return settings
  console.error(`These settings are wrong:\n${[...problems].map((line) => `  ${line}`).join('\n')}`)
  process.exit(1)
}

/** The broker reserves the streams' size: less on a developer's machine. */
export const streamSettings = (env: NodeJS.ProcessEnv) => ({
  NATS_STREAM_MEGABYTES: env['NATS_STREAM_MEGABYTES'] ?? '256',
})

/** What the system that `npm start` runs calls itself: another checkout's, or another folder's, is another system. */
export const localSystemName = (settings: Settings) => `npm start in ${settings.DATA_DIR}`

/** Returns the environment of each process, with everything on this machine. @param env additional variables */
export function serviceEnvironment(
  settings: Settings,
  natsUrl: string,
  databaseUrl: (name: OwningService) => string,
  env: NodeJS.ProcessEnv = process.env,
): Record<ServiceName, Record<string, string>> {
  const siteUrl = `http://localhost:${settings.PORT}`
  const local = (port: number) => `http://127.0.0.1:${port}`
  const urlOf = (name: string) => local(settings[portSetting(name as OwningService)])
  const at = {
    urlOf,
    simulatorUrl: local(settings.STRIPE_SIMULATOR_PORT),
    smtpUrl: `smtp://127.0.0.1:${settings.SMTP_PORT}`,
    smsUrl: `${local(settings.SMS_PORT)}/messages`,
  }
  const shared = {
    ...env,
    APP_ENV: 'local',
    SYSTEM_NAME: localSystemName(settings),
    HOST: '127.0.0.1',
    NATS_URL: natsUrl,
    ...streamSettings(env),
    SITE_URL: siteUrl,
    LOG_LEVEL: settings.LOG_LEVEL,
  } as Record<string, string>
  return {
    ...perService((name) => ({
      ...shared,
      NATS_USER: name,
      PORT: String(settings[portSetting(name)]),
      DATABASE_URL: databaseUrl(name),
      ...services[name].environment(at),
    })),
    bff: {
      ...shared,
      NATS_USER: 'bff',
      PORT: String(settings.PORT),
      IDENTITY_CLIENT_SECRET: clientSecret,
      SESSION_KEYS: localSealingKeys,
      PROOF_SECRET: 'local-proof-secret',
      ...Object.fromEntries(owningServices.map((name) => [urlSetting(name), urlOf(name)])),
      WEB_DIST: resolve(root, 'web/dist'),
    },
  }
}
