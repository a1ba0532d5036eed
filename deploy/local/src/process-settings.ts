import { ConfigError, readConfig } from '@robokids/runtime/config'
import type { Service } from '@robokids/runtime/service'
import { bff } from '../../../bff/src/app.ts'
import { billing } from '../../../services/billing/src/app.ts'
import { enrollment } from '../../../services/enrollment/src/app.ts'
import { identity } from '../../../services/identity/src/app.ts'
import { notifications } from '../../../services/notifications/src/app.ts'
import { serviceEnvironment, type ServiceName, type Settings } from './settings.ts'

const services: Record<ServiceName, Pick<Service<object>, 'config' | 'migrations'>> = {
  identity,
  enrollment,
  billing,
  notifications,
  bff,
}

/**
 * Returns the environment settings that the processes would reject, so that `npm start` reports them with its own
 * before anything is started.
 */
export function processSettingErrors(env: NodeJS.ProcessEnv): (settings: Settings) => string[] {
  return (settings) => {
    const natsUrl = settings.NATS_URL ?? `nats://127.0.0.1:${settings.NATS_PORT}`
    const databaseUrl = (name: string) => `postgres://postgres@127.0.0.1:${settings.POSTGRES_PORT}/${name}`
    const environments = serviceEnvironment(settings, natsUrl, databaseUrl, env)
    const refused = Object.entries(services).flatMap(([name, { config, migrations }]) => {
      try {
        readConfig(config, environments[name as ServiceName], { database: migrations !== undefined })
        return []
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        return error.message.split('\n  ').slice(1)
      }
    })
    // Only one server is started here.
    if (settings.NATS_URL === undefined && !['1', undefined].includes(env['NATS_REPLICAS']))
      refused.push('NATS_REPLICAS: is more than the one server started here: set NATS_URL as well')
    return refused
  }
}
