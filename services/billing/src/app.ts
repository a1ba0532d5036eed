import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { closeCheckouts, nextCheckoutToClose } from './checkout/close-checkouts.ts'
import { configSchema, type BillingConfig } from './config.ts'
import { consumers } from './consumers.ts'
import { endMemberships, nextMembershipToEnd } from './membership/end-memberships.ts'
import { reconcile } from './webhooks/reconcile.ts'
import { giveCredits, nextCreditDue } from './membership/give-credits.ts'
import { remindMembers } from './membership/remind-members.ts'
import { routes } from './routes.ts'
import { nextRefund, runRefunds } from './refunds/run-refunds.ts'
import { seed } from './seed.ts'
import { tables } from './tables.ts'

export const billing: Service<BillingConfig> = {
  name: 'billing',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  seed,
  routes,
  consumers,
  tables,
  jobs: [
    { name: 'close-checkouts', everyMs: 15_000, run: closeCheckouts, nextDue: nextCheckoutToClose },
    { name: 'end-memberships', everyMs: 5_000, run: endMemberships, nextDue: nextMembershipToEnd },
    { name: 'give-credits', everyMs: 5_000, run: giveCredits, nextDue: nextCreditDue },
    { name: 'remind-members', everyMs: 3_600_000, run: remindMembers },
    { name: 'run-refunds', everyMs: 2_000, run: runRefunds, nextDue: nextRefund },
    { name: 'reconcile', everyMs: (config) => config.RECONCILE_EVERY_MS, run: reconcile },
  ],
}
