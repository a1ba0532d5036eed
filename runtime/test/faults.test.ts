import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { fileURLToPath } from 'node:url'
import { mailDelivered } from '@robokids/contracts/notifications'
import { connect } from '@robokids/runtime/db'
import { consume, type StartPosition } from '@robokids/runtime/inbox'
import type { Job } from '@robokids/runtime/jobs'
import { outbox, publish } from '@robokids/runtime/outbox'
import type { RunningService, Service } from '@robokids/runtime/service'
import { createLogger } from '@robokids/runtime/telemetry'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { breakableProxy } from '@robokids/test/breakable-proxy'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

/**
 * Failures of a service's database and broker. `sender` publishes; `listener` counts per subject how often an event takes
 * effect.
 */

const migrations = fileURLToPath(new URL('./fixture', import.meta.url))
const config = z.object({})
/** The failures of a subject's successive attempts: an SQLSTATE, or `fault` for an error of the handler. */
const failures = new Map<string, string[]>()

const sender = (jobs: Job<object>[] = []): Service<object> => ({
  name: 'notifications',
  config,
  migrations,
  jobs,
  routes(http, context) {
    http.post('/count/:subject', { schema: { params: z.object({ subject: z.string() }) } }, async (request) => {
      await context.db.execute(sql`insert into tally values (${request.params.subject}, 1)`)
      return { ok: true }
    })
  },
})
const listener = (name: string, start: StartPosition): Service<object> => ({
  name,
  config,
  migrations,
  consumers: [
    consume(mailDelivered, start, async (tx, event) => {
      await tx.execute(
        sql`insert into tally values (${event.subject}, 1) on conflict (subject) do update set times = tally.times + 1`,
      )
      const failure = failures.get(event.subject)?.shift()
      if (failure === 'fault') throw new Error('made to fail')
      if (failure !== undefined) await tx.execute(sql.raw(`do $$ begin raise sqlstate '${failure}'; end $$`))
    }),
  ],
})

type Running = RunningService<object> & { databaseUrl: string }
let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

const inQuickSuccession = { CONSUMER_RETRY_DELAYS: '20,20' }
const startSender = (env = {}, jobs: Job<object>[] = []) => bed.start(sender(jobs), { ...inQuickSuccession, ...env })
/** @param name the broker knows the listener by it; default: a new one. */
const startListener = (env = {}, start: StartPosition = { from: 'beginning' }, name = `listener_${randomUUIDv7()}`) =>
  bed.start(listener(name, start), { ...inQuickSuccession, ...env })

