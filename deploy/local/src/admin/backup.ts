import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { access, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readSettingFiles } from '@robokids/runtime/config'
import { z } from 'zod'
import { OperatorError } from '../operated-system.ts'
import { owningServices, perService, type OwningService } from '../services.ts'
import { localSystemName, readSettings, root } from '../settings.ts'
import { required, type Call, type Commands } from './command.ts'
import { findPostgresTools, type PostgresTools } from './postgres-tools.ts'

const manifestSchema = z.object({
  format: z.literal(1),
  /** The name of the system. */
  system: z.string(),
  /** Of the source code. */
  version: z.string(),
  databases: z.partialRecord(
    z.enum(owningServices as [OwningService, ...OwningService[]]),
    z.object({
      file: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      /** The instant of its content: those of the databases are milliseconds apart. */
      takenAt: z.iso.datetime(),
      /** PostgreSQL's. */
      serverVersion: z.string(),
      /** The applied migrations by their times in the journals. */
      migrations: z.object({ runtime: z.array(z.int()), service: z.array(z.int()) }),
      /** Events that were not published yet. */
      pendingEvents: z.int(),
    }),
  ),
})
type Manifest = z.infer<typeof manifestSchema>

const manifestName = 'manifest.json'

/**
 * The order of the snapshots: a service is older than those whose events it handles. What it lacks is published to it again
 * after a restore; what only it knew of would be unknown to the service that decided it.
 */
const snapshotOrder = ['notifications', 'enrollment', 'billing', 'identity'] as const satisfies OwningService[]

const settings = readSettings(process.env)

/** The setting that names a service's database for backups: `BILLING_DATABASE_URL`. */
const databaseSetting = (name: OwningService) => `${name.toUpperCase()}_DATABASE_URL`

/** The URLs of the databases, as PostgreSQL's programs reach them: those of `npm start`, unless the environment says otherwise. */
function databaseUrls(): Record<OwningService, string> {
  const server = settings.DATABASE_SERVER_URL ?? `postgres://postgres@127.0.0.1:${settings.POSTGRES_PORT}`
  const { env, problems } = readSettingFiles(owningServices.map(databaseSetting), process.env)
  for (const { reason } of problems) throw new OperatorError(reason)
  return perService((name) => env[databaseSetting(name)] ?? `${server}/${name}`)
}

/** Says on the error output which databases a command is for, without their passwords. */
function name(urls: Record<OwningService, string>, services: readonly OwningService[]): void {
  for (const service of services) {
    const url = URL.parse(urls[service])
    console.error(`${service}: ${url === null ? 'no URL' : `${url.host}${url.pathname}`}`)
  }
}

function chosenServices(given: string[] | undefined): OwningService[] {
  for (const name of given ?? [])
    if (!owningServices.includes(name as OwningService))
      throw new OperatorError(`Which service of ${owningServices.join(', ')}, not ${name}?`)
  return snapshotOrder.filter((service) => given === undefined || given.includes(service))
}

/** npm runs scripts in the project's folder, wherever it is called. */
const folderOf = (argument: string | undefined) => resolve(process.env['INIT_CWD'] ?? '.', required(argument, 'folder'))

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const applied = (table: string) =>
  `(select coalesce(json_agg(created_at order by created_at, id), '[]') from drizzle.${table})`
const stateQuery = `select json_build_object('snapshot', pg_export_snapshot(), 'takenAt', to_char(
  clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'serverVersion', current_setting('server_version'),
  'migrations', json_build_object('runtime', ${applied('runtime')}, 'service', ${applied('service')}),
  'pendingEvents', (select count(*) from outbox where published_at is null))`.replaceAll(/\s+/g, ' ')
const stateSchema = z.object({
  snapshot: z.string(),
  takenAt: z.iso.datetime(),
  serverVersion: z.string(),
  migrations: z.object({ runtime: z.array(z.int()), service: z.array(z.int()) }),
  pendingEvents: z.int(),
})
type State = z.infer<typeof stateSchema>

async function dump(tools: PostgresTools, url: string, { snapshot }: State, file: string) {
  const hash = createHash('sha256')
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const saved = pipeline(hashed, createWriteStream(file, { mode: 0o600 }))
  await tools.run('pg_dump', url, ['--format=custom', '--no-owner', '--no-acl', `--snapshot=${snapshot}`], {
    output: hashed,
  })
  await saved
  return { sha256: hash.digest('hex'), bytes: (await stat(file)).size }
}

