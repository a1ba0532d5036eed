import { randomUUIDv7 } from 'node:crypto'
import { parseArgs } from 'node:util'
import { paymentCompleted } from '@robokids/contracts/billing'
import type { CloudEvent } from '@robokids/contracts/event'
import { connect, type Database } from '@robokids/runtime/db'
import { newEvent, publish } from '@robokids/runtime/outbox'
import { createLogger } from '@robokids/runtime/telemetry'
import { eventually } from '@robokids/test/bed'
import { localNatsPassword } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { AckPolicy, connect as connectNats, StorageType } from 'nats'
import { openDoor, sessionsOnSale } from './doors.ts'
import { alternate, figuresOf, printResults, printSurroundings, steadily, type Figures } from './measure.ts'
import { connections, startMeasuredSystem, type MeasuredSystem } from './measured-system.ts'

/** When each thing happened, by its id, on this process's clock. */
type Moments = Map<string, number>

/** Waits until all of `ids` are at their end. @returns how long each took, and how many ended a second. */
async function outcome(ids: string[], begun: Moments, ended: Moments): Promise<Figures> {
  await eventually(() => {
    const open = ids.filter((id) => !ended.has(id))
    if (open.length > 0) throw new Error(`${open.length} of ${ids.length} events have not arrived, such as ${open[0]}.`)
    return true
  }, 60_000)
  const moment = (moments: Moments, id: string) => moments.get(id) ?? Number.NaN
  const latencies = ids.map((id) => moment(ended, id) - moment(begun, id))
  const first = Math.min(...ids.map((id) => moment(begun, id)))
  const last = Math.max(...ids.map((id) => moment(ended, id)))
  return figuresOf(latencies, last - first)
}

function paymentOf(registrationId: string) {
  return {
    attemptId: randomUUIDv7(),
    registrationId,
    paymentId: randomUUIDv7(),
    amount: 40_000,
    currency: 'usd' as const,
    receiptNumber: registrationId,
    paidAt: Temporal.Now.instant().toString({ fractionalSecondDigits: 3 }),
  }
}

/** Has a database tell, once a row's transaction has committed, the registration that the row is about. */
async function watchCommits(
  { system }: MeasuredSystem,
  service: 'enrollment' | 'billing',
  rows: string,
  registrationId: string,
): Promise<Moments> {
  const moments: Moments = new Map()
  const sql = system.sql(service)
  await sql.unsafe(`
    create function tell_bench() returns trigger language plpgsql as
      $$ begin perform pg_notify('bench', ${registrationId}::text); return null; end $$;
    create trigger tell_bench ${rows} execute function tell_bench()`)
  await sql.listen('bench', (id) => moments.set(id, performance.now()))
  return moments
}

/** Commits payments in billing's database, as billing does, and sees their registrations confirmed in enrollment's. */
function openFlow(billing: Database, held: string[], confirmed: Moments) {
  return async (rate: number, count: number): Promise<Figures> => {
    const ids = held.splice(0, count)
    const committed: Moments = new Map()
    await steadily(rate, count, async (index) => {
      const id = ids[index] ?? ''
      await billing.transaction(async (tx) => {
        await publish(tx, paymentCompleted, id, paymentOf(id))
        // What follows is the commit and nothing else.
        committed.set(id, performance.now())
      })
    })
    return outcome(ids, committed, confirmed)
  }
}

/** Pays on the provider's page: webhook, BFF, billing and enrollment as they are. */
function openTill({ system }: MeasuredSystem, unpaid: Map<string, string>, paid: Moments, confirmed: Moments) {
  return async (rate: number, count: number): Promise<Figures> => {
    const checkouts = [...unpaid].slice(0, count)
    for (const [id] of checkouts) unpaid.delete(id)
    await steadily(rate, count, async (index) => {
      const answer = await system.pay(checkouts[index]?.[1] ?? '')
      if (answer.status !== 'paid') throw new Error(`A payment was answered ${JSON.stringify(answer)}.`)
    })
    const ids = checkouts.map(([id]) => id)
    return outcome(ids, paid, confirmed)
  }
}

