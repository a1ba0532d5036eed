import { owningServices, type OwningService } from './services.ts'

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/**
 * Returns the statements that give a service its role and its database, for an administrator in the database `postgres`. A role
 * owns its database and may connect to no other. They can be run again: `exists` says what is there already.
 */
export function roleStatements(
  name: OwningService,
  password: string,
  exists: { role: boolean; database: boolean } = { role: false, database: false },
): string[] {
  return [
    `${exists.role ? 'alter' : 'create'} role ${name} login password ${literal(password)};`,
    exists.database ? `alter database ${name} owner to ${name};` : `create database ${name} owner ${name};`,
    `revoke all on database ${name} from public;`,
  ]
}

/** Returns the statements about the databases that every server has: nobody but an administrator has anything to do there. */
export const serverStatements = [
  'revoke all on database postgres from public;',
  'revoke all on database template1 from public;',
]

/** Returns deploy/postgres/databases.sql, which a development server runs when it is created. The passwords are the names. */
export function composeDatabases(): string {
  return `-- A database and a role of its own for each service: none can connect to another's. Written by \`npm run access-rules\`. For
-- development: the passwords are the names. For production, deploy/local/src/create-databases.ts takes passwords as settings.
${[...serverStatements, ...owningServices.flatMap((name) => roleStatements(name, name))].join('\n')}
`
}
