import { randomUUIDv7 } from 'node:crypto'
import { type CloudEvent, type EventDefinition } from '@robokids/contracts/event'
import { allEvents } from '@robokids/contracts/events'
import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm'
import { bigint, integer, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Bus } from './bus.ts'
import type { Database, Queryable, Transaction } from './db.ts'
import { currentTraceparent, type Logger, type Metrics } from './telemetry.ts'

/** The events that a service's transactions have published, until the broker has them and for as long as it keeps them. */
export const outbox = pgTable('outbox', {
  position: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
  id: uuid().notNull().unique(),
  type: text().notNull(),
  envelope: jsonb().$type<CloudEvent>().notNull(),
  publishedAt: timestamp('published_at', { withTimezone: true }),
  /** Its place in the broker's stream. */
  sequence: bigint({ mode: 'number' }),
  /** How often the broker refused it by a fault of the event's own. */
  tries: integer().notNull().default(0),
  retryAt: timestamp('retry_at', { withTimezone: true }),
  /** Refused so often that only an operator has it tried again. */
  setAsideAt: timestamp('set_aside_at', { withTimezone: true }),
  error: text(),
})

const brokerStreams = pgTable('broker_streams', { name: text().primaryKey(), created: text().notNull() })

/** Puts data into its envelope. Use `publish`; this alone is for a statement that writes its own `outbox` row. */
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
 * Publishes an event as part of `tx`: it goes out if and only if the transaction commits, at least once.
 * @param subject the id of the thing the event is about.
 * @param time when it happened; left out, now.
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

/** As `publish`, of many things at once, in the order of the list. */
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
   * Publishes what waits in the outbox, oldest first, and marks it (deletes it, where it is a secret) once the broker has
   * acknowledged it. A crash in between publishes again; the broker and the consumers' inboxes drop the copy. It looks
   * for unpublished rows, never for positions above the last one: positions become visible out of order.
   * An event that the broker refuses by its own fault is tried again after each of the delays and then set aside: the
   * others go out meanwhile.
   * @returns whether more may be waiting.
   */
  turn(): Promise<boolean>
}

/**
 * @param service whose outbox it is, and after whom its stream is named.
 * @param delaysMs between the tries of an event that is refused by its own fault.
 */
export function createRelay(
  service: string,
  db: Database,
  bus: Bus,
  { delaysMs, metrics, log }: { delaysMs: number[]; metrics: Metrics; log: Logger },
): Relay {
  const publishes = allEvents.some((event) => event.stream === service)
  /** The connection to the broker for which its data were found to be all there. */
  let checked = 0

  async function refused({ id, tries, envelope }: Waiting, error: Error): Promise<void> {
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
    if (delayMs === undefined) log.error(about, 'event cannot be published and is set aside')
    else log.warn(about, 'event could not be published and will be tried again')
  }

  return {
    async turn() {
      const epoch = bus.epoch()
      if (publishes && checked !== epoch) {
        const again = await republishLost(service, db, bus)
        if (again > 0) log.warn({ events: again }, 'the broker has lost events, which are published again')
        checked = epoch
      }
      const rows = await db
        .select({ id: outbox.id, envelope: outbox.envelope, tries: outbox.tries })
        .from(outbox)
        .where(and(waiting, or(isNull(outbox.retryAt), lte(outbox.retryAt, sql`now()`))))
        .orderBy(asc(outbox.position))
        .limit(batchSize)
      if (rows.length === 0) return false
      const outcomes = await bus.publish(rows.map((row) => row.envelope))

      const stored: { id: string; sequence: number; type: string }[] = []
      let away: Error | undefined
      for (const [index, row] of rows.entries()) {
        const outcome = outcomes[index]
        if (!outcome) continue
        if ('sequence' in outcome) stored.push({ id: row.id, sequence: outcome.sequence, type: row.envelope.type })
        else if (outcome.fault === 'event') await refused(row, outcome.error)
        else away ??= outcome.error
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
      if (away) throw away
      return rows.length === batchSize
    },
  }
}

type Waiting = Pick<typeof outbox.$inferSelect, 'id' | 'tries' | 'envelope'>
const waiting = and(isNull(outbox.publishedAt), isNull(outbox.setAsideAt))

/**
 * Has published once more what the broker does not have any more: all of it where its stream is another one than the
 * outbox published to, because the broker came back without its data, and else what lies beyond the stream's end, because
 * it came back with older data. Consumers drop what they have handled.
 * @returns how many events.
 */
async function republishLost(service: string, db: Database, bus: Bus): Promise<number> {
  const { created, lastSequence } = await bus.streamState(service)
  return db.transaction(async (tx) => {
    const [known] = await tx.select().from(brokerStreams).where(eq(brokerStreams.name, service)).for('update')
    const beyondItsEnd = gt(outbox.sequence, lastSequence)
    const [rolledBack] = await tx.select({ id: outbox.id }).from(outbox).where(beyondItsEnd).limit(1)
    let isLost: SQL | undefined
    // A version that noted neither stream nor places left the moment alone.
    if (known === undefined) isLost = lt(outbox.publishedAt, sql`${created}::timestamptz`)
    else if (known.created === created) isLost = rolledBack ? or(beyondItsEnd, isNull(outbox.sequence)) : sql`false`
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
 * Has events published once more, those that were set aside included: for an operator who knows that the broker, or a
 * consumer, has lost them. The broker drops those that it stored less than ten minutes ago; consumers drop what they have
 * handled.
 * @param range of the moments at which they happened, `to` excluded.
 * @returns how many there are in the range.
 */
export async function republish(
  db: Database,
  { from, to }: { from: Temporal.Instant; to?: Temporal.Instant | undefined },
): Promise<number> {
  const happened = sql`(${outbox.envelope} ->> 'time')::timestamptz`
  const rows = await db
    .update(outbox)
    .set({ publishedAt: null, sequence: null, tries: 0, retryAt: null, setAsideAt: null })
    .where(and(gte(happened, sql`${from.toString()}`), to && lt(happened, sql`${to.toString()}`)))
    .returning({ id: outbox.id })
  return rows.length
}

/** How the outbox stands, for metrics and whoever runs the system. */
const outboxStateSchema = z.object({
  /** How many events wait to be published. */
  pending: z.int(),
  /** For how long the oldest of them has been waiting, in seconds. */
  oldestSeconds: z.number(),
  /** How many the broker has refused for good. */
  setAside: z.int(),
})
export type OutboxState = z.infer<typeof outboxStateSchema>

const refusedEventSchema = z.object({
  id: z.uuid(),
  type: z.string(),
  tries: z.int(),
  error: z.string(),
  /** When it was set aside; null while it is still tried. */
  setAsideAt: z.iso.datetime().nullable(),
})

export const outboxSchema = outboxStateSchema.extend({ refused: z.array(refusedEventSchema) })

/** The oldest 500 events that the broker has refused. */
export async function listRefused(db: Database): Promise<z.infer<typeof refusedEventSchema>[]> {
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
