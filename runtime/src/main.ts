import './quick-imports.ts'
import { flushCompileCache } from 'node:module'
import type { Service } from './service.ts'

/**
 * The whole of a service's `main.ts`: runs it until the process is told to stop.
 * @param load imports the service: not before this file is there, which makes imports quick.
 */
export async function serve<Config>(load: () => Promise<Service<Config>>): Promise<void> {
  const [{ startService }, { ConfigError }, service] = await Promise.all([
    import('./service.ts'),
    import('./config.ts'),
    load(),
  ])
  // At its end it would be too late for a process that is killed.
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
