import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import type { OwningService, ServiceName } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import postgres from 'postgres'
import { startSystem, type System } from './system.ts'

/** The services whose data it has: identity does not run. */
export const backedUp = ['enrollment', 'billing', 'notifications'] as const satisfies OwningService[]

/** A system that can lose its data, and be restored by the operator's commands. */
export interface RestorableSystem {
  system: System
  /** Where backups can be written. */
  directory: string
  /** Runs `npm run admin -- …` for its databases. */
  admin(...args: string[]): Promise<{ code: number; output: string }>
  /** @returns the backup's folder */
  backUp(): Promise<string>
  /** Stops every process, and loses the databases and the broker. */
  lose(): Promise<void>
  /** Restores each service from a backup. */
  restore(from: Record<(typeof backedUp)[number], string>): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * @param folder that of PostgreSQL's programs: pg_dump refuses servers that are newer than itself, so the server is one of them.
 * @param durable whether what is committed survives a power failure, as in production
 */
export async function startRestorableSystem(
  folder: string,
  settings: Partial<Record<ServiceName | 'all', Record<string, string>>>,
  { durable = false } = {},
): Promise<RestorableSystem> {
  // Two folders, because PostgreSQL may run as another user.
  const directory = await mkdtemp(join(tmpdir(), 'robokids-backup-'))
  const dataDir = await mkdtemp(join(tmpdir(), 'robokids-postgres-'))
  const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
  const server = await startPostgres({ dataDir, port: await freePort(), scratch: !durable, binaries })
  const system = await startSystem(settings, server.url)

  async function admin(...args: string[]) {
    const urls = backedUp.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, system.databaseUrls[name]])
    const env = { ...process.env, SYSTEM_NAME: 'the test’s', ...(Object.fromEntries(urls) as Record<string, string>) }
    const services = args.includes('--service') ? [] : backedUp.flatMap((name) => ['--service', name])
    const command = [join(root, 'deploy/local/src/admin.ts'), ...args, ...services]
    return promisify(execFile)(process.execPath, command, { env }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        output: stderr + stdout,
      }),
    )
  }

  async function succeed(...args: string[]) {
    const { code, output } = await admin(...args)
    if (code !== 0) throw new Error(output)
  }

  return {
    system,
    directory,
    admin,
    async backUp() {
      const path = join(directory, randomUUIDv7())
      await succeed('backup', path)
      return path
    },
    async lose() {
      await Promise.all(Object.values(system.processes).map((one) => one.stop()))
      await system.nats.kill()
      await system.nats.restartEmpty()
      await system.disconnect()
      const client = postgres(`${server.url}/postgres`, { max: 1, onnotice: () => {} })
      for (const name of backedUp) {
        const database = new URL(system.databaseUrls[name]).pathname.slice(1)
        await client.unsafe(`drop database "${database}" with (force)`)
        await client.unsafe(`create database "${database}"`)
      }
      await client.end()
    },
    async restore(from) {
      for (const path of new Set(Object.values(from))) {
        const services = backedUp.filter((name) => from[name] === path)
        await succeed('restore', path, ...services.flatMap((name) => ['--service', name]))
      }
    },
    async start() {
      await Promise.all([...backedUp, 'bff' as const].map((name) => system.processes[name].start()))
    },
    async stop() {
      await system.stop()
      await server.stop()
      for (const path of [directory, dataDir]) await rm(path, { recursive: true, force: true })
    },
  }
}
