import { createHash } from 'node:crypto'
import { ensureDatabase } from '@robokids/local/postgres'
import { readDatabaseConfig } from '@robokids/runtime/config'
import { prepareDatabase } from '@robokids/runtime/prepare-database'
import { createLogger } from '@robokids/runtime/telemetry'
import postgres from 'postgres'

/**
 * Creates a database with the tables of a service. The migrations of a folder run once for all suites, into a database that
 * the others are copies of. @returns its URL
 */
export async function migratedDatabase(serverUrl: string, name: string, migrations: string): Promise<string> {
  const original = `migrated_${createHash('sha256').update(migrations).digest('hex').slice(0, 16)}`
  const client = postgres(`${serverUrl}/postgres`, { max: 1, onnotice: () => {} })
  try {
    // Suites of two workers may start at the same moment. The end of the connection unlocks.
    await client`select pg_advisory_lock(hashtext(${original}))`
    const [known] = await client`select 1 from pg_database where datname = ${original} and datistemplate`
    if (!known) {
      const url = await ensureDatabase(serverUrl, original)
      await prepareDatabase(
        readDatabaseConfig({ APP_ENV: 'local', DATABASE_URL: url }),
        migrations,
        createLogger('test', 'silent'),
      )
      await client.unsafe(`alter database "${original}" is_template true`)
    }
    await client.unsafe(`create database "${name}" template "${original}"`)
  } finally {
    await client.end()
  }
  return `${serverUrl}/${name}`
}
