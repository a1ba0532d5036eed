import { randomUUIDv7 } from 'node:crypto'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import type { DeadLetter } from '@robokids/contracts/operator'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { bigint, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Bus, Delivery } from './bus.ts'
import { instant, type Database, type Queryable, type Transaction } from './db.ts'
import { DomainError, isConnectionError, isContention } from './errors.ts'
import type { Context } from './service.ts'
import { continueTrace, inTrace } from './trace.ts'

/** The events that each handler has handled. It guarantees that each event takes effect once. */
export const inbox = pgTable(
  'inbox',
  {
    handler: text().notNull(),
    eventId: uuid('event_id').notNull(),
    handledAt: timestamp('handled_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.handler, table.eventId] })],
)

/** When each handler first started. */
const handlers = pgTable('handlers', { handler: text().primaryKey(), since: instant().notNull() })

const failedDeliveries = pgTable(
  'failed_deliveries',
  {
    handler: text().notNull(),
    sequence: bigint({ mode: 'number' }).notNull(),
    tries: integer().notNull(),
    failedAt: timestamp('failed_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.handler, table.sequence] })],
)

const deadLetters = pgTable('dead_letters', {
  id: uuid().primaryKey(),
  handler: text().notNull(),
  subject: text().notNull(),
  payload: text().notNull(),
  error: text().notNull(),
  deliveries: integer().notNull(),
  failedAt: timestamp('failed_at', { withTimezone: true }).notNull().defaultNow(),
  replayedAt: timestamp('replayed_at', { withTimezone: true }),
})

/**
 * Where a new consumer starts in a running system: with the events from now on, or with all events that the broker still has
 * (30 days). A new kind of mail starts `now`; a consumer that keeps a table up to date starts at the `beginning`.
 */
export interface StartPosition {
  from: 'now' | 'beginning'
}

export interface Consumer<Config> extends StartPosition {
  definition: EventDefinition
  handle(tx: Transaction, event: CloudEvent, context: Context<Config>): Promise<void>
}

/**
 * Defines a consumer. `handle` runs in the transaction that also marks the event as handled, so that it takes effect once,
 * however often the event is delivered; it must have no effect outside of that transaction.
 */
export function consume<Config, Type extends string, Data>(
  definition: EventDefinition<Type, Data>,
  { from }: StartPosition,
  handle: (tx: Transaction, event: CloudEvent<Type, Data>, context: Context<Config>) => Promise<void>,
): Consumer<Config> {
  return { definition, from, handle }
}

/** Returns the name of the durable, also the handler's name in the inbox: `enrollment__payment-completed`. */
export function handlerName(service: string, definition: EventDefinition): string {
  return `${service}__${definition.type.replaceAll('.', '-')}`
}

/** Marks the event as handled and handles it, in `tx`. @returns false if it was handled before. */
async function handleOnce<Config>(
  tx: Transaction,
  consumer: Consumer<Config>,
  handler: string,
  event: CloudEvent,
  context: Context<Config>,
): Promise<boolean> {
  const marked = await tx.insert(inbox).values({ handler, eventId: event.id }).onConflictDoNothing().returning()
  if (marked.length === 0) return false
  await consumer.handle(tx, event, context)
  return true
}

function parseEvent(definition: EventDefinition, payload: string): CloudEvent {
  return definition.schema.parse(JSON.parse(payload))
}

function secondsSince(time: string): number {
  return Math.max(0, Temporal.Now.instant().since(Temporal.Instant.from(time)).total('seconds'))
}

function describeError(error: unknown): string {
  if (error instanceof z.ZodError) return `The event does not match its contract:\n${z.prettifyError(error)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Returns when the handler first started, and records `startedAt` if it is new. */
async function handlerSince(
  handler: string,
  { stream }: EventDefinition,
  startedAt: Temporal.Instant,
  { db, bus }: { db: Database; bus: Bus },
): Promise<Temporal.Instant> {
  const known = () => db.select().from(handlers).where(eq(handlers.handler, handler))
  const [before] = await known()
  if (before) return before.since
  // If the durable exists, the handler is from a version without this table: not new, so none of its events are too old.
  const since = (await bus.hasDurable(handler, stream)) ? Temporal.Instant.fromEpochMilliseconds(0) : startedAt
  await db.insert(handlers).values({ handler, since }).onConflictDoNothing()
  const [row] = await known()
  if (!row) throw new Error(`The handler ${handler} was not recorded.`)
  return row.since
}

/** Starts a durable consumer for each definition. Those of a broker that is away begin when it is back. */
export function startConsumers<Config>(
  consumers: Consumer<Config>[],
  bus: Bus,
  context: Context<Config>,
): { stop(): Promise<void> }[] {
  const { db, metrics } = context
  const startedAt = Temporal.Now.instant()
  const delays = context.config.CONSUMER_RETRY_DELAYS
  const lastDelay = delays.at(-1) ?? 1_000

  function start(consumer: Consumer<Config>) {
    const { definition } = consumer
    const handler = handlerName(context.name, definition)
    const log = context.log.child({ handler })
    let since: Temporal.Instant | undefined
    const findSince = async () => (since ??= await handlerSince(handler, definition, startedAt, context))
    const thisDelivery = ({ sequence }: Delivery) =>
      and(eq(failedDeliveries.handler, handler), eq(failedDeliveries.sequence, sequence))

    /** Counts a failure of the event or its handler. @returns the delay before the next attempt; undefined if there is none. */
    async function countFailure({ sequence }: Delivery): Promise<number | undefined> {
      const [row] = await db
        .insert(failedDeliveries)
        .values({ handler, sequence, tries: 1 })
        .onConflictDoUpdate({
          target: [failedDeliveries.handler, failedDeliveries.sequence],
          set: { tries: sql`${failedDeliveries.tries} + 1`, failedAt: sql`now()` },
        })
        .returning()
      return delays[(row?.tries ?? 1) - 1]
    }

    async function deadLetter(delivery: Delivery, error: unknown): Promise<void> {
      await db.transaction(async (tx) => {
        await tx.insert(deadLetters).values({
          id: randomUUIDv7(),
          handler,
          subject: delivery.subject,
          // PostgreSQL's text cannot hold NUL.
          payload: delivery.payload.replaceAll('\u0000', '\ufffd'),
          error: describeError(error).replaceAll('\u0000', '\ufffd'),
          deliveries: delivery.attempt,
        })
        await tx.delete(failedDeliveries).where(thisDelivery(delivery))
      })
      delivery.terminate()
      metrics.eventsHandled.inc({ handler, outcome: 'dead' })
      log.error({ err: error, deliveries: delivery.attempt }, 'event became a dead letter')
    }

    function retry(delivery: Delivery, error: unknown, delayMs: number): void {
      delivery.retry(delayMs)
      metrics.eventsHandled.inc({ handler, outcome: 'retry' })
      log.warn({ err: error, attempt: delivery.attempt }, 'event will be retried')
    }

    /**
     * Schedules a retry or, after the last delay, makes the event a dead letter. An event that does not match its contract is
     * retried as well: during a roll-out, a version that understands it may start within a minute.
     */
    async function fail(delivery: Delivery, error: unknown): Promise<void> {
      try {
        // An unavailable database and contention are not the event's fault: they do not count as failed attempts.
        if (isConnectionError(error) || isContention(error)) {
          return retry(delivery, error, delays[delivery.attempt - 1] ?? lastDelay)
        }
        const delay = await countFailure(delivery)
        if (delay === undefined) await deadLetter(delivery, error)
        else retry(delivery, error, delay)
      } catch (cause) {
        log.warn({ err: cause }, 'failure of an event could not be recorded yet')
        delivery.retry(lastDelay)
      }
    }

    async function handle(delivery: Delivery): Promise<void> {
      let event: CloudEvent
      try {
        event = parseEvent(definition, delivery.payload)
      } catch (error) {
        await fail(delivery, error)
        return
      }
      if (since && Temporal.Instant.compare(Temporal.Instant.from(event.time), since) < 0) {
        delivery.done()
        metrics.eventsHandled.inc({ handler, outcome: 'before' })
        return
      }
      const entry = {
        name: `handle ${definition.type}`,
        kind: 'consumer',
        attributes: {
          'messaging.system': 'nats',
          'messaging.destination.name': definition.type,
          'messaging.consumer.group.name': handler,
          'messaging.message.id': event.id,
        },
        traceparent: event.traceparent,
        recorder: context.recorder,
      } as const
      await inTrace(entry, async (span) => {
        try {
          const first = await db.transaction((tx) => handleOnce(tx, consumer, handler, event, context))
          if (delivery.attempt > 1)
            await db
              .delete(failedDeliveries)
              .where(thisDelivery(delivery))
              .catch(() => {})
          delivery.done()
          metrics.eventsHandled.inc({ handler, outcome: first ? 'done' : 'duplicate' })
          // A retried event is counted by its outcome; its latency is that of its fault.
          if (first && delivery.attempt === 1) metrics.eventLatency.observe({ handler }, secondsSince(event.time))
        } catch (error) {
          span.fail(error)
          await fail(delivery, error)
        }
      })
    }

    const { stream, type: subject } = definition
    const isNew = consumer.from === 'now' ? { since: findSince } : {}
    return bus.consume({ durable: handler, stream, subject, ...isNew }, handle)
  }
  metrics.measure({
    everyMs: 5_000,
    async read() {
      // Without the broker nothing would answer; `broker_up` says so.
      if (!bus.connected()) return
      const readings = consumers.map(async ({ definition }) => {
        const handler = handlerName(context.name, definition)
        metrics.consumerPending.set({ handler }, await bus.pending(handler, definition.stream))
      })
      await Promise.all(readings)
    },
  })
  return consumers.map(start)
}

/** Returns the number of dead letters that were not replayed. */
export async function countDeadLetters(on: Queryable): Promise<number> {
  const { rows } = await on.query({ text: 'select count(*)::int as count from dead_letters where replayed_at is null' })
  return (rows[0] as { count: number }).count
}

/** Returns the newest 500 dead letters; without `all`, only those that were not replayed. */
export async function listDeadLetters(db: Database, all: boolean): Promise<DeadLetter[]> {
  const rows = await db
    .select()
    .from(deadLetters)
    .where(all ? undefined : isNull(deadLetters.replayedAt))
    .orderBy(desc(deadLetters.failedAt))
    .limit(500)
  return rows.map((row) => ({
    ...row,
    failedAt: row.failedAt.toISOString(),
    replayedAt: row.replayedAt?.toISOString() ?? null,
  }))
}

/**
 * Handles a dead letter again, in the transaction that marks it as replayed.
 * @throws DomainError `dead_letter_not_found`, or `validation_failed` if it still does not match its contract.
 */
export async function replayDeadLetter<Config>(
  consumers: Consumer<Config>[],
  id: string,
  context: Context<Config>,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const [letter] = await tx.select().from(deadLetters).where(eq(deadLetters.id, id)).for('update')
    const consumer = consumers.find((candidate) => handlerName(context.name, candidate.definition) === letter?.handler)
    if (!letter || !consumer) throw new DomainError('dead_letter_not_found', 'There is no such dead letter here.')
    if (letter.replayedAt) return
    let event: CloudEvent
    try {
      event = parseEvent(consumer.definition, letter.payload)
    } catch (error) {
      throw new DomainError('validation_failed', describeError(error))
    }
    await continueTrace(event.traceparent, { name: `replay ${event.type}`, kind: 'consumer' }, () =>
      handleOnce(tx, consumer, letter.handler, event, context),
    )
    await tx
      .update(deadLetters)
      .set({ replayedAt: sql`now()` })
      .where(eq(deadLetters.id, id))
  })
}
