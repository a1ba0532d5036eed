import { ConfigError, readConfig } from '@robokids/runtime/config'
import { applications, type ServiceName } from './services.ts'
import { serviceEnvironment, type Settings } from './settings.ts'

/**
 * Returns the environment settings that the processes would reject, so that `npm start` reports them with its own
 * before anything is started.
 */
export async function processSettingErrors(env: NodeJS.ProcessEnv): Promise<(settings: Settings) => string[]> {
  const loaded = await Promise.all(
    Object.entries(applications).map(async ([name, { load }]) => [name as ServiceName, await load()] as const),
  )
  return (settings) => {
    const natsUrl = settings.NATS_URL ?? `nats://127.0.0.1:${settings.NATS_PORT}`
    const databaseUrl = (name: string) => `postgres://postgres@127.0.0.1:${settings.POSTGRES_PORT}/${name}`
    const environments = serviceEnvironment(settings, natsUrl, databaseUrl, env)
    const refused = loaded.flatMap(([name, { config, migrations }]) => {
      try {
        readConfig(config, environments[name], { database: migrations !== undefined })
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
