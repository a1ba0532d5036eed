import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  baseShape,
  ConfigError,
  databaseShape,
  readConfig,
  type Environment,
  type Settings,
} from '@robokids/runtime/config'
import { inProduction, productionRules, type ProductionRule } from '@robokids/runtime/production-rules'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { processSettingErrors } from './process-settings.ts'
import { applications, owningServices, type ServiceName } from './services.ts'
import { readSettings, root, serviceEnvironment } from './settings.ts'

const names: ServiceName[] = [...owningServices, 'bff']
const schemas = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, (await applications[name].load()).config] as const)),
) as Record<ServiceName, Settings<object>>

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

/** Another one in each run: what is written here is published. */
const secret = () => randomBytes(24).toString('base64url')
const key = (id = 'k1') => `${id}:${randomBytes(32).toString('base64')}`
const everywhere = {
  APP_ENV: 'production',
  SYSTEM_NAME: 'robokids',
  HOST: '0.0.0.0',
  PORT: '4000',
  ADMIN_SECRET: secret(),
  NATS_URL: 'nats://n1.internal:4222,nats://n2.internal:4222',
  NATS_USER: 'billing',
  NATS_PASSWORD: secret(),
}
const database = (name: string) => `postgres://${name}:${secret()}@db.internal/${name}`
const mails = { SITE_URL: 'https://robokids.org', CODE_SEALING_KEYS: key() }
/** What an operator writes for a system that families use. */
const production: Record<ServiceName, Record<string, string>> = {
  identity: {
    ...everywhere,
    ...mails,
    DATABASE_URL: database('identity'),
    ISSUER_URL: 'http://identity.internal:4001',
    SEALING_KEYS: key(),
    MAC_KEYS: key(),
    CLIENT_SECRETS: `robokidsbff:${secret()}`,
    ADMIN_KEYS: `AKIA1:${secret()}`,
    TRUST_PROXY: '10.1.0.0/16',
  },
  enrollment: { ...everywhere, DATABASE_URL: database('enrollment') },
  billing: {
    ...everywhere,
    DATABASE_URL: database('billing'),
    SITE_URL: 'https://robokids.org',
    STRIPE_SECRET_KEY: `sk_live_${secret().replaceAll('-', '_')}`,
    STRIPE_WEBHOOK_SECRETS: `whsec_${secret()}`,
    ENROLLMENT_URL: 'http://enrollment.internal:4002',
  },
  notifications: {
    ...everywhere,
    ...mails,
    DATABASE_URL: database('notifications'),
    // A relay beside the service is what somebody may mean.
    SMTP_URL: 'smtp://127.0.0.1:25',
    MAIL_FROM: 'hello@robokids.org',
    OPERATOR_EMAIL: 'operator@robokids.org',
    SUPPORT_EMAIL: 'hello@robokids.org',
    ENROLLMENT_URL: 'http://127.0.0.1:4002',
  },
  bff: {
    ...everywhere,
    SITE_URL: 'https://robokids.org',
    SECURITY_EMAIL: 'security@robokids.org',
    IDENTITY_URL: 'http://identity.internal:4001',
    IDENTITY_CLIENT_SECRET: secret(),
    PROOF_SECRET: secret(),
    SESSION_KEYS: `${key('k2')},${key()}`,
    ENROLLMENT_URL: 'http://enrollment.internal:4002',
    BILLING_URL: 'http://billing.internal:4003',
    NOTIFICATIONS_URL: 'http://notifications.internal:4004',
    TRUST_PROXY: 'uniquelocal',
  },
}

/** The bytes of the sealing key that is in the source code, as text in ways that a decoder takes. */
const published = Buffer.alloc(32, 'robokids')
const keyOf = (bytes: Uint8Array | number[], as: 'base64' | 'base64url' = 'base64') => Buffer.from(bytes).toString(as)

