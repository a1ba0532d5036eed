import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { registrationConfirmed } from '@robokids/contracts/enrollment'
import { startNats } from '@robokids/local/nats'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import { newEvent } from '@robokids/runtime/outbox'
import { localSealingKeys } from '@robokids/runtime/seal'
import { eventually } from '@robokids/test/bed'
import { connectAsOperator } from '@robokids/test/operator-bus'
import postgres from 'postgres'
import { SMTPServer } from 'smtp-server'
import { confirmed, registration } from '../services/notifications/test/events.ts'
import { median, printSurroundings } from './measure.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Kills one of two copies in the middle of each round. */
    kill: { type: 'boolean', default: false },
  },
})
const rounds = values.quick ? 1 : 5
const mailsPerRound = values.quick ? 300 : 2_000

/** How often each mail was accepted, by its Message-ID. */
const accepted = new Map<string, number>()
const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    let head = ''
    stream.on('data', (chunk: Buffer) => {
      if (head.length < 4_096) head += chunk.toString('latin1')
    })
    stream.on('end', () => {
      const id = /^message-id:\s*<([^>]+)>/im.exec(head)?.[1] ?? ''
      accepted.set(id, (accepted.get(id) ?? 0) + 1)
      callback(null, 'Taken')
    })
  },
})
// A killed copy resets its connections.
server.on('error', () => {})
server.listen(0, '127.0.0.1')
await once(server.server, 'listening')

const newFolder = () => mkdtemp(join(tmpdir(), 'robokids-bench-'))
const folders = [await newFolder(), await newFolder()] as const
// Durable, as in production.
const database = await startPostgres({ dataDir: folders[0], port: await freePort() })
const nats = await startNats({ dataDir: folders[1], port: await freePort() })
const bus = await connectAsOperator(nats, 'bench')
const admin = postgres(database.url, { max: 1, onnotice: () => {} })
await admin.unsafe('create database notifications')
const url = `${database.url}/notifications`
const sql = postgres(url, { max: 1, onnotice: () => {} })
const main = fileURLToPath(new URL('../services/notifications/src/main.ts', import.meta.url))
const copies: ChildProcess[] = []

async function startCopy(): Promise<void> {
  const port = await freePort()
  const env = {
    ...process.env,
    APP_ENV: 'local',
    LOG_LEVEL: 'error',
    PORT: String(port),
    NATS_URL: nats.url,
    DATABASE_URL: url,
    SMTP_URL: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    CODE_SEALING_KEYS: localSealingKeys,
    SITE_URL: 'http://localhost:3000',
  }
  copies.push(spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] }))
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, 60_000)
  // Events before its first start are not mailed.
  await eventually(() =>
    sql`select from handlers where handler = 'notifications__registration-confirmed'`.then(([row]) => row),
  )
}

async function stopCopies(): Promise<void> {
  for (const copy of copies.splice(0)) {
    if (copy.exitCode !== null || copy.signalCode !== null) continue
    copy.kill('SIGTERM')
    await once(copy, 'exit')
  }
}

async function countSent(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from mails where status = 'sent'`
  return row?.count ?? 0
}

/** Publishes as many confirmations at once. @returns how many mails were sent a second, from the first event on. */
async function sendAll(): Promise<number> {
  const before = await countSent()
  const begun = performance.now()
  for (let done = 0; done < mailsPerRound; done += 100) {
    const outcomes = await bus.publish(
      Array.from({ length: 100 }, () => {
        const facts = registration()
        return newEvent(registrationConfirmed, facts.registrationId, confirmed(facts))
      }),
    )
    for (const outcome of outcomes) if ('error' in outcome) throw outcome.error
  }
  if (values.kill) {
    await eventually(async () => (await countSent()) - before > mailsPerRound / 3, 120_000)
    copies.pop()?.kill('SIGKILL')
  }
  const abandoned = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from mails where status = 'pending' and leased_until > now()`
    return row?.count ?? 0
  }
  await eventually(async () => {
    const left = mailsPerRound - ((await countSent()) - before)
    return left === 0 || (values.kill && left === (await abandoned()))
  }, 120_000)
  const elapsed = performance.now() - begun
  if (values.kill) {
    const left = await abandoned()
    console.log(`${left} mails of the killed copy are sent by the other one after their lease of five minutes.`)
    return ((mailsPerRound - left) / elapsed) * 1_000
  }
  return (mailsPerRound / elapsed) * 1_000
}

try {
  printSurroundings('nats-server and PostgreSQL of this machine')
  for (const number of values.kill ? [2] : [1, 2]) {
    const rates: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      while (copies.length < number) await startCopy()
      const rate = await sendAll()
      // The first round warms up.
      if (round > 0) rates.push(rate)
    }
    await stopCopies()
    const [middle, least, most] = [median(rates), Math.min(...rates), Math.max(...rates)].map((one) => one.toFixed(0))
    console.log(`${number} ${number === 1 ? 'copy' : 'copies'}: ${middle} mails a second (${least} to ${most})`)
  }
  const twice = [...accepted].filter(([, times]) => times > 1)
  console.log(`${accepted.size} mails were accepted, ${twice.length} of them more than once.`)
  if (!values.kill && (twice.length > 0 || accepted.size !== (await countSent())))
    throw new Error('A mail was not sent exactly once.')
} finally {
  await stopCopies()
  await Promise.all([bus.close(), sql.end(), admin.end()])
  await Promise.all([database.stop(), nats.stop()])
  server.close(() => {})
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
}
