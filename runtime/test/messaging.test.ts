import { randomUUIDv7 } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { paymentFailed } from '@robokids/contracts/billing'
import { mailDelivered } from '@robokids/contracts/notifications'
import { consume, handlerName } from '@robokids/runtime/inbox'
import { newEvent, outbox, publish } from '@robokids/runtime/outbox'
import { countRows } from '@robokids/runtime/row-counts'
import { migrateService, type Service } from '@robokids/runtime/service'
import { wakeJob } from '@robokids/runtime/db'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { connectAsOperator } from '@robokids/test/operator-bus'
import { and, isNotNull, sql } from 'drizzle-orm'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

/** Subjects whose handler fails. */
const failing = new Set<string>()
let jobRuns = 0
/** A service that counts events per subject and publishes an event for each. */
const tally: Service<{ GREETING: string }> = {
  name: 'notifications',
  config: z.object({ GREETING: z.string().default('hello') }),
  migrations: fileURLToPath(new URL('./fixture', import.meta.url)),
  consumers: [
    consume(paymentFailed, { from: 'beginning' }, async (tx, event) => {
      await tx.execute(
        sql`insert into tally values (${event.subject}, 1) on conflict (subject) do update set times = tally.times + 1`,
      )
      await publish(tx, mailDelivered, event.subject, {
        mailId: randomUUIDv7(),
        kind: 'waiver_signed',
        registrationId: event.data.registrationId,
      })
      if (failing.has(event.subject)) throw new Error('made to fail')
    }),
  ],
  jobs: [
    {
      name: 'count-runs',
      everyMs: 60_000,
      async run() {
        jobRuns += 1
      },
    },
  ],
  routes(http, context) {
    http.post(
      '/strict',
      { schema: { body: z.object({ children: z.array(z.object({ age: z.number().min(5) })) }) } },
      async () => ({ ok: true }),
    )
    http.post('/stores/:text', { schema: { params: z.object({ text: z.string() }) } }, async (request) => {
      await context.db.execute(sql`insert into tally values (${request.params.text}, 1)`)
      return { ok: true }
    })
    http.get('/broken', async () => {
      throw new Error('a secret of ours')
    })
  },
}

const failure = () => ({
  attemptId: randomUUIDv7(),
  registrationId: randomUUIDv7(),
  final: false,
  reason: 'Your card was declined.',
})

let bed: TestBed
let service: Awaited<ReturnType<typeof start>>
// Its name is that of the service whose events it publishes, but it also consumes what that service may not.
const start = (env: Record<string, string> = {}) =>
  bed.start(tally, { CONSUMER_RETRY_DELAYS: '20,20', NATS_USER: 'operator', ...env })
const times = async (subject: string) => {
  const {
    rows: [row],
  } = await service.context.db.execute<{ times: number }>(sql`select times from tally where subject = ${subject}`)
  return row?.times ?? 0
}
const admin = (path: string, method = 'GET') =>
  fetch(`${service.url}/admin${path}`, { method, headers: { 'x-admin-secret': service.context.config.ADMIN_SECRET } })

beforeAll(async () => {
  bed = await testBed()
  service = await start()
})
afterAll(() => bed.stop())

describe('the metrics of a table', () => {
  it('count its rows by the values of a column, and a value that no row has now as zero', async () => {
    const { db, metrics } = service.context
    const lamps = pgTable('lamps', { state: text({ enum: ['on', 'off'] }).notNull(), room: text().notNull() })
    await db.execute(sql`create table lamps (state text not null, room text not null)`)
    countRows(service.context, { name: 'lamps', label: 'state', table: lamps, column: lamps.state }, 0)
    countRows(service.context, { name: 'lamp_rooms', label: 'room', table: lamps, column: lamps.room }, 0)
    const shown = async () => (await metrics.expose()).split('\n').filter((line) => line.startsWith('lamp'))
    await db.insert(lamps).values([
      { state: 'on', room: 'hall' },
      { state: 'on', room: 'attic' },
    ])
    expect(await shown()).toEqual([
      'lamps{state="on"} 2',
      'lamps{state="off"} 0',
      expect.stringMatching(/^lamp_rooms\{room="(hall|attic)"\} 1$/) as string,
      expect.stringMatching(/^lamp_rooms\{room="(hall|attic)"\} 1$/) as string,
    ])
    await db.update(lamps).set({ state: 'off', room: 'hall' })
    expect(await shown()).toEqual(['lamps{state="on"} 0', 'lamps{state="off"} 2', 'lamp_rooms{room="hall"} 2'])
  })
})