/** What production refuses, by the rule of a setting: every spelling that is known to mean the same. */
const spellings: Record<keyof typeof productionRules, string[]> = {
  mustBeSet: [],
  secret: [
    'local-admin',
    'local-admin ',
    ' local-admin',
    'Local-Admin',
    'LOCAL_ADMIN',
    'local admin',
    'local\u00adadmin',
    'ｌｏｃａｌ-ａｄｍｉｎ',
    'local-client-secret',
    'localadmin',
    'local-something-else-that-is-long',
    'password',
    'Passw0rd!',
    'changeme',
    'change-me-in-production',
    '0'.repeat(64),
    'robokids-admin-secret',
    '12345678901234567890',
  ],
  webhookSecrets: [
    'whsec_local',
    'whsec_LOCAL',
    'whsec_local ',
    `whsec_local,whsec_${secret()}`,
    `whsec_${secret()},whsec_local`,
    'whsec_test',
    'whsec_secret',
  ],
  namedSecrets: [
    'robokidsbff:local-client-secret',
    'robokidsbff:Local-Client-Secret',
    'local:local',
    'AKIA1:local',
    `AKIA1:${secret()},local:local`,
    'robokidsbff:password',
    'robokidsbff:robokidsbff',
  ],
  providerKey: [
    'sk_test_local',
    'rk_test_abc',
    `sk_test_${'x'.repeat(24)}`,
    'sk_live_local',
    'sk_live_LOCAL',
    'sk_live_abc',
  ],
  sealingKeys: [
    `local:${keyOf(published)}`,
    `k1:${keyOf(published)}`,
    `k1:${keyOf(published, 'base64url')}`,
    `k1:${keyOf(published).replaceAll('=', '')}`,
    `${key('k2')},k1:${keyOf(published)}`,
    `${key('k2')}, local:${keyOf(published)} `,
    `k1:${keyOf(published)},${key('k2')}`,
    `k1:${keyOf(new Uint8Array(32))}`,
    `k1:${keyOf(new Uint8Array(32).fill(255))}`,
    `k1:${keyOf(Array.from({ length: 32 }, (_, n) => n))}`,
    `k1:${keyOf(Buffer.from('0123456789abcdef0123456789abcdef'))}`,
    `k1:${keyOf(Buffer.from('a-secret-that-somebody-typed-in-'))}`,
    `k1:${keyOf(Buffer.concat([randomBytes(8), new Uint8Array(24)]))}`,
    `${key('k2')},k1:${keyOf(new Uint8Array(32))}`,
  ],
  databaseUrl: [
    'postgres://billing:billing@postgres:5432/billing',
    'postgres://billing:Billing@postgres:5432/billing',
    'postgres://billing:%62illing@postgres:5432/billing',
    'postgres://someone:billing@db.internal/billing',
    'postgres://postgres:local@postgres:5432/billing',
    'postgres://postgres:l%6fcal@postgres:5432/billing',
    'postgres://postgres:password@postgres:5432/billing',
    'postgres://postgres@postgres:5432/billing',
  ],
  realAddress: [
    'hello@mail.robokids.example',
    'operator@example.com',
    'operator@EXAMPLE.com',
    'me@school.test',
    'me@mail.local',
  ],
  siteUrl: [
    'http://robokids.org',
    'HTTP://robokids.org',
    'http://localhost:3000',
    'https://localhost',
    'https://LOCALHOST:3000',
    'https://site.localhost',
    'https://127.0.0.1',
    'https://127.1',
    'https://0x7f000001',
    'https://[::1]',
    'https://10.1.2.3',
    'https://robokids.example',
    'https://robokids.EXAMPLE',
    'https://robokids.example.',
    'https://robokids',
    'https://robokids.local',
  ],
  proxies: [
    'true',
    '0.0.0.0/0',
    '0.0.0.0/00',
    '10.0.0.0/8, ::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '::ffff:0.0.0.0/96',
    '::ffff:0:0/95',
    '2000::/3',
  ],
  simulator: ['http://127.0.0.1:4010', 'http://stripe-simulator:4010', 'https://stripe-simulator.internal'],
  clockOffset: ['PT1H', '-PT1H', 'PT0.001S'],
}