/** Dumps the databases as they are at one instant, to a new folder, which is there only once it is complete. */
async function backUp({ words, options }: Call): Promise<string> {
  const folder = folderOf(words[0])
  const services = chosenServices(options.service)
  const tools = await findPostgresTools()
  const urls = databaseUrls()
  name(urls, services)
  if (await exists(folder)) throw new OperatorError(`${folder} is there already.`)
  const part = `${folder}.part`
  await mkdir(part, { recursive: true, mode: 0o700 })
  const sessions = services.map((service) => ({ service, session: tools.session(urls[service]) }))
  try {
    // All connections first: the snapshots then follow each other within milliseconds, however long the dumps take.
    for (const { session } of sessions) await session.value('set idle_in_transaction_session_timeout = 0; select 1')
    const states = new Map<OwningService, State>()
    for (const { service, session } of sessions) {
      const state = await session.value(`begin isolation level repeatable read read only; ${stateQuery}`)
      states.set(service, stateSchema.parse(JSON.parse(state)))
    }
    const databases = await Promise.all(
      [...states].map(async ([service, { snapshot, ...state }]) => {
        const file = `${service}.dump`
        const dumped = await dump(tools, urls[service], { snapshot, ...state }, join(part, file))
        return [service, { file, ...dumped, ...state }] as const
      }),
    )
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    const system = process.env['SYSTEM_NAME'] ?? localSystemName(settings)
    const manifest: Manifest = { format: 1, system, version, databases: Object.fromEntries(databases) }
    await writeFile(join(part, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
    await rename(part, folder)
    const bytes = databases.reduce((sum, [, one]) => sum + one.bytes, 0)
    return `${folder}: ${services.length} databases, ${(bytes / 1_000_000).toFixed(1)} MB. It contains personal data and is not encrypted.`
  } finally {
    await Promise.all(sessions.map(({ session }) => session.close()))
    await rm(part, { recursive: true, force: true })
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch((error: unknown) => {
    throw new OperatorError(`${folder} is not a backup: ${(error as Error).message}`)
  })
  const manifest = manifestSchema.safeParse(JSON.parse(text))
  if (manifest.success) return manifest.data
  throw new OperatorError(`${join(folder, manifestName)} is of another version:\n${z.prettifyError(manifest.error)}`)
}

const journalSchema = z.object({ entries: z.array(z.object({ when: z.int() })) })

async function knownMigrations(folder: string): Promise<Set<number>> {
  const journal = journalSchema.parse(
    JSON.parse(await readFile(join(root, folder, 'migrations/meta/_journal.json'), 'utf8')),
  )
  return new Set(journal.entries.map(({ when }) => when))
}

/** @throws OperatorError if a file is damaged, or the backup is from a newer version than this one */
async function check(folder: string, services: OwningService[], { databases, version }: Manifest): Promise<void> {
  for (const service of services) {
    const entry = databases[service]
    if (!entry) throw new OperatorError(`${folder} has no backup of ${service}.`)
    if ((await sha256Of(join(folder, entry.file))) !== entry.sha256)
      throw new OperatorError(`${join(folder, entry.file)} is damaged: its checksum is not that of the manifest.`)
    const known = [
      { applied: entry.migrations.runtime, has: await knownMigrations('runtime') },
      { applied: entry.migrations.service, has: await knownMigrations(`services/${service}`) },
    ]
    if (known.some(({ applied, has }) => applied.some((when) => !has.has(when))))
      throw new OperatorError(
        `The backup of ${service} was made by a newer version (${version}): restore it with that one.`,
      )
  }
}

const countTables = `select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`

/**
 * After a restore: the broker is another one, whatever it calls itself, so that all events are published again; and the
 * numbers of deliveries that had failed are those of other events now.
 */
const afterRestore = `update broker_streams set created = 'restored'; delete from failed_deliveries; analyze`

/** Restores the databases, which have to be empty, from a backup. */
async function restore({ words, options, perform }: Call): Promise<string | undefined> {
  const folder = folderOf(words[0])
  const services = chosenServices(options.service)
  const tools = await findPostgresTools()
  const urls = databaseUrls()
  name(urls, services)
  const manifest = await readManifest(folder)
  await check(folder, services, manifest)
  const filled: string[] = []
  for (const service of services) if ((await tools.query(urls[service], countTables))[0] !== '0') filled.push(service)
  if (filled.length > 0)
    throw new OperatorError(
      `Nothing was changed: the database of ${filled.join(', ')} has tables. Stop every process, and restore into new, empty databases.`,
    )
  const made = services.map((service) => `${service} of ${manifest.databases[service]?.takenAt}`).join(', ')
  return perform(`restores ${made}, from ${manifest.system}`, async () => {
    await Promise.all(
      services.map(async (service) => {
        const file = createReadStream(join(folder, manifest.databases[service]?.file ?? ''))
        const args = ['--no-owner', '--no-acl', '--exit-on-error', '--single-transaction']
        await tools.run('pg_restore', urls[service], args, { input: file.pipe(new PassThrough()) })
        await tools.query(urls[service], afterRestore)
      }),
    )
    return [
      `Restored: ${made}.`,
      'Start the processes with an empty broker: they publish the events of the last 30 days again, and drop those that',
      'they have handled. Then run `reconcile`, which finds what was paid and refunded since the backup, and `ledger`, which',
      'names what remains unexplained.',
    ].join('\n')
  })
}

export const backupCommands: Commands = {
  backup: {
    takes: '<folder>',
    does: 'dumps all databases, as they are at one instant, to a new folder: --service billing only that one',
    of: [],
    options: ['service'],
    run: backUp,
  },
  restore: {
    takes: '<folder>',
    does: 'restores the databases from it; they have to be empty, and the processes stopped',
    of: [],
    options: ['service'],
    changes: true,
    run: restore,
  },
}
