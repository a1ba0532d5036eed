import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { configSchema, type Config } from './config.ts'
import { consumers } from './consumers.ts'
import { routes } from './routes.ts'
import { sendMails } from './send-mails.ts'

/** Mails to parents: one a fact. */
export const notifications: Service<Config> = {
  name: 'notifications',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  routes,
  consumers,
  jobs: [{ name: 'send-mails', everyMs: 1_000, run: sendMails }],
}