/** What of npm start's environment is for development alone. */
const forDevelopment: Record<ServiceName, string[]> = {
  identity: [
    'ADMIN_KEYS',
    'ADMIN_SECRET',
    'CLIENT_SECRETS',
    'CODE_SEALING_KEYS',
    'DATABASE_URL',
    'MAC_KEYS',
    'NATS_PASSWORD',
    'SEALING_KEYS',
    'SITE_URL',
  ],
  enrollment: ['ADMIN_SECRET', 'DATABASE_URL', 'NATS_PASSWORD'],
  billing: [
    'ADMIN_SECRET',
    'DATABASE_URL',
    'NATS_PASSWORD',
    'SITE_URL',
    'STRIPE_API_URL',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRETS',
  ],
  notifications: [
    'ADMIN_SECRET',
    'CODE_SEALING_KEYS',
    'DATABASE_URL',
    'MAIL_FROM',
    'NATS_PASSWORD',
    'OPERATOR_EMAIL',
    'SITE_URL',
    'SUPPORT_EMAIL',
  ],
  bff: [
    'ADMIN_SECRET',
    'IDENTITY_CLIENT_SECRET',
    'NATS_PASSWORD',
    'PROOF_SECRET',
    'SECURITY_EMAIL',
    'SESSION_KEYS',
    'SITE_URL',
  ],
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

  it.each(names)('is what %s starts in with each of these settings in a file', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'robokids-settings-'))
    try {
      const files: Record<string, string> = {}
      for (const [setting, value] of Object.entries(production[name])) {
        files[`${setting}_FILE`] = join(folder, setting)
        await writeFile(join(folder, setting), `${value}\n`)
      }
      expect(JSON.stringify(read(name, files))).toBe(JSON.stringify(read(name, production[name])))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each(names)('lets %s fall back on no address or secret of a developer’s machine', (name) => {
    const { APP_ENV, HOST, ...told } = production[name]
    const needed = Object.keys(told).filter((setting) => setting !== 'TRUST_PROXY')
    expect(refused(name, { APP_ENV, HOST })).toEqual(needed.toSorted())
  })

  /** The row of the table that a setting has. A registry answers a copy. */
  const nameOf = ({ required, findProblem }: ProductionRule) =>
    Object.entries<ProductionRule>(productionRules).find(
      ([, rule]) => rule.required === required && rule.findProblem === findProblem,
    )?.[0] as keyof typeof spellings | undefined
  const ruled = names.flatMap((name) => {
    const shape: Record<string, z.core.$ZodType> = {
      ...baseShape,
      ...(name === 'bff' ? {} : databaseShape),
      ...schemas[name].shape,
    }
    return Object.entries(shape).flatMap(([setting, schema]) => {
      const rule = inProduction.get(schema)
      return rule ? [{ name, setting, rule: nameOf(rule) }] : []
    })
  })

  it('has its rules in one table', () => {
    expect(ruled.filter(({ rule }) => rule === undefined)).toEqual([])
    expect(new Set(ruled.map(({ rule }) => rule))).toEqual(new Set(Object.keys(productionRules)))
  })

  it.each(ruled)('refuses as $name’s $setting what means the same as what it refuses', ({ name, setting, rule }) => {
    for (const value of spellings[rule ?? 'mustBeSet']) {
      const named = refused(name, { ...production[name], [setting]: value })
      // A live key beside a simulator is an error of its own.
      expect({ value, named: named.filter((one) => one === setting || setting !== 'STRIPE_API_URL') }).toEqual({
        value,
        named: [setting],
      })
    }
  })

  it('names every setting of a process that is published or can be guessed at once', () => {
    for (const name of names) {
      const wrong = ruled.filter((one) => one.name === name && spellings[one.rule ?? 'mustBeSet'].length > 0)
      const env = Object.fromEntries(wrong.map(({ setting, rule }) => [setting, spellings[rule ?? 'mustBeSet'].at(-1)]))
      expect(refused(name, { ...production[name], ...env })).toEqual(wrong.map(({ setting }) => setting).toSorted())
    }
  })

  it('is what a system is in whose APP_ENV is misspelt', () => {
    const env = { ...local.bff, APP_ENV: 'Local' }
    expect(refused('bff', env)).toEqual(['APP_ENV', ...forDevelopment.bff].toSorted())
  })

  it('never repeats a secret that it refuses', () => {
    const text = 'swordfish-swordfish'
    for (const [name, setting, value] of [
      ['bff', 'ADMIN_SECRET', text],
      ['billing', 'STRIPE_WEBHOOK_SECRETS', `whsec_${text}`],
      ['identity', 'DATABASE_URL', `postgres://identity:${text}@db.internal/identity`],
    ] as const) {
      expect(() => read(name, { ...production[name], [setting]: value })).toThrow(ConfigError)
      expect(() => read(name, { ...production[name], [setting]: value })).not.toThrow(new RegExp(text))
    }
  })

  it('refuses a simulator beside a live key', () => {
    const env = { ...production.billing, STRIPE_API_URL: 'https://stripe-simulator.internal' }
    expect(refused('billing', env)).toEqual(['STRIPE_API_URL', 'STRIPE_SECRET_KEY'])
  })

  const run = (args: string[], env: Record<string, string>) =>
    new Promise<{ code: unknown; printed: string }>((resolve) => {
      const program = join(root, 'services/billing/src/main.ts')
      execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, printed: stdout + stderr }),
      )
    })

  it('starts nothing for a command that is not known', async () => {
    expect(await run(['migrat'], local.billing)).toEqual({
      code: 1,
      printed: 'billing: there is no command "migrat": without one it serves, and there is migrate\n',
    })
  })

  it('ends a process that is told what is for development, with a list and without a stack', async () => {
    const { code, printed } = await run([], { ...local.billing, APP_ENV: 'production' })
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
    // What is not said to be a developer's machine is none, and has much else that is wrong.
    const others = setting === 'APP_ENV' ? forDevelopment[name] : []
    const told = [setting, ...others].toSorted()
    expect(refused(name, { ...local[name], [setting]: '' })).toEqual(mayBeEmpty.has(setting) ? [] : told)
    expect(refused(name, { ...local[name], [setting]: ' ' })).toEqual(
      ['WEB_DIST', 'ADMIN_KEYS'].includes(setting) ? [] : told,
    )
  })
})

