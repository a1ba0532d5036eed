import './fast-imports.ts'
import { flushCompileCache } from 'node:module'
import type { Service } from './service.ts'

/**
 * Runs a service until the process is told to stop; with the argument `migrate`, prepares its database and the broker and ends.
 * @param load imports the service; called after this file has turned on fast imports.
 */
export async function serve<Config>(load: () => Promise<Service<Config>>): Promise<void> {
  const [{ migrateService, startService }, { ConfigError }, service] = await Promise.all([
    import('./service.ts'),
    import('./config.ts'),
    load(),
  ])
  // Flushed now, because a killed process would not flush it at its end.
  flushCompileCache()
  const command = process.argv[2]
  if (command !== undefined && command !== 'migrate') {
    process.stderr.write(
      `${service.name}: there is no command "${command}": without one it serves, and there is migrate\n`,
    )
    process.exitCode = 1
    return
  }
  // Nothing is lost: what it waits for or is in the middle of is continued by the next start. As a container's first process it
  // would otherwise ignore the signals.
  let stop: () => void = () => process.exit(1)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop())
  try {
    if (command === 'migrate') {
      await migrateService(service, process.env)
      return
    }
    const running = await startService(service, process.env)
    stop = () => {
      void running.stop().then(() => process.exit(0))
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${service.name}: ${error.message}\n`)
    process.exitCode = 1
  }
}
