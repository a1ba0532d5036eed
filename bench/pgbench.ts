import { execFile } from 'node:child_process'
import { glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { figuresOf, phaseLimitMs, type Figures } from './measure.ts'

const run = promisify(execFile)

const howToInstall = `pgbench is missing: it is the peer that the service is measured beside. It comes with PostgreSQL:
  Debian, Ubuntu   sudo apt-get install postgresql-contrib
  macOS            brew install postgresql
  Windows          it is in the bin folder of PostgreSQL's installer; put that on the PATH`

/** @throws with each system's install line. */
export async function findPgbench(): Promise<{ command: string; version: string }> {
  const commands = ['pgbench']
  for await (const path of glob('/usr/lib/postgresql/*/bin/pgbench')) commands.splice(1, 0, path)
  for (const command of commands) {
    const answer = await run(command, ['--version']).catch(() => undefined)
    if (answer) return { command, version: answer.stdout.trim() }
  }
  throw new Error(howToInstall)
}

/** Each connection's first transactions prepare and plan, which the service's did long ago. */
const warmUp = 10

export interface PgbenchRun {
  command: string
  databaseUrl: string
  /** The whole of its script. */
  script: string
  variables: Record<string, string>
  connections: number
  transactions: number
}

/**
 * Runs a script with prepared statements.
 * @returns how many transactions it made, and the figures of all of them but each connection's first ones.
 */
export async function runPgbench(options: PgbenchRun): Promise<{ made: number; figures: Figures }> {
  const { hostname, port, username, pathname } = new URL(options.databaseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'robokids-pgbench-'))
  try {
    const script = join(folder, 'script.sql')
    await writeFile(script, options.script)
    const each = Math.ceil(options.transactions / options.connections) + warmUp
    const args = ['-n', '-M', 'prepared', '-f', script, '-c', String(options.connections), '-t', String(each)]
    args.push('-l', `--log-prefix=${join(folder, 'log')}`, '-h', hostname, '-p', port, '-U', username)
    for (const [name, value] of Object.entries(options.variables)) args.push('-D', `${name}=${value}`)
    await run(options.command, [...args, pathname.slice(1)], { timeout: phaseLimitMs * 2, maxBuffer: 1 << 26 }).catch(
      (error: { stderr?: string }) => {
        throw new Error(`pgbench failed: ${error.stderr}`)
      },
    )
    const made = each * options.connections
    return { made, figures: await readLog(folder, made) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Lines are: client, transaction, latency in µs, script, seconds and microseconds at its end. */
async function readLog(folder: string, expected: number): Promise<Figures> {
  const files = (await readdir(folder)).filter((name) => name.startsWith('log'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  const lines = texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').map(Number)),
  )
  if (lines.length !== expected) throw new Error(`pgbench made ${lines.length} transactions of ${expected}.`)
  const latencies: number[] = []
  let from = Number.POSITIVE_INFINITY
  let to = 0
  for (const [, transaction = 0, micros = 0, , seconds = 0, microsAfter = 0] of lines) {
    if (transaction < warmUp) continue
    const end = seconds * 1000 + microsAfter / 1000
    latencies.push(micros / 1000)
    from = Math.min(from, end - micros / 1000)
    to = Math.max(to, end)
  }
  return figuresOf(latencies, to - from)
}