describe('a consumer', () => {
  it('applies each event once, however often it is delivered', async () => {
    const subject = randomUUIDv7()
    const event = await bed.bus.publish(paymentFailed, subject, failure())
    await bed.bus.republish(event)
    await bed.bus.republish(event)
    // Deliveries are handled concurrently: wait until the duplicates are counted.
    await eventually(async () => {
      const { values } = await service.context.metrics.eventsHandled.get()
      const copies = values.find(({ labels }) => labels['outcome'] === 'duplicate')?.value ?? 0
      return copies >= 2
    })
    expect(await times(subject)).toBe(1)
    await bed.bus.seen(mailDelivered, (data) => data.registrationId === event.data.registrationId)
    expect(bed.bus.all(mailDelivered, (data) => data.registrationId === event.data.registrationId)).toHaveLength(1)
  })

  it('turns an event that does not match its contract into a dead letter and continues', async () => {
    const poison = {
      ...newEvent(paymentFailed, randomUUIDv7(), failure()),
      data: { attemptId: 'x', note: 'NUL \u0000 inside' },
    }
    await bed.bus.republish(poison)
    await bed.bus.publishRaw('payment.failed', 'not json {')
    const next = await bed.bus.publish(paymentFailed, randomUUIDv7(), failure())
    await eventually(() => times(next.subject))
    const letterWith = (part: string) =>
      eventually(async () => {
        const { deadLetters } = (await (await admin('/dead-letters')).json()) as {
          deadLetters: { id: string; payload: string; error: string; deliveries: number }[]
        }
        return deadLetters.find((candidate) => candidate.payload.includes(part))
      })
    const letter = await letterWith(poison.id)
    expect(letter.error).toContain('data.attemptId')
    // It was retried after each delay, because a version that understands it could have started meanwhile.
    expect(letter.deliveries).toBe(3)
    expect((await letterWith('not json {')).payload).toBe('not json {')
    const replay = await admin(`/dead-letters/${letter.id}/replay`, 'POST')
    expect(replay.status).toBe(400)
  })

  it('retries a failing event and lets an operator replay it once', async () => {
    const subject = randomUUIDv7()
    failing.add(subject)
    const event = await bed.bus.publish(paymentFailed, subject, failure())
    const letter = await eventually(async () => {
      const body = (await (await admin('/dead-letters')).json()) as {
        deadLetters: { id: string; payload: string; deliveries: number }[]
      }
      return body.deadLetters.find((candidate) => candidate.payload.includes(event.id))
    })
    expect(letter.deliveries).toBe(3)
    expect(await times(subject)).toBe(0)

    expect((await admin(`/dead-letters/${letter.id}/replay`, 'POST')).status).toBe(500)
    failing.delete(subject)
    expect((await admin(`/dead-letters/${letter.id}/replay`, 'POST')).status).toBe(200)
    expect((await admin(`/dead-letters/${letter.id}/replay`, 'POST')).status).toBe(200)
    expect(await times(subject)).toBe(1)
    const published = await bed.bus.seen(mailDelivered, (data) => data.registrationId === event.data.registrationId)
    expect(bed.bus.all(mailDelivered, (data) => data.registrationId === event.data.registrationId)).toEqual([published])
  })

  it('continues the trace of the event', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const event = {
      ...newEvent(paymentFailed, randomUUIDv7(), failure()),
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    }
    await bed.bus.republish(event)
    const published = await bed.bus.seen(mailDelivered, (data) => data.registrationId === event.data.registrationId)
    expect(published.traceparent?.split('-')[1]).toBe(traceId)
  })

  it('is named after its service and its event', () => {
    expect(handlerName('enrollment', paymentFailed)).toBe('enrollment__payment-failed')
  })
})

