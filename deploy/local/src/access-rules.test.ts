import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { composeNatsUsers } from './compose-nats-users.ts'
import { composeDatabases } from './database-roles.ts'
import { root } from './settings.ts'

it('The rights at the broker and in the databases are current in deploy/: `npm run access-rules` writes them', async () => {
  expect(await readFile(join(root, 'deploy/nats/users.conf'), 'utf8')).toBe(await composeNatsUsers())
  expect(await readFile(join(root, 'deploy/postgres/databases.sql'), 'utf8')).toBe(composeDatabases())
})