async function send({ context }: Running): Promise<string> {
  const mailId = randomUUIDv7()
  const data = { mailId, kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
  await context.db.transaction((tx) => publish(tx, mailDelivered, mailId, data))
  return mailId
}
const isOut = ({ context }: Running) =>
  eventually(async () => {
    const { rows } = await context.db.execute(sql`select 1 from outbox where published_at is null`)
    return rows.length === 0
  })
async function times({ context }: Running, subject: string): Promise<number> {
  const { rows } = await context.db.execute<{ times: number }>(sql`select times from tally where subject = ${subject}`)
  return rows[0]?.times ?? 0
}
const heard = (by: Running, subject: string) => eventually(async () => (await times(by, subject)) === 1, 20_000)
async function counted({ context }: Running, outcome: string): Promise<number> {
  const { values } = await context.metrics.eventsHandled.get()
  return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
}
const ask = ({ url, context }: Running, path: string, method = 'GET', body?: object) =>
  fetch(url + path, {
    method,
    headers: {
      'x-admin-secret': context.config.ADMIN_SECRET,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
async function ready(service: Running) {
  const answer = await ask(service, '/readyz')
  return { ...((await answer.json()) as { database: boolean; outbox?: { setAside: number } }), status: answer.status }
}
async function metric(service: Running, name: string): Promise<number> {
  const text = await (await ask(service, '/metrics')).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

describe('a broker that comes back without its data', () => {
  async function loseEverything(): Promise<void> {
    await bed.nats.kill()
    await bed.nats.restartEmpty()
  }

  it('gets all its events again, and each takes effect once', async () => {
    const producer = await startSender()
    const databaseUrl = await bed.database()
    const name = `listener_${randomUUIDv7()}`
    const before = await startListener({ DATABASE_URL: databaseUrl }, { from: 'beginning' }, name)
    const first = await send(producer)
    await heard(before, first)
    await before.stop()
    const missed = [await send(producer), await send(producer)]
    await isOut(producer)
    await loseEverything()

    const after = await startListener({ DATABASE_URL: databaseUrl }, { from: 'beginning' }, name)
    for (const subject of missed) await heard(after, subject)
    await eventually(async () => (await counted(after, 'duplicate')) > 0)
    expect(await times(after, first)).toBe(1)
    await heard(after, await send(producer))
    await Promise.all([producer.stop(), after.stop()])
  })

  it('gets its events again even if the producer was stopped meanwhile', async () => {
    const databaseUrl = await bed.database()
    const producer = await startSender({ DATABASE_URL: databaseUrl })
    const missed = await send(producer)
    await isOut(producer)
    await producer.stop()
    await loseEverything()

    const after = await startSender({ DATABASE_URL: databaseUrl })
    const consumer = await startListener()
    await heard(consumer, missed)
    await Promise.all([after.stop(), consumer.stop()])
  })

  it('gets the events again that an older version had published', async () => {
    const databaseUrl = await bed.database()
    const older = await startSender({ DATABASE_URL: databaseUrl })
    const missed = await send(older)
    await isOut(older)
    await older.context.db.execute(sql`update outbox set sequence = null; delete from broker_streams`)
    await older.stop()
    await loseEverything()
    const newer = await startSender({ DATABASE_URL: databaseUrl })
    const consumer = await startListener()
    await heard(consumer, missed)
    await Promise.all([newer.stop(), consumer.stop()])
  })

  it('gets the lost events again if it restarts with older data', async () => {
    const producer = await startSender()
    // One published by an older version, which recorded no sequence: it may be lost as well.
    const withoutSequence = await send(producer)
    await isOut(producer)
    await producer.context.db.update(outbox).set({ sequence: null })
    // As after a restored backup: the outbox has sequence numbers beyond the end of the stream.
    const missed = await send(producer)
    await isOut(producer)
    await producer.context.db
      .update(outbox)
      .set({ sequence: 1_000_000 })
      .where(sql`envelope ->> 'subject' = ${missed}`)
    await bed.nats.kill()
    await bed.nats.restart()
    const { sequence } = await eventually(async () => {
      const [row] = await producer.context.db
        .select()
        .from(outbox)
        .where(sql`envelope ->> 'subject' = ${missed} and published_at is not null and sequence < 1000000`)
      return row
    }, 20_000)
    expect(sequence).toBeGreaterThan(0)
    const [older] = await producer.context.db
      .select()
      .from(outbox)
      .where(sql`envelope ->> 'subject' = ${withoutSequence}`)
    expect(older?.sequence).toBeGreaterThan(0)
    await producer.stop()
  })
})

describe('a broker that is away when a service starts', () => {
  it('is waited for in the background: requests are served, and events are sent and handled when it is back', async () => {
    const databaseUrl = await bed.database()
    await bed.nats.kill()
    // Listening to new events, it has to ask the broker whether it has been there before.
    const [producer, consumer] = await Promise.all([
      startSender({ DATABASE_URL: databaseUrl }),
      startListener({}, { from: 'now' }),
    ])
    expect(await ready(producer)).toMatchObject({ status: 200, database: true })
    expect((await ask(producer, `/count/${randomUUIDv7()}`, 'POST')).status).toBe(200)
    const subject = await send(producer)
    await bed.nats.restart()
    await heard(consumer, subject)
    await Promise.all([producer.stop(), consumer.stop()])
  })

  it('does not delay the stop of the service', async () => {
    await bed.nats.kill()
    const service = await startListener()
    const begun = performance.now()
    await service.stop()
    expect(performance.now() - begun).toBeLessThan(3_000)
    await bed.nats.restart()
  })
})

describe('republishing', () => {
  it('publishes the events of a time range again when an operator requests it', async () => {
    const producer = await startSender()
    const databaseUrl = await bed.database()
    const consumer = await startListener({ DATABASE_URL: databaseUrl })
    const begun = Temporal.Now.instant()
    const subject = await send(producer)
    await heard(consumer, subject)
    const range = {
      from: begun.toString({ fractionalSecondDigits: 3 }),
      to: Temporal.Now.instant().add({ seconds: 1 }).toString(),
    }
    const answer = await ask(producer, '/admin/outbox/republish', 'POST', range)
    expect(await answer.json()).toEqual({ events: 1 })
    await isOut(producer)
    expect((await ask(producer, '/admin/outbox/republish', 'POST', { from: 'yesterday' })).status).toBe(400)
    const before = { ...range, to: range.from }
    expect(await (await ask(producer, '/admin/outbox/republish', 'POST', before)).json()).toEqual({ events: 0 })
    await Promise.all([producer.stop(), consumer.stop()])
  })
})

describe('an event that the broker rejects', () => {
  it('is set aside with its error after the last attempt, does not block others, and is reported', async () => {
    const producer = await startSender()
    const consumer = await startListener()
    const poisoned = await producer.context.db.transaction(async (tx) => {
      const mailId = randomUUIDv7()
      const data = { mailId, kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
      await publish(tx, mailDelivered, mailId, data)
      const [row] = await tx
        .update(outbox)
        .set({ envelope: sql`jsonb_set(envelope, '{data,note}', to_jsonb(repeat('x', 2000000)))` })
        .where(sql`envelope ->> 'subject' = ${mailId}`)
        .returning()
      return row?.id ?? ''
    })
    await heard(consumer, await send(producer))
    const refused = await eventually(async () => {
      const [row] = await producer.context.db.select().from(outbox).where(eq(outbox.id, poisoned))
      return row?.setAsideAt && row
    })
    expect(refused.tries).toBe(3)
    expect(refused.error).toMatch(/payload/i)
    await heard(consumer, await send(producer))

    expect(await ready(producer)).toMatchObject({ status: 200, outbox: { pending: 0, setAside: 1 } })
    await eventually(async () => (await metric(producer, 'outbox_set_aside')) === 1)
    const listed = (await (await ask(producer, '/admin/outbox')).json()) as { refused: { id: string; error: string }[] }
    expect(listed.refused).toMatchObject([{ id: poisoned, error: refused.error }])

    // Once it is repaired, an operator can publish it.
    await producer.context.db
      .update(outbox)
      .set({ envelope: sql`envelope #- '{data,note}'` })
      .where(eq(outbox.id, poisoned))
    await ask(producer, '/admin/outbox/republish', 'POST', { from: refused.envelope.time })
    await heard(consumer, refused.envelope.subject)
    expect(await ready(producer)).toMatchObject({ outbox: { setAside: 0 } })
    await Promise.all([producer.stop(), consumer.stop()])
  })
})

describe('a handler that is new to a running system', () => {
  it('starts with new events or with all events, also after the broker has lost its data', async () => {
    const producer = await startSender()
    const before = await send(producer)
    await isOut(producer)
    const now = await startListener({}, { from: 'now' })
    const after = await send(producer)
    await heard(now, after)
    const all = await startListener({}, { from: 'beginning' })
    await heard(all, before)
    await heard(all, after)

    await bed.nats.kill()
    await bed.nats.restartEmpty()
    await eventually(async () => (await counted(now, 'before')) > 0, 20_000)
    await heard(now, await send(producer))
    expect([await times(now, before), await times(now, after)]).toEqual([0, 1])
    await Promise.all([producer.stop(), now.stop(), all.stop()])
  })
})

describe('a handler of a version without the handlers table', () => {
  it('still receives the events that were pending during the upgrade', async () => {
    const producer = await startSender()
    const databaseUrl = await bed.database()
    const name = `listener_${randomUUIDv7()}`
    const before = await startListener({ DATABASE_URL: databaseUrl }, { from: 'now' }, name)
    await heard(before, await send(producer))
    await before.context.db.execute(sql`delete from handlers`)
    await before.stop()
    const waiting = await send(producer)
    await isOut(producer)
    const after = await startListener({ DATABASE_URL: databaseUrl }, { from: 'now' }, name)
    await heard(after, waiting)
    await Promise.all([producer.stop(), after.stop()])
  })
})

describe('an event whose handling fails', () => {
  it('becomes a dead letter only for its own failures, never for lost connections or contention', async () => {
    const producer = await startSender()
    const consumer = await startListener()
    const mailId = randomUUIDv7()
    // terminated, deadlock, lock and statement timeouts, serialization: more often than there are attempts.
    failures.set(mailId, ['57P01', 'fault', '40P01', '55P03', '40P01', '57014', '40001', 'fault', '57P01'])
    const data = { mailId, kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
    await producer.context.db.transaction((tx) => publish(tx, mailDelivered, mailId, data))
    await heard(consumer, mailId)
    expect(failures.get(mailId)).toEqual([])
    expect(await metric(consumer, 'dead_letters')).toBe(0)
    const { rows } = await consumer.context.db.execute(sql`select 1 from failed_deliveries`)
    expect(rows).toEqual([])
    await Promise.all([producer.stop(), consumer.stop()])
  })
})

describe('readiness', () => {
  it('fails while the database is read-only, like a standby after a failover', async () => {
    const service = await startSender()
    const name = new URL(service.databaseUrl).pathname.slice(1)
    const admin = connect(
      { DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 },
      'admin',
      createLogger('admin', 'silent'),
    )
    const restart = () =>
      admin.db.execute(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`,
      )
    await admin.db.execute(sql.raw(`alter database ${name} set default_transaction_read_only = on`))
    await restart()
    await eventually(async () => (await ready(service)).status === 503)
    expect(await ready(service)).toMatchObject({ database: false, bus: true })
    const refused = await ask(service, `/count/${randomUUIDv7()}`, 'POST')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])

    await admin.db.execute(
      sql.raw(`set default_transaction_read_only = off; alter database ${name} reset default_transaction_read_only`),
    )
    await restart().catch(() => {})
    await eventually(async () => (await ready(service)).status === 200)
    expect((await ask(service, `/count/${randomUUIDv7()}`, 'POST')).status).toBe(200)
    await admin.close()
    await service.stop()
  })

  it('fails while the database is unreachable or unresponsive, and requests get 503 until it is back', async () => {
    const databaseUrl = new URL(await bed.database())
    const proxy = await breakableProxy(Number(databaseUrl.port))
    databaseUrl.port = String(proxy.port)
    const service = await startSender({ DATABASE_URL: databaseUrl.href })
    await proxy.refuse()
    await eventually(async () => (await ready(service)).status === 503)
    expect((await ask(service, `/count/${randomUUIDv7()}`, 'POST')).status).toBe(503)
    await proxy.accept()
    await eventually(async () => (await ready(service)).status === 200)
    expect((await ask(service, `/count/${randomUUIDv7()}`, 'POST')).status).toBe(200)

    proxy.stall()
    expect((await ready(service)).status).toBe(503)
    // Stalled connections do not recover, so they end, as when a router drops them.
    proxy.resume()
    proxy.reset()
    await eventually(async () => (await ready(service)).status === 200)
    await service.stop()
    await proxy.stop()
  })
})

describe('a pool of the minimum size', () => {
  it('serves requests, the relay and all jobs concurrently', async () => {
    const ran = new Set<string>()
    const jobs = Array.from({ length: 6 }, (_, index): Job<object> => {
      const name = `job-${index}`
      return {
        name,
        everyMs: 50,
        async run({ db }) {
          await Promise.all([1, 2, 3].map(() => db.transaction((tx) => tx.execute(sql`select pg_sleep(0.01)`))))
          ran.add(name)
        },
      }
    })
    const service = await startSender({ DATABASE_POOL: '2' }, jobs)
    const consumer = await startListener({ DATABASE_POOL: '2' })
    await eventually(() => ran.size === jobs.length)
    await heard(consumer, await send(service))
    expect((await ready(service)).status).toBe(200)
    await Promise.all([service.stop(), consumer.stop()])
  })
})

describe('a job that takes too long', () => {
  it('is aborted and runs again', async () => {
    let runs = 0
    const slow: Job<object> = {
      name: 'slow',
      everyMs: 10,
      limitMs: 50,
      async run(_, signal) {
        runs += 1
        await once(signal, 'abort')
      },
    }
    const service = await startSender({}, [slow])
    await eventually(() => runs >= 2)
    await service.stop()
  })
})

describe('stopping a service', () => {
  const containerGraceMs = 10_000

  it('ends jobs at their next safe point and sends the events that they published last', async () => {
    const published = Promise.withResolvers<string>()
    const working: Job<object> = {
      name: 'working',
      everyMs: 60_000,
      async run(context, signal) {
        while (!signal.aborted) await context.db.execute(sql`select pg_sleep(0.05)`)
        published.resolve(await send({ context } as Running))
      },
    }
    const service = await startSender({}, [working])
    const { db } = connect(
      { DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 },
      'observer',
      createLogger('observer', 'silent'),
    )
    await service.stop()
    const { rows } = await db.execute(
      sql`select published_at is not null as out from outbox where envelope ->> 'subject' = ${await published.promise}`,
    )
    expect(rows).toEqual([{ out: true }])
  })

  it('takes less than the grace period of a container, even with a hanging job and an incomplete request', async () => {
    const hanging: Job<object> = { name: 'hanging', everyMs: 60_000, run: () => new Promise<void>(() => {}) }
    const service = await startSender({}, [hanging])
    const half = connectTcp(Number(new URL(service.url).port), '127.0.0.1')
    half.on('error', () => {})
    await once(half, 'connect')
    half.write('POST /count/x HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n\r\n{')
    const begun = performance.now()
    await service.stop()
    expect(performance.now() - begun).toBeLessThan(containerGraceMs)
    half.destroy()
  })
})

describe('the sweep of the runtime’s tables', () => {
  it('deletes only completed rows after their retention', async () => {
    const databaseUrl = await bed.database()
    const first = await startSender({ DATABASE_URL: databaseUrl })
    const subjects = [await send(first), await send(first)]
    await isOut(first)
    const { db } = first.context
    await db
      .update(outbox)
      .set({ publishedAt: sql`now() - interval '31 days'` })
      .where(sql`envelope ->> 'subject' = ${subjects[0]}`)
    await db.execute(sql`
      insert into outbox (id, type, envelope, set_aside_at)
        select gen_random_uuid(), type, envelope || '{"subject": "set aside"}', now() - interval '31 days' from outbox limit 1;
      insert into inbox select 'old', gen_random_uuid(), now() - interval '46 days' from generate_series(1, 6000);
      insert into inbox values ('young', gen_random_uuid(), now() - interval '44 days');
      insert into dead_letters (id, handler, subject, payload, error, deliveries, failed_at, replayed_at) values
        (gen_random_uuid(), 'h', 'replayed', '', '', 1, now() - interval '200 days', now() - interval '91 days'),
        (gen_random_uuid(), 'h', 'waits', '', '', 1, now() - interval '200 days', null);
      insert into failed_deliveries values ('old', 1, 1, now() - interval '2 days'), ('young', 1, 1, now())`)
    await first.stop()
    const second = await startSender({ DATABASE_URL: databaseUrl })
    const names = async (query: ReturnType<typeof sql>) =>
      (await second.context.db.execute<{ name: string }>(query)).rows.map(({ name }) => name)
    await eventually(async () => {
      expect(await names(sql`select distinct handler as name from failed_deliveries`)).toEqual(['young'])
      return true
    })
    expect(await names(sql`select distinct handler as name from inbox`)).toEqual(['young'])
    expect(await names(sql`select subject as name from dead_letters`)).toEqual(['waits'])
    expect(await names(sql`select envelope ->> 'subject' as name from outbox order by position`)).toEqual([
      subjects[1],
      'set aside',
    ])
    await second.stop()
  })
})
