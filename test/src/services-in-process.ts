import { freePort } from '@robokids/local/processes'
import type { ServiceName } from '@robokids/local/services'
import { localSealingKeys } from '@robokids/runtime/seal'
import type { RunningService } from '@robokids/runtime/service'
import { bff } from '../../bff/src/app.ts'
import { createSimulator, type Simulator } from '../../deploy/stripe-simulator/src/app.ts'
import { billing } from '../../services/billing/src/app.ts'
import { enrollment } from '../../services/enrollment/src/app.ts'
import { identity } from '../../services/identity/src/app.ts'
import { notifications } from '../../services/notifications/src/app.ts'
import { testBed } from './bed.ts'

/** All services in this process, so that a test can inspect their routes. */
export interface ServicesInProcess {
  running: Record<ServiceName, Pick<RunningService<object>, 'url' | 'routes' | 'context'>>
  bed: Awaited<ReturnType<typeof testBed>>
  simulator: Simulator
  stop(): Promise<void>
}

const plenty = '1000000'

/**
 * Starts all services and a payment simulator, without rate limits.
 * @param settings further settings of all services.
 */
export async function startServicesInProcess(settings: Record<string, string> = {}): Promise<ServicesInProcess> {
  const bed = await testBed()
  const site = await freePort()
  const siteUrl = `http://localhost:${site}`
  const simulator = await createSimulator({
    webhooks: [{ url: `http://127.0.0.1:${site}/webhooks/stripe`, secret: 'whsec_tests' }],
  })
  const shared = { SITE_URL: siteUrl, CODE_SEALING_KEYS: localSealingKeys, TRUST_PROXY: 'loopback', ...settings }
  const enrollmentService = await bed.start(enrollment, shared)
  const [billingService, notificationsService, identityService] = await Promise.all([
    bed.start(billing, {
      ...shared,
      ENROLLMENT_URL: enrollmentService.url,
      STRIPE_SECRET_KEY: 'sk_test_billing',
      STRIPE_API_URL: simulator.url,
      STRIPE_WEBHOOK_SECRETS: 'whsec_tests',
      UNPAID_ORDERS_PER_BUYER: plenty,
      UNPAID_ORDERS_PER_NETWORK: plenty,
    }),
    bed.start(notifications, shared),
    bed.start(identity, {
      ...shared,
      SEALING_KEYS: localSealingKeys,
      MAC_KEYS: localSealingKeys,
      CLIENT_SECRETS: 'robokidsbff:local-client-secret',
      ADDRESS_ATTEMPTS_A_MINUTE: plenty,
      ADDRESS_REQUESTS_AN_HOUR: plenty,
      ADDRESS_TEXTS_AN_HOUR: plenty,
      TEXTS_A_DAY: plenty,
      EVEN_ANSWER_MS: '1',
      ARGON2_MEMORY_KIB: '64',
      ARGON2_PASSES: '1',
    }),
  ])
  const bffService = await bed.start(bff, {
    ...shared,
    PORT: String(site),
    SESSION_KEYS: localSealingKeys,
    PROOF_SECRET: 'a-secret-of-the-tests',
    PROOF_DERIVATIONS: '1',
    IDENTITY_URL: identityService.url,
    // Identity's default issuer.
    IDENTITY_ISSUER_URL: 'http://localhost:4001',
    IDENTITY_CLIENT_SECRET: 'local-client-secret',
    ENROLLMENT_URL: enrollmentService.url,
    BILLING_URL: billingService.url,
    NOTIFICATIONS_URL: notificationsService.url,
    RATE_LIMIT_READS: plenty,
    RATE_LIMIT_WRITES: plenty,
    RATE_LIMIT_NOTICES: plenty,
    RATE_LIMIT_NOTICES_TO_MAILBOX: plenty,
    RATE_LIMIT_MESSAGES: plenty,
  })
  return {
    running: {
      enrollment: enrollmentService,
      billing: billingService,
      notifications: notificationsService,
      identity: identityService,
      bff: bffService,
    },
    bed,
    simulator,
    async stop() {
      await bed.stop()
      await simulator.stop()
    },
  }
}

/** The methods of a route, without HEAD and OPTIONS. */
export function methodsOf({ method }: { method: string | string[] }): string[] {
  return [method].flat().filter((one) => one !== 'HEAD' && one !== 'OPTIONS')
}
