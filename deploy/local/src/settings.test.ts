import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ConfigError, readConfig, type Environment, type Settings } from '@robokids/runtime/config'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { configSchema as bff } from '../../../bff/src/config.ts'
import { configSchema as billing } from '../../../services/billing/src/config.ts'
import { configSchema as enrollment } from '../../../services/enrollment/src/config.ts'
import { configSchema as identity } from '../../../services/identity/src/config.ts'
import { configSchema as notifications } from '../../../services/notifications/src/config.ts'
import { refusedByProcesses } from './process-settings.ts'
import { readSettings, root, serviceEnvironment, type ServiceName } from './settings.ts'

const schemas: Record<ServiceName, Settings<object>> = { identity, enrollment, billing, notifications, bff }
const names = Object.keys(schemas) as ServiceName[]

const local = serviceEnvironment(
  readSettings({}),
  'nats://127.0.0.1:4022',
  (name) => `postgres://postgres@127.0.0.1:4020/${name}`,
)

function read(name: ServiceName, env: Environment) {
  return readConfig(schemas[name], env, { database: name !== 'bff' })
}

/** The settings that a service refuses to start with, in the order of the alphabet. */
function refused(name: ServiceName, env: Environment): string[] {
  try {
    read(name, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const settings = error.message.split('\n').slice(1)
    return settings.map((line) => /^ {2}(\w+)[.:]/.exec(line)?.[1] ?? line).toSorted()
  }
}

const key = () => `k1:${randomBytes(32).toString('base64')}`
const everywhere = {
  APP_ENV: 'production',
  SYSTEM_NAME: 'robokids',
  HOST: '0.0.0.0',
  PORT: '4000',
  ADMIN_SECRET: 'uP3x-aelohG4-ieKai',
  NATS_URL: 'nats://n1.internal:4222,nats://n2.internal:4222',
}
const database = (name: string) => `postgres://${name}:Ohquai2e@db.internal/${name}`
const mails = { SITE_URL: 'https://robokids.org', CODE_SEALING_KEYS: key() }
/** What an operator writes for a system that families use. */
const production: Record<ServiceName, Record<string, string>> = {
  identity: {
    ...everywhere,
    ...mails,
    DATABASE_URL: database('identity'),
    ISSUER_URL: 'http://identity.internal:4001',
    SEALING_KEYS: key(),
    CLIENT_SECRETS: 'robokidsbff:ahth7Ohj',
    ADMIN_KEYS: 'AKIA1:eeSh3aew',
    TRUST_PROXY: '10.1.0.0/16',
  },
  enrollment: { ...everywhere, DATABASE_URL: database('enrollment') },
  billing: {
    ...everywhere,
    DATABASE_URL: database('billing'),
    SITE_URL: 'https://robokids.org',
    STRIPE_SECRET_KEY: 'sk_live_abc',
    STRIPE_WEBHOOK_SECRETS: 'whsec_aeNg4Iez',
  },
  notifications: {
    ...everywhere,
    ...mails,
    DATABASE_URL: database('notifications'),
    // A relay beside the service is what somebody may mean.
    SMTP_URL: 'smtp://127.0.0.1:25',
    MAIL_FROM: 'hello@robokids.org',
    OPERATOR_EMAIL: 'operator@robokids.org',
    ENROLLMENT_URL: 'http://127.0.0.1:4002',
  },
  bff: {
    ...everywhere,
    SITE_URL: 'https://robokids.org',
    IDENTITY_URL: 'http://identity.internal:4001',
    IDENTITY_CLIENT_SECRET: 'ahth7Ohj',
    SESSION_KEYS: `${key()},k0:${randomBytes(32).toString('base64')}`,
    ENROLLMENT_URL: 'http://enrollment.internal:4002',
    BILLING_URL: 'http://billing.internal:4003',
    NOTIFICATIONS_URL: 'http://notifications.internal:4004',
    TRUST_PROXY: 'uniquelocal',
  },
}

/** What of npm start's environment is for development alone. */
const forDevelopment: Record<ServiceName, string[]> = {
  identity: [
    'ADMIN_KEYS',
    'ADMIN_SECRET',
    'CLIENT_SECRETS',
    'CODE_SEALING_KEYS',
    'DATABASE_URL',
    'SEALING_KEYS',
    'SITE_URL',
  ],
  enrollment: ['ADMIN_SECRET', 'DATABASE_URL'],
  billing: [
    'ADMIN_SECRET',
    'DATABASE_URL',
    'SITE_URL',
    'STRIPE_API_URL',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRETS',
  ],
  notifications: ['ADMIN_SECRET', 'CODE_SEALING_KEYS', 'DATABASE_URL', 'MAIL_FROM', 'OPERATOR_EMAIL', 'SITE_URL'],
  bff: ['ADMIN_SECRET', 'IDENTITY_CLIENT_SECRET', 'SESSION_KEYS', 'SITE_URL'],
}

describe('production', () => {
  it.each(names)('refuses what npm start gives %s for development, all of it at once', (name) => {
    expect(refused(name, local[name])).toEqual([])
    expect(refused(name, { ...local[name], APP_ENV: 'production' })).toEqual(forDevelopment[name])
    // So it does together with what is wrong anywhere.
    expect(refused(name, { ...local[name], APP_ENV: undefined, LOG_LEVEL: 'loud' })).toEqual(
      [...forDevelopment[name], 'LOG_LEVEL'].toSorted(),
    )
  })

  it.each(names)('is what %s starts in with settings of its own', (name) => {
    expect(refused(name, production[name])).toEqual([])
  })

  it.each(names)('lets %s fall back on no address or secret of a developer’s machine', (name) => {
    const { APP_ENV, HOST, ...told } = production[name]
    const needed = Object.keys(told).filter((setting) => setting !== 'TRUST_PROXY')
    expect(refused(name, { APP_ENV, HOST })).toEqual(needed.toSorted())
  })

  it.each<[ServiceName, string, string]>([
    ['billing', 'STRIPE_SECRET_KEY', 'rk_test_abc'],
    ['billing', 'STRIPE_WEBHOOK_SECRETS', 'whsec_aeNg4Iez,whsec_local'],
    ['billing', 'SITE_URL', 'http://robokids.org'],
    ['billing', 'SITE_URL', 'https://robokids.example'],
    ['billing', 'DATABASE_URL', 'postgres://billing:billing@postgres:5432/billing'],
    ['billing', 'DATABASE_URL', 'postgres://postgres:local@postgres:5432/billing'],
    ['billing', 'CLOCK_OFFSET', 'PT1H'],
    ['bff', 'SESSION_KEYS', `${key()},local:${Buffer.alloc(32, 'robokids').toString('base64')}`],
    ['bff', 'SESSION_KEYS', `k1:${Buffer.alloc(32, 'robokids').toString('base64')}`],
    ['bff', 'TRUST_PROXY', 'true'],
    ['bff', 'TRUST_PROXY', '0.0.0.0/0'],
    ['bff', 'TRUST_PROXY', '10.0.0.0/8, ::/0'],
    ['identity', 'ADMIN_KEYS', 'AKIA1:eeSh3aew,local:local'],
    ['notifications', 'MAIL_FROM', 'hello@mail.robokids.example'],
    ['notifications', 'OPERATOR_EMAIL', 'operator@example.com'],
  ])('refuses as %s’s %s %j', (name, setting, value) => {
    expect(refused(name, { ...production[name], [setting]: value })).toEqual([setting])
  })

  it('refuses a simulator beside a live key', () => {
    const env = { ...production.billing, STRIPE_API_URL: 'https://stripe-simulator.internal' }
    expect(refused('billing', env)).toEqual(['STRIPE_API_URL', 'STRIPE_SECRET_KEY'])
  })

  it('ends a process that is told what is for development, with a list and without a stack', async () => {
    const program = join(root, 'services/billing/src/main.ts')
    const env = { ...local.billing, APP_ENV: 'production' }
    const { code, printed } = await new Promise<{ code: unknown; printed: string }>((resolve) => {
      execFile(process.execPath, [program], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, printed: stdout + stderr }),
      )
    })
    expect(code).toBe(1)
    const [first, ...lines] = printed.trimEnd().split('\n')
    expect(first).toMatch(/^billing: /)
    expect(lines.map((line) => /^ {2}(\w+): \S/.exec(line)?.[1] ?? line).toSorted()).toEqual(forDevelopment.billing)
  })
})

