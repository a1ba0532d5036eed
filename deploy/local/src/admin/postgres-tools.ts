import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '../operated-system.ts'

/** PostgreSQL's own programs: `psql`, `pg_dump` and `pg_restore`. */
export interface PostgresTools {
  /** Runs one of them; its error output becomes the error's message. @throws OperatorError */
  run(tool: Tool, databaseUrl: string, args: string[], streams: { input?: Readable; output?: Writable }): Promise<void>
  /** Runs SQL and returns the lines of its output. @throws OperatorError */
  query(databaseUrl: string, sql: string): Promise<string[]>
  /** Opens a session that runs SQL statement by statement until it is closed. */
  session(databaseUrl: string): SqlSession
}

type Tool = 'psql' | 'pg_dump' | 'pg_restore'

export interface SqlSession {
  /** Runs a query that returns one value. @throws OperatorError */
  value(sql: string): Promise<string>
  close(): Promise<void>
}

/** Where distributions install the programs of each major version, side by side. */
const debianFolder = '/usr/lib/postgresql'

/**
 * The folder with the newest programs: pg_dump refuses servers of a newer major version than its own.
 * @returns undefined if there are none
 */
export async function findToolsFolder(): Promise<string | undefined> {
  const versions = (await readdir(debianFolder).catch(() => [])).filter((name) => /^\d+$/.test(name))
  const folders = [
    ...versions.toSorted((one, other) => Number(other) - Number(one)).map((name) => join(debianFolder, name, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  for (const folder of folders)
    if (
      await access(join(folder, 'pg_dump')).then(
        () => true,
        () => false,
      )
    )
      return folder
  return undefined
}

/**
 * Returns the programs: those that the command PG_TOOLS runs (`docker-compose exec -T postgres`), or those of this machine.
 * @throws OperatorError if there are none
 */
export async function findPostgresTools(prefix = process.env['PG_TOOLS']): Promise<PostgresTools> {
  const [before, ...words] = (prefix ?? '').split(/\s+/).filter((word) => word !== '')
  const folder = before === undefined ? await findToolsFolder() : undefined
  if (before === undefined && folder === undefined)
    throw new OperatorError(
      'pg_dump is not installed here. Install the client of your PostgreSQL’s major version or a newer one ' +
        '(on Debian, postgresql-client-18 of apt.postgresql.org), or name in PG_TOOLS what runs it where the database is: ' +
        'PG_TOOLS="docker-compose exec -T postgres", PG_TOOLS="kubectl exec -i robokids-db-1 --".',
    )

  /** A password in the arguments would be shown by `ps`. */
  function start(tool: Tool, databaseUrl: string, args: string[]): ChildProcessWithoutNullStreams {
    if (before !== undefined) return spawn(before, [...words, tool, ...args, `--dbname=${databaseUrl}`])
    const url = URL.parse(databaseUrl)
    if (url === null) throw new OperatorError(`${databaseUrl} is not the URL of a database.`)
    const password = decodeURIComponent(url.password)
    url.password = ''
    const env = { ...process.env, ...(password === '' ? {} : { PGPASSWORD: password }) }
    return spawn(join(folder ?? '', tool), [...args, `--dbname=${url.href}`], { env })
  }

  /** Resolves once it has ended. */
  function ending(tool: Tool, child: ChildProcessWithoutNullStreams): Promise<void> {
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
    // A program that ends early closes its input: its own message says why.
    child.stdin.on('error', () => {})
    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new OperatorError(`${tool} could not be started: ${error.message}`)))
      child.once('close', (code) => {
        if (code === 0) resolve()
        else reject(new OperatorError(`${tool}: ${said.trim() || `ended with ${code}`}`))
      })
    })
  }

  const psql = ['--no-psqlrc', '--quiet', '--no-align', '--tuples-only', '--set=ON_ERROR_STOP=1']

  return {
    async run(tool, databaseUrl, args, { input, output }) {
      const child = start(tool, databaseUrl, args)
      const ended = ending(tool, child)
      const streams: Promise<void>[] = []
      if (output) streams.push(pipeline(child.stdout, output))
      else child.stdout.resume()
      if (input) void pipeline(input, child.stdin).catch(() => {})
      else child.stdin.end()
      await Promise.all([ended, ...streams])
    },
    async query(databaseUrl, sql) {
      const child = start('psql', databaseUrl, psql)
      const ended = ending('psql', child)
      let out = ''
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
      child.stdin.end(`${sql};\n`)
      await ended
      return out.split('\n').filter((line) => line !== '')
    },
    session(databaseUrl) {
      const child = start('psql', databaseUrl, psql)
      const ended = ending('psql', child)
      ended.catch(() => {})
      let out = ''
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString()
        child.emit('line')
      })
      const line = async () => {
        while (!out.includes('\n')) await once(child, 'line')
        const end = out.indexOf('\n')
        const [first, rest] = [out.slice(0, end), out.slice(end + 1)]
        out = rest
        return first
      }
      return {
        async value(sql) {
          child.stdin.write(`${sql};\n`)
          return Promise.race([
            line(),
            ended.then(() => {
              throw new OperatorError('psql ended early.')
            }),
          ])
        },
        async close() {
          child.stdin.end()
          await ended.catch(() => {})
        },
      }
    },
  }
}
