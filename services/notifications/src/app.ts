import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { configSchema, type Config } from './config.ts'
import { consumers } from './consumers.ts'
import { forgetMails } from './forget-mails.ts'
import { enqueueStockAlerts } from './stock-alerts.ts'
import { codePurpose } from './open-code.ts'
import { jobNames } from './enqueue-mail.ts'
import { registerMetrics } from './metrics.ts'
import { routes } from './routes.ts'
import { nextMessage } from './send-due.ts'
import { sendMails } from './send-mails.ts'
import { sendTexts } from './send-texts.ts'
import { shopConsumers } from './shop-consumers.ts'
import { tables } from './tables.ts'

/** Sends mails and text messages: one per fact. */
export const notifications: Service<Config> = {
  name: 'notifications',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  routes(http, context) {
    if (context.config.SMS_URL === undefined) context.log.warn('SMS_URL is not set: no text message can be sent')
    registerMetrics(context)
    routes(http, context)
  },
  consumers: [...consumers, ...shopConsumers],
  sealed: [
    {
      table: 'mails',
      column: 'sealed_code',
      key: 'id',
      of: "data ->> 'codeId'",
      purpose: codePurpose,
      keys: ({ CODE_SEALING_KEYS }) => CODE_SEALING_KEYS,
    },
  ],
  tables,
  jobs: [
    {
      name: jobNames.EMAIL,
      everyMs: 1_000,
      inAllProcesses: true,
      run: sendMails,
      nextDue: (context) => nextMessage('EMAIL', context),
    },
    {
      name: jobNames.SMS,
      everyMs: 1_000,
      inAllProcesses: true,
      run: sendTexts,
      nextDue: (context) => nextMessage('SMS', context),
    },
    { name: 'enqueue-stock-alerts', everyMs: 30_000, run: enqueueStockAlerts },
    { name: 'forget-mails', everyMs: 3_600_000, run: forgetMails },
  ],
}
