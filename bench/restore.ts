import { parseArgs } from 'node:util'
import { findToolsFolder } from '@robokids/local/admin/postgres-tools'
import { localNatsPassword } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { eventually } from '@robokids/test/bed'
import { backedUp, startRestorableSystem } from '@robokids/test/restorable-system'
import { connect } from 'nats'
import { printSurroundings } from './measure.ts'

const { values } = parseArgs({ options: { registrations: { type: 'string', default: '100000' } } })
const copies = Number(values.registrations) - 1

const folder = await findToolsFolder()
if (folder === undefined) throw new Error('pg_dump and its PostgreSQL are needed: install postgresql.')
const restorable = await startRestorableSystem(folder, { all: { LOG_LEVEL: 'error' } }, { durable: true })
const { system } = restorable

/** Measures a step and prints it. */
async function timed<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await run()
  console.log(`${what.padEnd(60)} ${((performance.now() - begun) / 1000).toFixed(1).padStart(7)} s`)
  return result
}

/** The copies' ids follow from those of the original, in every database alike. */
const copyOf = (text: string) =>
  // Of version 8, and of the standard's variant.
  `overlay(overlay(md5(${text}::text || n) placing '8' from 13) placing '8' from 17)::uuid`

/** Copies all rows of a table that match, `copies` times, with other values in some columns. */
async function multiply(
  service: (typeof backedUp)[number],
  table: string,
  where: string,
  changes: Record<string, string>,
) {
  const columns = Object.entries(changes).map(([name, value]) => `'${name}', ${value}`)
  const sql = system.sql(service)
  await sql.unsafe(`
    insert into ${table} ${table === 'outbox' ? '(id, type, envelope, published_at, sequence)' : ''}
    select ${table === 'outbox' ? '(copy).id, (copy).type, (copy).envelope, (copy).published_at, (copy).sequence' : '(copy).*'} from (
      select jsonb_populate_record(one, jsonb_build_object(${columns.join(', ')})) as copy
      from ${table} as one, generate_series(1, ${copies}) as n where ${where}) as copies`)
}

/** In the envelope, every id that is in `ids` becomes that of the copy. */
function envelopeOf(ids: string[]): string {
  let text = `replace(envelope::text, one.id::text, ${copyOf('one.id')}::text)`
  for (const id of ids) text = `replace(${text}, '${id}', ${copyOf(`'${id}'`)}::text)`
  return `(${text})::jsonb`
}

async function multiplyRegistration(): Promise<void> {
  const email = 'maren@example.com'
  const { registrationId, checkoutUrl } = await system.register({ email })
  await system.pay(checkoutUrl)
  await system.reaches(registrationId, 'confirmed')
  await eventually(async () => (await system.mailsTo(email)).length)
  await settled()
  const [known] = await system.sql('billing')<{ attempt: string; payment: string }[]>`
    select attempt_id as attempt, id as payment from payments where registration_id = ${registrationId}`
  const ids = [registrationId, known?.attempt ?? '', known?.payment ?? '']
  const ofIt = `envelope::text like '%${registrationId}%'`
  const outbox = { id: copyOf('one.id'), envelope: envelopeOf(ids), sequence: 'sequence + n' }
  const sql = system.sql('enrollment')
  await sql`update class_sessions set capacity = 1000000, sold = sold + ${copies}
    where id = (select class_session_id from registrations where id = ${registrationId})`
  await multiply('enrollment', 'registrations', `one.id = '${registrationId}'`, {
    id: copyOf('one.id'),
    payment_id: copyOf('payment_id'),
    attempt_id: copyOf('attempt_id'),
    receipt_number: `'RK-' || (100000 + n)`,
  })
  await multiply('enrollment', 'payments', `registration_id = '${registrationId}'`, {
    payment_id: copyOf('payment_id'),
    registration_id: copyOf('registration_id'),
  })
  await multiply('billing', 'checkout_attempts', `registration_id = '${registrationId}'`, {
    id: copyOf('one.id'),
    registration_id: copyOf('registration_id'),
    stripe_session_id: `stripe_session_id || '_' || n`,
  })
  await multiply('billing', 'payments', `registration_id = '${registrationId}'`, {
    id: copyOf('one.id'),
    attempt_id: copyOf('attempt_id'),
    registration_id: copyOf('registration_id'),
    stripe_payment_intent_id: `stripe_payment_intent_id || '_' || n`,
    receipt_number: `'RK-' || (100000 + n)`,
  })
  await multiply('notifications', 'mails', `registration_id = '${registrationId}'`, {
    id: copyOf('one.id'),
    fact: `fact || n`,
    registration_id: copyOf('registration_id'),
    message_id: `message_id || n`,
  })
  for (const name of backedUp) {
    await multiply(name, 'outbox', ofIt, outbox)
    await multiply(name, 'inbox', 'true', { event_id: copyOf('event_id') })
    await system.sql(name)`analyze`
  }
}

