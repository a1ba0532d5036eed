import { readSettingsOf } from '@robokids/runtime/config'
import { inProduction, productionRules } from '@robokids/runtime/production-rules'
import postgres from 'postgres'
import { z } from 'zod'
import { roleStatements, serverStatements } from './database-roles.ts'
import { owningServices, type OwningService } from './services.ts'

/**
 * `node deploy/local/src/create-databases.ts`: gives each service its role and its database on a server, with the passwords in
 * DATABASE_PASSWORD_IDENTITY and so on, as the administrator of DATABASE_SERVER_URL. Run again, it changes the passwords.
 */

const passwordSetting = (name: OwningService) => `DATABASE_PASSWORD_${name.toUpperCase()}`
const passwords = Object.fromEntries(
  owningServices.map((name) => [
    passwordSetting(name),
    z.string().min(1).default(name).register(inProduction, productionRules.secret),
  ]),
)
const schema = z.object({
  ...passwords,
  DATABASE_SERVER_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'is not a URL like postgres://user:password@host' }),
})

async function createDatabases(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readSettingsOf<Record<string, string>>(schema, env)
  const url = new URL(settings['DATABASE_SERVER_URL'] ?? '')
  url.pathname = '/postgres'
  const client = postgres(url.href, { max: 1, onnotice: () => {} })
  try {
    for (const statement of serverStatements) await client.unsafe(statement)
    for (const name of owningServices) {
      const [exists] = await client<{ role: boolean; database: boolean }[]>`
        select exists (select from pg_roles where rolname = ${name}) as role,
          exists (select from pg_database where datname = ${name}) as database`
      // Each is a transaction of its own: PostgreSQL creates no database within one.
      for (const statement of roleStatements(name, settings[passwordSetting(name)] ?? '', exists))
        await client.unsafe(statement)
      console.log(`${name} has ${exists?.database === true ? 'its' : 'a new'} database and its role's password.`)
    }
  } finally {
    await client.end()
  }
}

try {
  await createDatabases(process.env)
} catch (error) {
  // Without the statement, which has a password.
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
