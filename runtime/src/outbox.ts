import { randomUUIDv7 } from 'node:crypto'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { allEvents } from '@robokids/contracts/events'
import type { OutboxState, RejectedEvent } from '@robokids/contracts/operator'
import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm'
import { bigint, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import type { Bus } from './bus.ts'
import { wakeJob, type Database, type Queryable, type Transaction } from './db.ts'
import { DomainError } from './errors.ts'
import { idleMs } from './jobs.ts'
import type { Logger, Metrics } from './telemetry.ts'
import { beginContinued, currentTraceparent } from './trace.ts'

/** The events published by a service's transactions. They stay here as long as the broker stores them. */
export const outbox = pgTable('outbox', {
  position: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
  id: uuid().notNull().unique(),
  type: text().notNull(),
  envelope: jsonb().$type<CloudEvent>().notNull(),
  publishedAt: timestamp('published_at', { withTimezone: true }),
  /** Its sequence number in the broker's stream. */
  sequence: bigint({ mode: 'number' }),
  /** How often the broker rejected it as invalid. */
  tries: integer().notNull().default(0),
  retryAt: timestamp('retry_at', { withTimezone: true }),
  /** When it was set aside: it was rejected too often, and only an operator can retry it. */
  setAsideAt: timestamp('set_aside_at', { withTimezone: true }),
  error: text(),
})

const brokerStreams = pgTable('broker_streams', { name: text().primaryKey(), created: text().notNull() })

/** Returns an event envelope. Use `publish` instead, except in a statement that writes its own `outbox` row. */
export function newEvent<Data>(
  definition: EventDefinition<string, Data>,
  subject: string,
  data: NoInfer<Data>,
  time: Temporal.Instant = Temporal.Now.instant(),
): CloudEvent<string, Data> {
  return {
    specversion: '1.0',
    id: randomUUIDv7(),
    source: `/${definition.producer}`,
    type: definition.type,
    subject,
    time: time.toString({ fractionalSecondDigits: 3 }),
    traceparent: currentTraceparent(),
    data,
  }
}

/**
 * Publishes an event as part of `tx`: it is sent, at least once, if and only if the transaction commits.
 * @param subject the id of the record that the event is about.
 * @param time when it happened; default: now.
 */
export async function publish<Data>(
  tx: Transaction,
  definition: EventDefinition<string, Data>,
  subject: string,
  data: NoInfer<Data>,
  time?: Temporal.Instant,
): Promise<void> {
  await publishAll(tx, definition, [{ subject, data }], time)
}

/** Publishes several events like `publish`, in order. */
export async function publishAll<Data>(
  tx: Transaction,
  definition: EventDefinition<string, Data>,
  events: { subject: string; data: NoInfer<Data> }[],
  time?: Temporal.Instant,
): Promise<void> {
  if (events.length === 0) return
  const envelopes = events.map(({ subject, data }) => newEvent(definition, subject, data, time))
  await tx.insert(outbox).values(envelopes.map((envelope) => ({ id: envelope.id, type: envelope.type, envelope })))
}

const batchSize = 200
const secretTypes = new Set(allEvents.filter((event) => event.secret).map((event) => event.type))

export interface Relay {
  /**
   * Publishes the pending events of the outbox, oldest first, and marks them as published (deletes secret ones) once the broker
   * has acknowledged them. After a crash in between they are published again; the broker and the consumers' inboxes drop the
   * duplicates. It looks for unpublished rows, never for positions above the last one: positions become visible out of order.
   * An event that the broker rejects as invalid is retried after each delay and then set aside, without blocking the others.
   * @returns whether more events may be pending.
   */
  publishPending(): Promise<boolean>
  /** Returns how long to sleep if none is pending now: until the next retry, at least `everyMs`. New events wake the relay. */
  sleepMs(everyMs: number): Promise<number>
}

/**
 * @param service the owner of the outbox, and the name of its stream.
 * @param delaysMs the delays between the attempts for an event that the broker rejects as invalid.
 */
export function createRelay(
  service: string,
  db: Database,
  bus: Bus,
  { delaysMs, metrics, log }: { delaysMs: number[]; metrics: Metrics; log: Logger },
): Relay {
  const own = allEvents.filter((event) => event.stream === service)
  const publishes = own.length > 0
  // From 0, so that the first event of a rare type is an increase.
  for (const { type } of own) metrics.outboxPublished.inc({ type }, 0)
  /** The `epoch` of the broker connection for which lost events were last checked. */
  let checkedEpoch = 0

  async function recordRejection({ id, tries, envelope }: PendingRow, error: Error): Promise<void> {
    const delayMs = delaysMs[tries]
    const next =
      delayMs === undefined
        ? { setAsideAt: sql`now()` }
        : { retryAt: sql`now() + ${delayMs} * interval '1 millisecond'` }
    await db
      .update(outbox)
      .set({ tries: tries + 1, error: error.message, ...next })
      .where(eq(outbox.id, id))
    const about = { err: error, eventId: id, type: envelope.type, tries: tries + 1 }
    if (delayMs === undefined) log.error(about, 'event could not be published and was set aside')
    else log.warn(about, 'event could not be published and will be retried')
  }

  return {
    async publishPending() {
      const epoch = bus.epoch()
      if (publishes && checkedEpoch !== epoch) {
        const again = await republishLost(service, db, bus)
        if (again > 0) log.warn({ events: again }, 'the broker has lost events; publishing them again')
        checkedEpoch = epoch
      }
      const rows = await db
        .select({ id: outbox.id, envelope: outbox.envelope, tries: outbox.tries })
        .from(outbox)
        .where(and(isPending, or(isNull(outbox.retryAt), lte(outbox.retryAt, sql`now()`))))
        .orderBy(asc(outbox.position))
        .limit(batchSize)
      if (rows.length === 0) return false
      const spans = rows.map(({ envelope: { type, id, traceparent } }) =>
        beginContinued(traceparent, {
          name: `publish ${type}`,
          kind: 'producer',
          attributes: { 'messaging.system': 'nats', 'messaging.destination.name': type, 'messaging.message.id': id },
        }),
      )
      const outcomes = await bus.publish(rows.map((row) => row.envelope))

      const stored: { id: string; sequence: number; type: string }[] = []
      let brokerError: Error | undefined
      for (const [index, row] of rows.entries()) {
        const outcome = outcomes[index]
        if (!outcome) continue
        if ('error' in outcome) spans[index]?.fail(outcome.error)
        spans[index]?.end()
        if ('sequence' in outcome) stored.push({ id: row.id, sequence: outcome.sequence, type: row.envelope.type })
        else if (outcome.fault === 'event') await recordRejection(row, outcome.error)
        else brokerError ??= outcome.error
      }
      const { secret = [], kept = [] } = Object.groupBy(stored, ({ type }) =>
        secretTypes.has(type) ? 'secret' : 'kept',
      )
      const ids = (some: typeof stored) => some.map((row) => row.id)
      if (secret.length > 0) await db.delete(outbox).where(inArray(outbox.id, ids(secret)))
      if (kept.length > 0) {
        const sequences = sql.join(
          kept.map((row) => sql`(${row.id}::uuid, ${row.sequence}::bigint)`),
          sql`, `,
        )
        await db.execute(sql`
          update ${outbox} set published_at = now(), sequence = stored.sequence, error = null
          from (values ${sequences}) as stored (id, sequence) where ${outbox.id} = stored.id`)
      }
      for (const { type } of stored) metrics.outboxPublished.inc({ type })
      if (brokerError) throw brokerError
      return rows.length === batchSize
    },
    async sleepMs(everyMs) {
      const { rows } = await db.execute<{ ms: number | null }>(sql`
        select extract(epoch from min(coalesce(retry_at, now())) - now())::float8 * 1000 as ms from ${outbox} where ${isPending}`)
      const ms = rows[0]?.ms ?? idleMs
      return Math.min(Math.max(ms, everyMs), idleMs)
    },
  }
}

type PendingRow = Pick<typeof outbox.$inferSelect, 'id' | 'tries' | 'envelope'>
const isPending = and(isNull(outbox.publishedAt), isNull(outbox.setAsideAt))

/**
 * Marks the events that the broker has lost as pending: all of them if the stream was created again (the broker restarted
 * without its data), or those beyond the stream's last sequence (it restarted with older data). Consumers drop what they have
 * handled.
 * @returns the number of events.
 */
async function republishLost(service: string, db: Database, bus: Bus): Promise<number> {
  const { created, lastSequence } = await bus.streamState(service)
  return db.transaction(async (tx) => {
    const [known] = await tx.select().from(brokerStreams).where(eq(brokerStreams.name, service)).for('update')
    const beyondStreamEnd = gt(outbox.sequence, lastSequence)
    const [rolledBack] = await tx.select({ id: outbox.id }).from(outbox).where(beyondStreamEnd).limit(1)
    let isLost: SQL | undefined
    // An older version recorded neither stream nor sequence, only the time.
    if (known === undefined) isLost = lt(outbox.publishedAt, sql`${created}::timestamptz`)
    else if (known.created === created) isLost = rolledBack ? or(beyondStreamEnd, isNull(outbox.sequence)) : sql`false`
    const lost = await tx
      .update(outbox)
      .set({ publishedAt: null, sequence: null })
      .where(and(isNotNull(outbox.publishedAt), isLost))
      .returning({ id: outbox.id })
    await tx
      .insert(brokerStreams)
      .values({ name: service, created })
      .onConflictDoUpdate({ target: brokerStreams.name, set: { created } })
    return lost.length
  })
}

/**
 * Publishes events again, including those set aside: for an operator who knows that the broker or a consumer has lost them.
 * The broker drops those that it stored less than ten minutes ago; consumers drop what they have handled.
 * @param range the time range of the events, `to` exclusive; with `dryRun` they are only counted.
 * @returns the number of events in the range.
 */
export async function republish(
  db: Database,
  {
    from,
    to,
    dryRun = false,
  }: { from: Temporal.Instant; to?: Temporal.Instant | undefined; dryRun?: boolean | undefined },
): Promise<number> {
  const happened = sql`(${outbox.envelope} ->> 'time')::timestamptz`
  const isInRange = and(gte(happened, sql`${from.toString()}`), to && lt(happened, sql`${to.toString()}`))
  if (dryRun) return db.$count(outbox, isInRange)
  const rows = await db.update(outbox).set(publishAgain).where(isInRange).returning({ id: outbox.id })
  await wakeJob(db, 'outbox')
  return rows.length
}

const publishAgain = { publishedAt: null, sequence: null, tries: 0, retryAt: null, setAsideAt: null }

/**
 * Publishes an event now that the broker has refused.
 * @throws DomainError `event_not_found` if there is no such refused event
 */
export async function retryRejected(db: Database, id: string): Promise<void> {
  const rows = await db
    .update(outbox)
    .set(publishAgain)
    .where(and(eq(outbox.id, id), isNull(outbox.publishedAt), isNotNull(outbox.error)))
    .returning({ id: outbox.id })
  if (rows.length === 0) throw new DomainError('event_not_found', 'The broker refuses no event with this id.')
  await wakeJob(db, 'outbox')
}

/** Returns the oldest 500 events that the broker has rejected. */
export async function listRejected(db: Database): Promise<RejectedEvent[]> {
  const rows = await db
    .select()
    .from(outbox)
    .where(and(isNull(outbox.publishedAt), isNotNull(outbox.error)))
    .orderBy(asc(outbox.position))
    .limit(500)
  return rows.map(({ id, type, tries, error, setAsideAt }) => ({
    id,
    type,
    tries,
    error: error ?? '',
    setAsideAt: setAsideAt?.toISOString() ?? null,
  }))
}

export async function readOutboxState(on: Queryable): Promise<OutboxState> {
  const { rows } = await on.query({
    text: `
      select count(*) filter (where set_aside_at is null)::int as pending,
        count(set_aside_at)::int as "setAside",
        greatest(0, coalesce(extract(epoch from now() - min((envelope ->> 'time')::timestamptz)
          filter (where set_aside_at is null)), 0))::float8 as "oldestSeconds"
      from outbox where published_at is null`,
  })
  return rows[0] as OutboxState
}
