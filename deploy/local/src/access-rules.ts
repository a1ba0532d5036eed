import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { composeNatsUsers } from './compose-nats-users.ts'
import { composeDatabases } from './database-roles.ts'
import { root } from './settings.ts'

/** `npm run access-rules`: writes who may do what at the broker and in the databases. */
const files = [
  ['deploy/nats/users.conf', await composeNatsUsers()],
  ['deploy/postgres/databases.sql', composeDatabases()],
] as const
for (const [name, text] of files) {
  const path = join(root, name)
  const isNew = (await readFile(path, 'utf8').catch(() => '')) !== text
  if (isNew) await writeFile(path, text)
  console.log(`${relative(root, path)} ${isNew ? 'is written' : 'is current'}`)
}
