import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findNatsServer } from '@robokids/local/nats'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import { eventually } from '@robokids/test/bed'
import { startSystem, type System } from '@robokids/test/system'
import { localNatsPassword } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { connect } from 'nats'

/** Connections to a database, and workers that ask: the services' standard pool. */
export const connections = 10

export interface MeasuredSystem {
  system: System
  postgresUrl: string
  versions: string
  /** Waits until every event is published and handled: no phase works off what another has left. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** The whole system as processes of its own, on a PostgreSQL that is durable, as in production and unlike in tests. */
export async function startMeasuredSystem(bff: Record<string, string> = {}): Promise<MeasuredSystem> {
  const dataDir = await mkdtemp(join(tmpdir(), 'robokids-bench-'))
  const server = await startPostgres({ dataDir, port: await freePort() })
  const stopServer = async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  const unlimited = '1000000000'
  const system = await startSystem(
    {
      all: { DATABASE_POOL: String(connections), LOG_LEVEL: 'error' },
      bff: { RATE_LIMIT_READS: unlimited, RATE_LIMIT_WRITES: unlimited, ...bff },
      // What asks after thousands of unpaid checkouts would fall into some phases and not into others.
      billing: { RECONCILE_EVERY_MS: String(60 * 60 * 1000) },
    },
    server.url,
  ).catch(async (error: unknown) => {
    await stopServer()
    throw error
  })

  // More than is ever asked for: no hold is refused.
  const enrollment = system.sql('enrollment')
  await enrollment`update class_sessions set capacity = 1000000`

  /** What is on its way, by where it waits. */
  async function underWay(): Promise<string[]> {
    const found: string[] = []
    for (const service of ['enrollment', 'billing'] as const) {
      const [row] = await sqlOf[service]<{ count: number }[]>`
        select count(*)::int as count from outbox where published_at is null`
      if (row && row.count > 0) found.push(`${row.count} in the outbox of ${service}`)
      for await (const { name, num_pending, num_ack_pending } of manager.consumers.list(service)) {
        // Mail is sent in its own time.
        if (name.startsWith('notifications__') || num_pending + num_ack_pending === 0) continue
        found.push(`${num_pending} waiting and ${num_ack_pending} being handled at ${name}`)
      }
    }
    return found
  }
  const sqlOf = { enrollment, billing: system.sql('billing') }
  const nats = await connect({ servers: system.nats.url, user: operatorUser, pass: localNatsPassword })
  const manager = await nats.jetstreamManager()
  const [{ version } = { version: '' }] = await enrollment<{ version: string }[]>`
    select current_setting('server_version') as version`
  const natsVersion = await promisify(execFile)(await findNatsServer(), ['--version'])

  async function stop(): Promise<void> {
    await nats.close()
    await system.stop()
    await stopServer()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)))

  return {
    system,
    postgresUrl: server.url,
    versions: `PostgreSQL ${version}, ${natsVersion.stdout.trim()}`,
    settled: async () => {
      await eventually(async () => {
        const found = await underWay()
        if (found.length > 0) throw new Error(`Events are still under way: ${found.join('; ')}.`)
        return true
      }, 120_000)
    },
    stop,
  }
}