describe('a setting that is left empty', () => {
  /** An empty one says that there is none of it. */
  const mayBeEmpty = new Set(['STRIPE_API_URL', 'ADMIN_KEYS', 'WEB_DIST'])
  const base = [...Object.keys(readConfig(z.object({}), { APP_ENV: 'local' })), 'DATABASE_URL', 'DATABASE_POOL']
  const settings = names.flatMap((name) =>
    [...(name === 'billing' ? base : []), ...Object.keys(schemas[name].shape)].map(
      (setting) => [name, setting] as const,
    ),
  )

  it.each(settings)('is told: %s’s %s', (name, setting) => {
    expect(refused(name, { ...local[name], [setting]: '' })).toEqual(mayBeEmpty.has(setting) ? [] : [setting])
    expect(refused(name, { ...local[name], [setting]: ' ' })).toEqual(
      ['WEB_DIST', 'ADMIN_KEYS'].includes(setting) ? [] : [setting],
    )
  })
})

describe('what npm start is told', () => {
  afterEach(() => vi.restoreAllMocks())

  /** What is said of an environment that npm start does not start with. */
  function told(env: Record<string, string>): string[] {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`ended with ${code}`)
    })
    expect(() => readSettings(env, refusedByProcesses(env))).toThrow('ended with 1')
    const [first, ...lines] = String(printed.mock.calls[0]?.[0]).split('\n  ')
    expect(first).toBe('These settings are wrong:')
    return lines
  }

  it('with something wrong that it passes on to the processes is an error of its own, together with what else is wrong', () => {
    expect(readSettings({ CLOCK_OFFSET: 'PT40M' }, refusedByProcesses({ CLOCK_OFFSET: 'PT40M' }))).toMatchObject({
      PORT: 3000,
    })
    const wrong = {
      PORT: 'http',
      CLOCK_OFFSET: 'P60D',
      LOG_LEVEL: 'loud',
      HOLD_MINUTES: '0',
      POOLS_FILE: '/nowhere.json',
      NATS_REPLICAS: '3',
    }
    const lines = told(wrong)
    expect(new Set(lines.map((line) => /^\w+/.exec(line)?.[0]))).toEqual(new Set(Object.keys(wrong)))
    expect(lines).toHaveLength(Object.keys(wrong).length)
    expect(lines).toContain('CLOCK_OFFSET: is not a length of time like PT40M or -PT2H (a day is PT24H)')
  })

  it('by one number for two ports is an error, where both are listened at', () => {
    expect(told({ PORT: '4003', NATS_PORT: '1080' })).toEqual([
      'BILLING_PORT: is the same as PORT',
      'MAILBOX_PORT: is the same as NATS_PORT',
    ])
    const own = { PORT: '4020', DATABASE_SERVER_URL: 'postgres://postgres@10.0.0.1/' }
    expect(readSettings(own, refusedByProcesses(own)).PORT).toBe(4020)
  })

  it.each(['PORT', 'DATA_DIR', 'NATS_URL', 'DATABASE_SERVER_URL'])(
    'by an empty %s is an error, and not a guess',
    (name) => {
      const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
      vi.spyOn(process, 'exit').mockImplementation((code) => {
        throw new Error(`ended with ${code}`)
      })
      expect(() => readSettings({ [name]: '' })).toThrow('ended with 1')
      expect(printed.mock.calls[0]?.[0]).toMatch(new RegExp(`^These settings are wrong:\\n  ${name}: `))
    },
  )
})
