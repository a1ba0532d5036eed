import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { numeric } from '@robokids/runtime/config'
import { localSealingKeys } from '@robokids/runtime/seal'
import { z } from 'zod'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

const port = (standard: number) => numeric(z.int().min(1).max(65_535)).default(standard)

const settingsSchema = z.object({
  PORT: port(3000),
  IDENTITY_PORT: port(4001),
  ENROLLMENT_PORT: port(4002),
  BILLING_PORT: port(4003),
  NOTIFICATIONS_PORT: port(4004),
  STRIPE_SIMULATOR_PORT: port(4010),
  POSTGRES_PORT: port(4020),
  NATS_PORT: port(4022),
  MAILBOX_PORT: port(1080),
  SMTP_PORT: port(1025),
  SMS_PORT: port(1081),
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

export const webhookSecret = 'whsec_local'
const clientSecret = 'local-client-secret'

export type ServiceName = 'identity' | 'enrollment' | 'billing' | 'notifications' | 'bff'

/** The name of the system that `npm start` runs: another checkout or data folder is another system. */
export const localSystemName = (settings: Settings) => `npm start in ${settings.DATA_DIR}`

/** Returns the environment of each process, with everything on this machine. @param env additional variables */
export function serviceEnvironment(
  settings: Settings,
  natsUrl: string,
  databaseUrl: (name: string) => string,
  env: NodeJS.ProcessEnv = process.env,
): Record<ServiceName, Record<string, string>> {
  const siteUrl = `http://localhost:${settings.PORT}`
  const simulatorUrl = `http://127.0.0.1:${settings.STRIPE_SIMULATOR_PORT}`
  const identityUrl = `http://127.0.0.1:${settings.IDENTITY_PORT}`
  const enrollmentUrl = `http://127.0.0.1:${settings.ENROLLMENT_PORT}`
  const shared = {
    ...env,
    APP_ENV: 'local',
    SYSTEM_NAME: localSystemName(settings),
    HOST: '127.0.0.1',
    NATS_URL: natsUrl,
    SITE_URL: siteUrl,
    LOG_LEVEL: settings.LOG_LEVEL,
  } as Record<string, string>
  return {
    identity: {
      ...shared,
      PORT: String(settings.IDENTITY_PORT),
      DATABASE_URL: databaseUrl('identity'),
      ISSUER_URL: identityUrl,
      SEALING_KEYS: localSealingKeys,
      MAC_KEYS: localSealingKeys,
      CODE_SEALING_KEYS: localSealingKeys,
      CLIENT_SECRETS: `robokidsbff:${clientSecret}`,
      // The BFF, which forwards the client's address.
      TRUST_PROXY: 'loopback',
    },
    enrollment: { ...shared, PORT: String(settings.ENROLLMENT_PORT), DATABASE_URL: databaseUrl('enrollment') },
    billing: {
      ...shared,
      PORT: String(settings.BILLING_PORT),
      DATABASE_URL: databaseUrl('billing'),
      STRIPE_SECRET_KEY: 'sk_test_local',
      STRIPE_API_URL: simulatorUrl,
      STRIPE_WEBHOOK_SECRETS: webhookSecret,
    },
    notifications: {
      ...shared,
      PORT: String(settings.NOTIFICATIONS_PORT),
      DATABASE_URL: databaseUrl('notifications'),
      SMTP_URL: `smtp://127.0.0.1:${settings.SMTP_PORT}`,
      SMS_URL: `http://127.0.0.1:${settings.SMS_PORT}/messages`,
      CODE_SEALING_KEYS: localSealingKeys,
      ENROLLMENT_URL: enrollmentUrl,
    },
    bff: {
      ...shared,
      PORT: String(settings.PORT),
      IDENTITY_URL: identityUrl,
      IDENTITY_CLIENT_SECRET: clientSecret,
      SESSION_KEYS: localSealingKeys,
      PROOF_SECRET: 'local-proof-secret',
      ENROLLMENT_URL: enrollmentUrl,
      BILLING_URL: `http://127.0.0.1:${settings.BILLING_PORT}`,
      NOTIFICATIONS_URL: `http://127.0.0.1:${settings.NOTIFICATIONS_PORT}`,
      WEB_DIST: resolve(root, 'web/dist'),
    },
  }
}