/** Publishes the same envelopes to a stream of the same kind, and receives them by a consumer of the same kind. */
async function openBareStream(url: string) {
  const connection = await connectNats({ servers: url, user: operatorUser, pass: localNatsPassword })
  const manager = await connection.jetstreamManager()
  const [stream, subject, durable] = ['bench', 'bench.payment', 'bench__payment']
  await manager.streams.add({ name: stream, subjects: [subject], storage: StorageType.File })
  await manager.consumers.add(stream, { durable_name: durable, ack_policy: AckPolicy.Explicit, max_ack_pending: 1000 })
  const jetstream = connection.jetstream()
  const consumer = await jetstream.consumers.get(stream, durable)
  const received: Moments = new Map()
  let stopped = false
  const receiving = (async () => {
    while (!stopped) {
      for await (const message of await consumer.fetch({ max_messages: 20, expires: 1_000 })) {
        received.set(message.json<CloudEvent>().id, performance.now())
        message.ack()
      }
    }
  })()
  return {
    async run(rate: number, count: number): Promise<Figures> {
      const sent: Moments = new Map()
      await steadily(rate, count, async () => {
        const registrationId = randomUUIDv7()
        const event = newEvent(paymentCompleted, registrationId, paymentOf(registrationId))
        const text = JSON.stringify(event)
        sent.set(event.id, performance.now())
        await jetstream.publish(subject, text, { msgID: event.id })
      })
      return outcome([...sent.keys()], sent, received)
    },
    async stop() {
      stopped = true
      await receiving
      await connection.close()
    },
  }
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const rounds = values.quick ? 1 : 5
const part = values.quick ? 0.1 : 1
const rates = [
  { pace: '20/s', rate: 20, count: 100 * part },
  { pace: '50/s', rate: 50, count: 250 * part },
  { pace: '200 at once', rate: Number.POSITIVE_INFINITY, count: 200 * part },
]
const byCard = { pace: '10/s', rate: 10, count: 60 * part }

const measured = await startMeasuredSystem()
const stops: (() => Promise<void>)[] = [() => measured.stop()]
try {
  const { system } = measured
  // Its mails and the mail catcher, which no parent's payment waits for, would take most of the machine.
  await system.processes.notifications.stop()
  const sessions = await sessionsOnSale(system)
  const held: string[] = []
  const unpaid = new Map<string, string>()
  const direct = openDoor(system.processes.enrollment.url, '/registrations', {}, ({ registrationId }) => {
    held.push(registrationId)
  })
  const bff = openDoor(
    system.siteUrl,
    '/api/registrations',
    { 'x-api-key': 'robokids-web' },
    ({ registrationId, checkoutUrl }) => {
      unpaid.set(registrationId, checkoutUrl ?? '')
    },
  )
  stops.push(
    () => direct.stop(),
    () => bff.stop(),
  )
  const preparationMs = 5 * 60_000
  const phasesInAll = rounds + 1
  await direct.run(phasesInAll * rates.reduce((sum, { count }) => sum + count, 0), sessions, preparationMs)
  await bff.run(phasesInAll * byCard.count, sessions, preparationMs)
  await measured.settled()

  const confirmed = await watchCommits(
    measured,
    'enrollment',
    `after update on registrations for each row when (new.status = 'confirmed' and old.status <> 'confirmed')`,
    'new.id',
  )
  const paid = await watchCommits(measured, 'billing', `after insert on payments for each row`, 'new.registration_id')
  const config = { DATABASE_URL: system.databaseUrls.billing, DATABASE_POOL: connections }
  const billing = connect(config, 'bench', createLogger('bench', 'silent'))
  const bare = await openBareStream(system.nats.url)
  stops.push(
    () => billing.close(),
    () => bare.stop(),
  )
  const flow = openFlow(billing.db, held, confirmed)
  const till = openTill(measured, unpaid, paid, confirmed)

  type Run = (rate: number, count: number) => Promise<Figures>
  const pair = (name: string, { pace, rate, count }: typeof byCard, run: Run) => {
    const peer = `JetStream alone, ${pace}`
    return [
      { name: peer, peer, run: () => bare.run(rate, count) },
      { name: `${name}, ${pace}`, peer, run: () => run(rate, count) },
    ]
  }
  const phases = [
    ...rates.flatMap((one) => pair('commit → confirmed', one, flow)),
    ...pair('paid by card → confirmed', byCard, till),
  ]

  printSurroundings(measured.versions)
  const results = await alternate(phases, rounds, () => measured.settled())
  printResults('payments to registrations', phases, results)
} finally {
  for (const stop of stops.toReversed()) await stop()
}
