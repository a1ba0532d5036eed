import { parseArgs } from 'node:util'
import { processSettingErrors } from './process-settings.ts'
import { owningServices, portSetting } from './services.ts'
import { readSettings } from './settings.ts'
import { startStack } from './stack.ts'

const began = performance.now()
const usage = 'npm start [-- --fresh]   starts the whole system; --fresh starts with empty data'

function readFlags(): { fresh: boolean; help: boolean } {
  try {
    return parseArgs({
      options: { fresh: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    }).values
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(1)
  }
}

const values = readFlags()
if (values.help) {
  console.log(usage)
  process.exit(0)
}
const settings = readSettings(process.env, await processSettingErrors(process.env))

let stopping = false
function stopOn(stop: () => Promise<void>): void {
  const leave = () => {
    if (stopping) process.exit(1)
    stopping = true
    console.log('\nStopping … (once more to stop at once)')
    void stop().then(() => process.exit(0))
  }
  process.on('SIGINT', leave)
  process.on('SIGTERM', leave)
  // The terminal was closed.
  process.on('SIGHUP', leave)
}

try {
  console.log('Starting Robo Kids Learning …')
  const starting = startStack(settings, values.fresh)
  stopOn(() => starting.then((stack) => stack.stop()))
  await starting
  const address = (name: string, port: number, what = '') => `  ${name.padEnd(18)} http://localhost:${port}${what}`
  console.log(
    [
      `Ready after ${((performance.now() - began) / 1000).toFixed(1)} s.`,
      '',
      address('site', settings.PORT),
      address('mailbox', settings.MAILBOX_PORT, '   catches every mail'),
      address('text messages', settings.SMS_PORT, '   catches every text message'),
      address('payment simulator', settings.STRIPE_SIMULATOR_PORT, '   pay with 4242 4242 4242 4242'),
      address('API documents', settings.API_PAGES_PORT),
      ...owningServices.map((name) => address(name, settings[portSetting(name)])),
      `  ${'SMTP'.padEnd(18)} localhost:${settings.SMTP_PORT}`,
      `  ${'NATS'.padEnd(18)} ${settings.NATS_URL ?? `nats://localhost:${settings.NATS_PORT}`}`,
      `  ${'PostgreSQL'.padEnd(18)} ${settings.DATABASE_SERVER_URL ?? `postgres://postgres@localhost:${settings.POSTGRES_PORT}`}`,
      '',
      `Ctrl-C stops everything. The data stays in ${settings.DATA_DIR} (npm start -- --fresh deletes it).`,
    ].join('\n'),
  )
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
