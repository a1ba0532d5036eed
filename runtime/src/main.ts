import './fast-imports.ts'
import { flushCompileCache } from 'node:module'
import type { Service } from './service.ts'

/**
 * Runs a service until the process is told to stop.
 * @param load imports the service; called after this file has turned on fast imports.
 */
export async function serve<Config>(load: () => Promise<Service<Config>>): Promise<void> {
  const [{ startService }, { ConfigError }, service] = await Promise.all([
    import('./service.ts'),
    import('./config.ts'),
    load(),
  ])
  // Flushed now, because a killed process would not flush it at its end.
  flushCompileCache()
  try {
    const running = await startService(service, process.env)
    const stop = () => {
      void running.stop().then(() => process.exit(0))
    }
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${service.name}: ${error.message}\n`)
    process.exitCode = 1
  }
}
