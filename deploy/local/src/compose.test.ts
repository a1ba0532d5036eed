import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { baseShape, databaseShape, readConfig } from '@robokids/runtime/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { applications, owningServices, services, urlSetting, type ServiceName } from './services.ts'
import { root } from './settings.ts'

/** deploy/compose/production.yml, as an operator starts it with example.env and generate-secrets.sh. */

const run = promisify(execFile)
const folder = join(root, 'deploy/compose')
const text = (file: string) => readFile(join(folder, file), 'utf8')

interface ComposedService {
  image: string
  user?: string
  command?: string[]
  environment?: Record<string, string | null>
  secrets?: string[]
  networks?: string[]
  ports?: string[]
  depends_on?: Record<string, { condition: string }>
  [option: string]: unknown
}
interface Composed {
  services: Record<string, ComposedService>
  secrets: Record<string, { file: string }>
}

/** What example.env says, with names that exist in place of its examples. */
const settings = Object.fromEntries(
  (await text('example.env'))
    .replaceAll('school.example', 'robokids.org')
    .split('\n')
    .filter((line) => /^[A-Z_]+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
)
function substitute(content: string): string {
  return content.replaceAll(
    /\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (all, name?: string, kind?: string, standard = '') => {
      if (name === undefined) return '$'
      const value = settings[name]
      if (value === undefined && kind !== '-') throw new Error(`example.env lacks what ${all} needs`)
      return value ?? standard
    },
  )
}
const composed = parse(substitute(await text('production.yml')), { merge: true, maxAliasCount: -1 }) as Composed
const processes: ServiceName[] = [...owningServices, 'bff']
const jobs = processes.map((name) => `migrate-${name}`)

let secrets: string
beforeAll(async () => {
  secrets = await mkdtemp(join(tmpdir(), 'robokids-secrets-'))
  // Those that come from others.
  const random = randomBytes(24).toString('hex')
  await writeFile(join(secrets, 'stripe_secret_key'), `sk_live_${random}`)
  await writeFile(join(secrets, 'stripe_webhook_secrets'), `whsec_${random}`)
  await writeFile(join(secrets, 'smtp_url'), `smtps://robokids:${random}@mail.robokids.org:465`)
  await run('sh', [join(folder, 'generate-secrets.sh'), secrets])
})
afterAll(() => rm(secrets, { recursive: true, force: true }))

describe('Production in compose', () => {
  it.each([...processes, ...jobs])('gives %s settings that it knows and starts with', async (name) => {
    const process = name.replace('migrate-', '') as ServiceName
    const schema = (await applications[process].load()).config
    const shape = { ...baseShape, ...(process === 'bff' ? {} : databaseShape), ...schema.shape }
    const { environment = {}, secrets: mounted = [] } = composed.services[name] ?? {}
    expect(environment['NATS_USER'] ?? process).toBe(name === process ? process : 'operator')
    const known = (setting: string) => setting in shape || setting.replace(/_FILE$/, '') in shape
    expect(Object.keys(environment).filter((setting) => !known(setting))).toEqual([])
    const env: Record<string, string> = {}
    for (const [setting, value] of Object.entries(environment)) {
      if (value !== null) env[setting] = value.replace('/run/secrets', secrets)
      if (setting.endsWith('_FILE')) expect(mounted).toContain(value?.replace('/run/secrets/', ''))
    }
    const config = readConfig(schema, env, { database: process !== 'bff' })
    expect(config.MIGRATE_ON_START).toBe(false)
    // Nothing that it does not use.
    const used = Object.values(environment).map((value) => value?.replace('/run/secrets/', ''))
    expect(mounted.filter((secret) => !used.includes(secret))).toEqual([])
  })

  it.each(owningServices)('has %s with its port, its job and its place among the others', (name) => {
    const { command, environment = {}, depends_on: needed = {} } = composed.services[name] ?? {}
    expect(command).toEqual(['node', `services/${name}/src/main.ts`])
    expect(environment['PORT']).toBe(String(services[name].port))
    expect(needed[`migrate-${name}`]).toEqual({ condition: 'service_completed_successfully' })
    expect(composed.services[`migrate-${name}`]?.command).toEqual(['node', `services/${name}/src/main.ts`, 'migrate'])
    for (const caller of ['bff', 'admin'])
      expect(composed.services[caller]?.environment?.[urlSetting(name)]).toBe(`http://${name}:${services[name].port}`)
    expect(composed.services['bff']?.depends_on?.[name]).toEqual({ condition: 'service_healthy' })
  })

  it.each(Object.keys(composed.services))('confines %s', (name) => {
    const service = composed.services[name]
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      init: true,
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      cpus: expect.any(Number),
      pids_limit: expect.any(Number),
    })
    expect(service?.['restart']).toBe(['admin', 'databases', ...jobs].includes(name) ? 'no' : 'unless-stopped')
    // So that it can have several copies.
    expect(service).not.toHaveProperty('container_name')
    if (name !== 'proxy') expect(service).not.toHaveProperty('ports')
    // Only what is asked from outside, or asks there.
    if (
      ![
        'proxy',
        'bff',
        'grafana',
        'billing',
        'notifications',
        'migrate-billing',
        'migrate-notifications',
        'migrate-bff',
      ].includes(name)
    )
      for (const network of service?.networks ?? []) expect(['services', 'data', 'monitoring']).toContain(network)
  })

  it('declares each secret that is used, and generates each or says where it is from', async () => {
    const used = new Set(Object.values(composed.services).flatMap((service) => service.secrets ?? []))
    expect(Object.keys(composed.secrets).toSorted()).toEqual([...used].toSorted())
    for (const name of used) expect((await readFile(join(secrets, name), 'utf8')).length).toBeGreaterThan(8)
  })

  it('keeps the secrets that are there, and names those that only others can give', async () => {
    const before = await readFile(join(secrets, 'admin_secret'), 'utf8')
    await rm(join(secrets, 'smtp_url'))
    const again = run('sh', [join(folder, 'generate-secrets.sh'), secrets])
    await expect(again).rejects.toThrow(/Still to be written in .*: smtp_url/)
    expect(await readFile(join(secrets, 'admin_secret'), 'utf8')).toBe(before)
  })

  it('runs pinned versions of other programs, each of which can be overridden', async () => {
    const files = (await Promise.all(['production.yml', 'trial.yml'].map(text))).join('\n')
    const images = [...files.matchAll(/^ +(?:image|\w+_IMAGE): (.+)$/gm)].map(([, image = '']) => image)
    const others = images.filter((image) => !image.includes(':-robokids-learning'))
    expect(others.length).toBeGreaterThan(6)
    for (const image of others) expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[\w/]+:v?\d+\.\d+(\.\d+)?(-\w+)?\}$/)
    const development = await readFile(join(root, 'docker-compose.yml'), 'utf8')
    for (const name of ['POSTGRES_IMAGE', 'NATS_IMAGE', 'NODE_IMAGE']) {
      const standard = new RegExp(`\\$\\{${name}:-([^}]+)\\}`)
      expect(standard.exec(files)?.[1]).toBe(standard.exec(development)?.[1])
    }
    for (const name of ['CADDY_IMAGE', 'NATS_IMAGE']) {
      const standard = new RegExp(`\\$\\{${name}:-([^}]+)\\}`).exec(files)?.[1]
      expect(await text('Dockerfile')).toContain(`ARG ${name}=${standard}\n`)
    }
  })
})