describe('the outbox', () => {
  it('publishes no events of a transaction that was rolled back', async () => {
    const data = { mailId: randomUUIDv7(), kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
    const { db } = service.context
    await expect(
      db.transaction(async (tx) => {
        await publish(tx, mailDelivered, data.mailId, data)
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    const later = { ...data, mailId: randomUUIDv7(), registrationId: randomUUIDv7() }
    await db.transaction((tx) => publish(tx, mailDelivered, later.mailId, later))
    await bed.bus.seen(mailDelivered, (seen) => seen.mailId === later.mailId)
    expect(bed.bus.all(mailDelivered, (seen) => seen.mailId === data.mailId)).toEqual([])
  })

  it('publishes a row that commits long after later rows', async () => {
    const { db } = service.context
    const old = { mailId: randomUUIDv7(), kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
    const young = { ...old, mailId: randomUUIDv7() }
    await db.transaction(async (tx) => {
      await publish(tx, mailDelivered, old.mailId, old)
      await db.transaction((other) => publish(other, mailDelivered, young.mailId, young))
      await bed.bus.seen(mailDelivered, (data) => data.mailId === young.mailId)
    })
    await bed.bus.seen(mailDelivered, (data) => data.mailId === old.mailId)
  })
})

describe('a broker that is killed', () => {
  it('makes services degraded, and they publish and consume again within seconds of its restart', async () => {
    const ready = async () => {
      const answer = await fetch(`${service.url}/readyz`)
      return [answer.status, ((await answer.json()) as { status: string }).status]
    }
    expect(await ready()).toEqual([200, 'ready'])
    await bed.nats.kill()
    await eventually(async () => (await ready())[1] === 'degraded')
    expect(await ready()).toEqual([200, 'degraded'])
    const data = { mailId: randomUUIDv7(), kind: 'waiver_signed' as const, registrationId: randomUUIDv7() }
    await service.context.db.transaction((tx) => publish(tx, mailDelivered, data.mailId, data))
    await bed.nats.restart()
    await eventually(async () => (await ready())[1] === 'ready')
    const event = await eventually(() => bed.bus.publish(paymentFailed, randomUUIDv7(), failure()))
    await eventually(() => times(event.subject), 15_000)
    // Not by the test's own subscription, which may be back later than the service.
    const published = and(
      isNotNull(outbox.publishedAt),
      sql`${outbox.envelope} -> 'data' ->> 'mailId' = ${data.mailId}`,
    )
    await eventually(() => service.context.db.$count(outbox, published), 15_000)
  })
})

describe('the copies of a process', () => {
  it('hear each other and claim a key once, also after the broker has lost its data', async () => {
    const connectCopy = () => connectAsOperator(bed.nats, 'copied')
    const buses = [await connectCopy(), await connectCopy()] as const
    const heard: unknown[][] = [[], []]
    for (const [copy, bus] of buses.entries()) bus.watchCopies('news', (message) => heard[copy]?.push(message))
    const claims = (key: string) => Promise.all(buses.map((bus) => bus.claim({ name: 'keys', forMs: 60_000 }, key)))
    await eventually(() => {
      buses[0].notifyCopies('news', { from: 'the first' })
      return heard[1]?.length
    })
    expect(heard[1]?.[0]).toEqual({ from: 'the first' })
    expect(heard[0]).toEqual([])
    expect(new Set(await claims('a'))).toEqual(new Set([false, true]))
    expect(await claims('a')).toEqual([false, false])

    await bed.nats.kill()
    await eventually(() => buses.every((bus) => !bus.connected()))
    await expect(claims('a')).rejects.toThrow('The broker is away.')
    await bed.nats.restartEmpty()
    await eventually(() => claims(randomUUIDv7()))
    expect(new Set(await claims('b'))).toEqual(new Set([false, true]))
    for (const bus of buses) await bus.close()
  })
})

describe('a job', () => {
  it('runs when a committed transaction wakes it', async () => {
    await eventually(() => jobRuns >= 1)
    const before = jobRuns
    await service.context.db.transaction((tx) => wakeJob(tx, 'count-runs'))
    await eventually(() => jobRuns > before)
  })
})

describe('every HTTP server', () => {
  const post = (path: string, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(service.url + path, { method: 'POST', body, headers })

  it.each([
    ['a body that is not JSON', '{"children":', undefined, 400, 'malformed_body'],
    ['an empty body', '', undefined, 400, 'malformed_body'],
    ['another content type', '<x/>', { 'content-type': 'text/xml' }, 415, 'unsupported_media_type'],
    ['1 MB', JSON.stringify({ children: 'x'.repeat(1 << 20) }), undefined, 413, 'payload_too_large'],
    ['a wrong field', '{"children":[{"age":9},{"age":4}]}', undefined, 400, 'validation_failed'],
  ])('responds to %s with a client error in the common format', async (_what, body, headers, status, code) => {
    const answer = await post('/strict', body, headers)
    expect(answer.status).toBe(status)
    const json = (await answer.json()) as { code: string; requestId: string; issues?: { path: string }[] }
    expect(json.code).toBe(code)
    expect(json.requestId).toBe(answer.headers.get('x-request-id'))
    if (code === 'validation_failed') expect(json.issues?.[0]?.path).toBe('children.1.age')
  })

  it('hides the message of an unexpected error', async () => {
    const answer = await fetch(`${service.url}/broken`, { headers: { 'x-request-id': 'abc-1' } })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toEqual({ code: 'internal', message: 'Something went wrong.', requestId: 'abc-1' })
  })

  it('responds to text that the database cannot store with a client error', async () => {
    expect((await post('/stores/a%00b', '{}')).status).toBe(400)
  })

  it('responds 404 to an unknown path and 401 to an admin route without the secret', async () => {
    expect((await fetch(`${service.url}/nothing`)).status).toBe(404)
    expect((await fetch(`${service.url}/admin/dead-letters`)).status).toBe(401)
  })

  it('exposes metrics', async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('events_handled_total{handler="notifications__payment-failed",outcome="done"}')
    expect(metrics).toContain('outbox_pending')
  })
})

describe('a migration as a job of its own', () => {
  it('prepares the database and the streams, after which a start without migrations serves', async () => {
    const DATABASE_URL = await bed.database()
    const env = { APP_ENV: 'local', NATS_URL: bed.nats.url, NATS_USER: 'operator', LOG_LEVEL: 'silent', DATABASE_URL }
    const started = start({ DATABASE_URL, MIGRATE_ON_START: 'false' })
    await migrateService(tally, env)
    // Again, as when a roll-out is repeated.
    await migrateService(tally, env)
    const other = await started
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200)
    await other.stop()
  })
})

describe('a process that is told to stop', () => {
  it('serves on until others have noticed, says that it is not ready, and closes each connection', async () => {
    const leaving = await start({ DRAIN_MS: '1000' })
    const stopped = leaving.stop()
    const [ready, page] = await Promise.all([fetch(`${leaving.url}/readyz`), fetch(`${leaving.url}/healthz`)])
    expect([ready.status, page.status]).toEqual([503, 200])
    for (const { headers } of [ready, page]) expect(headers.get('connection')).toBe('close')
    await stopped
    await expect(fetch(`${leaving.url}/healthz`)).rejects.toThrow('fetch failed')
  })
})