/** Waits until every event is published, and handled by everyone who wants it. */
async function settled(): Promise<void> {
  const nats = await connect({ servers: system.nats.url, user: operatorUser, pass: localNatsPassword })
  const manager = await nats.jetstreamManager()
  let stuck: string | undefined
  try {
    await eventually(async () => {
      for (const name of backedUp) {
        const [row] = await system.sql(name)<{ left: number; dead: number }[]>`
          select (select count(*)::int from outbox where published_at is null) as left,
            (select count(*)::int from dead_letters) as dead`
        if (row === undefined || row.dead > 0) {
          stuck = `${name} has ${row?.dead} dead letters.`
          return true
        }
        if (row.left > 0) throw new Error(`${name} has ${row.left} events to publish.`)
        for await (const { name: consumer, num_pending, num_ack_pending } of manager.consumers.list(name))
          if (num_pending + num_ack_pending > 0) throw new Error(`${num_pending} events wait for ${consumer}.`)
      }
      return true
    }, 3_600_000)
  } finally {
    await nats.close()
  }
  if (stuck !== undefined) throw new Error(stuck)
}

/** What must be the same before and after: the number of rows of each table, and the content of some. */
async function fingerprint(): Promise<string> {
  const parts: string[] = []
  const contents = {
    enrollment: ['registrations', 'payments', 'class_sessions', 'inbox'],
    billing: ['checkout_attempts', 'payments', 'refunds', 'inbox'],
    notifications: ['mails', 'inbox'],
  }
  for (const name of backedUp) {
    for (const table of contents[name]) {
      const [row] = await system
        .sql(name)
        .unsafe<{ rows: number; sum: string }[]>(
          `select count(*)::int as rows, coalesce(sum(hashtextextended(one::text, 0)), 0)::text as sum from ${table} as one`,
        )
      parts.push(`${name}.${table}: ${row?.rows} rows, ${row?.sum}`)
    }
    const [row] = await system.sql(name)<{ events: number; dead: number }[]>`
      select (select count(*)::int from outbox) as events, (select count(*)::int from dead_letters) as dead`
    parts.push(`${name}: ${row?.events} events, ${row?.dead} dead letters`)
  }
  return parts.join('\n')
}

try {
  printSurroundings('PostgreSQL of ' + folder)
  await timed(`${copies + 1} paid registrations are made`, multiplyRegistration)
  const before = await fingerprint()
  const atProvider = JSON.stringify(await system.atProvider())
  const mails = (await system.mailsTo('maren@example.com')).length
  const path = await timed('backup', () => restorable.backUp())
  await restorable.lose()
  const path3 = { enrollment: path, billing: path, notifications: path }
  await timed('restore into empty databases', () => restorable.restore(path3))
  await timed('start with an empty broker', () => restorable.start())
  await timed('all events are published and handled again', settled)
  const after = await fingerprint()
  console.log(`\n${after}\n`)
  const [lost, known] = [before.split('\n'), new Set(after.split('\n'))]
  const differences = lost.filter((line) => !known.has(line))
  if (differences.length > 0) throw new Error(`Before the loss it was:\n${differences.join('\n')}`)
  if (JSON.stringify(await system.atProvider()) !== atProvider) throw new Error('Something happened at the provider.')
  if ((await system.mailsTo('maren@example.com')).length !== mails) throw new Error('A mail was sent again.')
  console.log('Nothing is lost or doubled.')
} finally {
  await restorable.stop()
}
