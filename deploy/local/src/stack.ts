import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig, type Environment } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { createLogger } from '@robokids/runtime/telemetry'
import { z } from 'zod'
import { createSmsCatcher } from '../../sms-catcher/src/app.ts'
import { createSimulator } from '../../stripe-simulator/src/app.ts'
import { startApiPages } from './api-pages.ts'
import { startMailbox } from './mailbox.ts'
import { startNats } from './nats.ts'
import { dropStaleLock, ensureDatabase, startPostgres } from './postgres.ts'
import { isListening } from './processes.ts'
import { applications, owningServices, webhookSecret } from './services.ts'
import { serviceEnvironment, type Settings } from './settings.ts'
import { buildWeb } from './web-build.ts'

/** The running system, stopped in reverse order of its start. */
export interface Stack {
  stop(): Promise<void>
}

/** Gives the streams the subjects that are new in this version: no service may change a stream. */
async function extendStreams(env: Environment): Promise<void> {
  const { busOptions, prepareStreams } = await import('@robokids/runtime/bus')
  const config = readConfig(z.object({}), { ...env, NATS_USER: operatorUser })
  await prepareStreams(busOptions(config, 'npm start', createLogger('npm start', config.LOG_LEVEL)))
}

/** What there is in DATA_DIR. */
const dataEntries = ['postgres', 'nats', 'mail', 'stripe-simulator.json']

async function assertFree(settings: Settings): Promise<void> {
  const ports = Object.entries(settings).filter((entry): entry is [string, number] => entry[0].endsWith('PORT'))
  const taken: string[] = []
  const choices: string[] = []
  for (const [name, port] of ports) {
    if (!(await isListening(port))) continue
    taken.push(String(port))
    choices.push(`${name}=${port + 10_000}`)
  }
  if (taken.length === 0) return
  throw new Error(
    `Port ${taken.join(', ')} is in use. Stop the other program, or choose other ports, and another data folder if it is an npm start ` +
      `itself: ${choices.join(' ')} DATA_DIR=.data-2 npm start`,
  )
}

/**
 * Starts the whole system in this process, and its servers as child processes. If a part fails, everything is stopped
 * again.
 */
export async function startStack(settings: Settings, fresh: boolean): Promise<Stack> {
  await assertFree(settings)
  const dataDir = (name: string) => join(settings.DATA_DIR, name)
  if (fresh) {
    // Another system may be running on this data, on other ports.
    await dropStaleLock(dataDir('postgres'))
    // Only our own entries: the folder may contain other files.
    for (const name of dataEntries) await rm(dataDir(name), { recursive: true, force: true })
  }
  await mkdir(settings.DATA_DIR, { recursive: true })

  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const stopOne of stops.splice(0).toReversed()) await stopOne()
  }
  async function keep<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }

  try {
    const postgresUrl = settings.DATABASE_SERVER_URL
      ? Promise.resolve(settings.DATABASE_SERVER_URL)
      : keep(startPostgres({ dataDir: dataDir('postgres'), port: settings.POSTGRES_PORT })).then(({ url }) => url)
    const natsUrl = settings.NATS_URL
      ? Promise.resolve(settings.NATS_URL)
      : keep(startNats({ dataDir: dataDir('nats'), port: settings.NATS_PORT })).then(({ url }) => url)
    const servers = await Promise.allSettled([
      postgresUrl,
      natsUrl,
      keep(startMailbox({ dataDir: dataDir('mail'), port: settings.MAILBOX_PORT, smtpPort: settings.SMTP_PORT })),
      keep(createSmsCatcher({ port: settings.SMS_PORT })),
      keep(startApiPages({ port: settings.API_PAGES_PORT })),
      keep(
        createSimulator({
          port: settings.STRIPE_SIMULATOR_PORT,
          publicUrl: `http://localhost:${settings.STRIPE_SIMULATOR_PORT}`,
          // A database now; a JSON file of an earlier version is migrated under the same name.
          stateFile: dataDir('stripe-simulator.json'),
          webhooks: [{ url: `http://127.0.0.1:${settings.PORT}/webhooks/stripe`, secret: webhookSecret }],
        }),
      ),
      buildWeb(),
    ])
    for (const server of servers) if (server.status === 'rejected') throw server.reason

    const serverUrl = await postgresUrl
    const urls = new Map<string, string>()
    await Promise.all(owningServices.map(async (name) => urls.set(name, await ensureDatabase(serverUrl, name))))
    const env = serviceEnvironment(settings, await natsUrl, (name) => urls.get(name) ?? '')
    await extendStreams(env.bff)
    await Promise.all(owningServices.map((name) => keep(applications[name].start(env[name]))))
    await keep(applications.bff.start(env.bff))
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }
}
