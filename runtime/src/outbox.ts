import { randomUUIDv7 } from 'node:crypto'
import { type CloudEvent, type EventDefinition } from '@robokids/contracts/event'
import { allEvents } from '@robokids/contracts/events'
import { asc, inArray, isNull, sql } from 'drizzle-orm'
import { bigint, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import type { Bus } from './bus.ts'
import type { Database, Transaction } from './db.ts'
import { currentTraceparent, type Metrics } from './telemetry.ts'

/** The events that a service's transactions have published, in the database until the broker has them. */
export const outbox = pgTable('outbox', {
  position: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
  id: uuid().notNull().unique(),
  type: text().notNull(),
  envelope: jsonb().$type<CloudEvent>().notNull(),
  publishedAt: timestamp('published_at', { withTimezone: true }),
})

/** Puts data into its envelope. Use `publish`; this alone is for a statement that writes its own `outbox` row. */
export function newEvent<Data>(
  definition: EventDefinition<string, Data>,
  subject: string,
  data: NoInfer<Data>,
): CloudEvent<string, Data> {
  return {
    specversion: '1.0',
    id: randomUUIDv7(),
    source: `/${definition.producer}`,
    type: definition.type,
    subject,
    time: Temporal.Now.instant().toString({ fractionalSecondDigits: 3 }),
    traceparent: currentTraceparent(),
    data,
  }
}

/**
 * Publishes an event as part of `tx`: it goes out if and only if the transaction commits, at least once.
 * @param subject the id of the thing the event is about.
 */
export async function publish<Data>(
  tx: Transaction,
  definition: EventDefinition<string, Data>,
  subject: string,
  data: NoInfer<Data>,
): Promise<void> {
  const envelope = newEvent(definition, subject, data)
  await tx.insert(outbox).values({ id: envelope.id, type: envelope.type, envelope })
}

const batchSize = 200
const secretTypes = new Set(allEvents.filter((event) => event.secret).map((event) => event.type))

/**
 * Publishes what waits in the outbox, oldest first, and marks it (deletes it, where it is a secret) once the broker has
 * acknowledged it. A crash in between publishes again; the broker and the consumers' inboxes drop the copy. It looks for
 * unpublished rows, never for positions above the last one: positions become visible out of order.
 * @returns whether more may be waiting.
 */
export async function relayBatch(db: Database, bus: Bus, metrics: Metrics): Promise<boolean> {
  const rows = await db
    .select({ id: outbox.id, envelope: outbox.envelope })
    .from(outbox)
    .where(isNull(outbox.publishedAt))
    .orderBy(asc(outbox.position))
    .limit(batchSize)
  if (rows.length === 0) return false
  await bus.publish(rows.map((row) => row.envelope))
  const { secret = [], kept = [] } = Object.groupBy(rows, ({ envelope }) =>
    secretTypes.has(envelope.type) ? 'secret' : 'kept',
  )
  const ids = (some: typeof rows) => some.map((row) => row.id)
  if (secret.length > 0) await db.delete(outbox).where(inArray(outbox.id, ids(secret)))
  if (kept.length > 0) {
    await db
      .update(outbox)
      .set({ publishedAt: sql`now()` })
      .where(inArray(outbox.id, ids(kept)))
  }
  for (const row of rows) metrics.outboxPublished.inc({ type: row.envelope.type })
  return rows.length === batchSize
}

/** How many events wait to be published. */
export async function countUnpublished(db: Database): Promise<number> {
  return db.$count(outbox, isNull(outbox.publishedAt))
}
