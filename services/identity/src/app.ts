import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { cleanUp } from './users/clean-up.ts'
import { configSchema, type Config } from './config.ts'
import { seedPools } from './pools/pools.ts'
import { routes } from './routes.ts'
import { sealedColumns } from './sealed-columns.ts'
import { rotateKeys } from './sign-in/tokens.ts'
import { tables } from './tables.ts'

/** Accounts, sign-ins and tokens. */
export const identity: Service<Config> = {
  name: 'identity',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  seed: seedPools,
  routes,
  sealed: sealedColumns,
  tables,
  jobs: [cleanUp, { name: 'rotate-keys', everyMs: 600_000, run: rotateKeys }],
}