describe('what npm start is told', () => {
  afterEach(() => vi.restoreAllMocks())

  /** What is said of an environment that npm start does not start with. */
  async function told(env: Record<string, string>): Promise<string[]> {
    const refused = await processSettingErrors(env)
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`ended with ${code}`)
    })
    expect(() => readSettings(env, refused)).toThrow('ended with 1')
    const [first, ...lines] = String(printed.mock.calls[0]?.[0]).split('\n  ')
    expect(first).toBe('These settings are wrong:')
    return lines
  }

  it('with something wrong that it passes on to the processes is an error of its own, together with what else is wrong', async () => {
    expect(
      readSettings({ CLOCK_OFFSET: 'PT40M' }, await processSettingErrors({ CLOCK_OFFSET: 'PT40M' })),
    ).toMatchObject({
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
    const lines = await told(wrong)
    expect(new Set(lines.map((line) => /^\w+/.exec(line)?.[0]))).toEqual(new Set(Object.keys(wrong)))
    expect(lines).toHaveLength(Object.keys(wrong).length)
    expect(lines).toContain('CLOCK_OFFSET: is not a length of time like PT40M or -PT2H (a day is PT24H)')
  })

  it('by one number for two ports is an error, where both are listened at', async () => {
    expect(await told({ PORT: '4003', NATS_PORT: '1080' })).toEqual([
      'BILLING_PORT: is the same as PORT',
      'MAILBOX_PORT: is the same as NATS_PORT',
    ])
    const own = { PORT: '4020', DATABASE_SERVER_URL: 'postgres://postgres@10.0.0.1/' }
    expect(readSettings(own, await processSettingErrors(own)).PORT).toBe(4020)
  })

  it.each(['PORT', 'DATA_DIR', 'NATS_URL', 'DATABASE_SERVER_URL'])(
    'by an empty %s is an error, and not a guess',
    async (name) => {
      const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
      vi.spyOn(process, 'exit').mockImplementation((code) => {
        throw new Error(`ended with ${code}`)
      })
      expect(() => readSettings({ [name]: '' })).toThrow('ended with 1')
      expect(printed.mock.calls[0]?.[0]).toMatch(new RegExp(`^These settings are wrong:\\n  ${name}: `))
    },
  )
})
