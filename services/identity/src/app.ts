import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { configSchema, type Config } from './config.ts'
import { seedPools } from './pools.ts'
import { routes } from './routes.ts'

/** Accounts, sign-ins and tokens. */
export const identity: Service<Config> = {
  name: 'identity',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  seed: seedPools,
  routes,
}
