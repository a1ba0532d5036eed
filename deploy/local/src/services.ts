import type { Environment } from '@robokids/runtime/config'
import { localSealingKeys } from '@robokids/runtime/seal'
import type { RunningService, Service } from '@robokids/runtime/service'

/** The secrets of a system on this machine; production refuses them. */
export const webhookSecret = 'whsec_local'
export const clientSecret = 'local-client-secret'

/** Where the other parts of the system are. */
export interface Addresses {
  /** The URL of a service, by its name. */
  urlOf: (service: string) => string
  simulatorUrl: string
  smtpUrl: string
  smsUrl: string
}

interface ServiceEntry {
  /** Its port on this machine, unless `<NAME>_PORT` says another. */
  port: number
  /** Whether it consumes events, so that it may have dead letters. */
  consumes: boolean
  /** Whether it has sealed values at rest, which `admin reseal` seals under the newest key. */
  seals: boolean
  /** Its settings on this machine, besides those that every process has, its port and its database. */
  environment: (at: Addresses) => Record<string, string>
  application: Application
}

/** A process's application, loaded when it is needed: the operator's commands need none. */
interface Application {
  load: () => Promise<Service<object>>
  start: (env: Environment) => Promise<Pick<RunningService<object>, 'url' | 'stop'>>
}

function application<Config>(load: () => Promise<Service<Config>>): Application {
  return {
    load: load as unknown as Application['load'],
    async start(env) {
      const [{ startService }, service] = await Promise.all([import('@robokids/runtime/service'), load()])
      return startService(service, env)
    },
  }
}

/**
 * The services, each with a folder of that name in `services/` and a database of that name. Everything that starts, tests or
 * operates the system derives from this table; `services.test.ts` holds the deployment files against it.
 */
export const services = {
  identity: {
    port: 4001,
    consumes: false,
    seals: true,
    environment: ({ urlOf }) => ({
      ISSUER_URL: urlOf('identity'),
      SEALING_KEYS: localSealingKeys,
      MAC_KEYS: localSealingKeys,
      CODE_SEALING_KEYS: localSealingKeys,
      CLIENT_SECRETS: `robokidsbff:${clientSecret}`,
      // The BFF names the visitor that it calls for.
      TRUST_PROXY: 'loopback',
    }),
    application: application(async () => (await import('../../../services/identity/src/app.ts')).identity),
  },
  enrollment: {
    port: 4002,
    consumes: true,
    seals: false,
    environment: () => ({}),
    application: application(async () => (await import('../../../services/enrollment/src/app.ts')).enrollment),
  },
  billing: {
    port: 4003,
    consumes: true,
    seals: false,
    environment: ({ urlOf, simulatorUrl }) => ({
      ENROLLMENT_URL: urlOf('enrollment'),
      STRIPE_SECRET_KEY: 'sk_test_local',
      STRIPE_API_URL: simulatorUrl,
      STRIPE_WEBHOOK_SECRETS: webhookSecret,
    }),
    application: application(async () => (await import('../../../services/billing/src/app.ts')).billing),
  },
  notifications: {
    port: 4004,
    consumes: true,
    seals: true,
    environment: ({ urlOf, smtpUrl, smsUrl }) => ({
      SMTP_URL: smtpUrl,
      SMS_URL: smsUrl,
      CODE_SEALING_KEYS: localSealingKeys,
      ENROLLMENT_URL: urlOf('enrollment'),
    }),
    application: application(async () => (await import('../../../services/notifications/src/app.ts')).notifications),
  },
} as const satisfies Record<string, ServiceEntry>

/** A service that owns a database. */
export type OwningService = keyof typeof services
/** A process that serves HTTP. */
export type ServiceName = OwningService | 'bff'

export const owningServices = Object.keys(services) as OwningService[]
export const consumingServices = owningServices.filter((name) => services[name].consumes)
export const sealingServices = owningServices.filter((name) => services[name].seals)

/** The setting that moves a service's port: `BILLING_PORT`. */
export const portSetting = <Name extends OwningService>(name: Name) =>
  `${name.toUpperCase() as Uppercase<Name>}_PORT` as const

/** The setting that names a service's URL: `BILLING_URL`. */
export const urlSetting = <Name extends OwningService>(name: Name) =>
  `${name.toUpperCase() as Uppercase<Name>}_URL` as const

/** One value per service, by its name. */
export function perService<Value>(valueOf: (name: OwningService) => Value): Record<OwningService, Value> {
  return Object.fromEntries(owningServices.map((name) => [name, valueOf(name)])) as Record<OwningService, Value>
}

/** The application of each process. */
export const applications: Record<ServiceName, Application> = {
  ...perService((name) => services[name].application),
  bff: application(async () => (await import('../../../bff/src/app.ts')).bff),
}
