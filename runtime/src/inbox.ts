import { randomUUIDv7 } from 'node:crypto'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { desc, eq, isNull, sql } from 'drizzle-orm'
import { integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Bus, Delivery } from './bus.ts'
import type { Database, Transaction } from './db.ts'
import { DomainError, isConnectionError } from './errors.ts'
import type { Context } from './service.ts'
import { inTrace } from './telemetry.ts'

/** Which events a handler has dealt with: the guarantee that each takes effect once. */
export const inbox = pgTable(
  'inbox',
  {
    handler: text().notNull(),
    eventId: uuid('event_id').notNull(),
    handledAt: timestamp('handled_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.handler, table.eventId] })],
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

/** A dead letter as an operator reads it. */
export const deadLetterSchema = z.object({
  id: z.uuid(),
  handler: z.string(),
  subject: z.string(),
  payload: z.string(),
  error: z.string(),
  deliveries: z.int(),
  failedAt: z.iso.datetime(),
  replayedAt: z.iso.datetime().nullable(),
})
export type DeadLetter = z.infer<typeof deadLetterSchema>

/**
 * What a consumer that is new to a running system is to hear of first: what happens from now on, or all that the broker
 * still has (30 days). A new kind of mail begins now; what keeps a table true begins at the beginning.
 */
export interface Start {
  from: 'now' | 'beginning'
}

export interface Consumer<Config> extends Start {
  definition: EventDefinition
  handle(tx: Transaction, event: CloudEvent, context: Context<Config>): Promise<void>
}

/**
 * One line in a service's table of consumers. `handle` runs in the transaction that also marks the event as handled, so
 * it takes effect once, however often the event arrives; it must do nothing outside of that transaction.
 */
export function consume<Config, Type extends string, Data>(
  definition: EventDefinition<Type, Data>,
  { from }: Start,
  handle: (tx: Transaction, event: CloudEvent<Type, Data>, context: Context<Config>) => Promise<void>,
): Consumer<Config> {
  return { definition, from, handle }
}

/** The durable's name, which is the handler's name in the inbox: `enrollment__payment-completed`. */
export function handlerName(service: string, definition: EventDefinition): string {
  return `${service}__${definition.type.replaceAll('.', '-')}`
}

/** Marks the event as handled and handles it, in `tx`. @returns false where it was handled before. */
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

function describe(error: unknown): string {
  if (error instanceof z.ZodError) return `It does not fit its contract:\n${z.prettifyError(error)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Starts a durable consumer for each line of the table. */
export function startConsumers<Config>(
  consumers: Consumer<Config>[],
  bus: Bus,
  context: Context<Config>,
): { stop(): Promise<void> }[] {
  const delays = context.config.CONSUMER_RETRY_DELAYS
  const lastDelay = delays.at(-1) ?? 1_000
  return consumers.map((consumer) => {
    const handler = handlerName(context.name, consumer.definition)
    const log = context.log.child({ handler })

    async function bury(delivery: Delivery, error: unknown): Promise<void> {
      await context.db.insert(deadLetters).values({
        id: randomUUIDv7(),
        handler,
        subject: delivery.subject,
        // PostgreSQL's text cannot hold NUL.
        payload: delivery.payload.replaceAll('\u0000', '\ufffd'),
        error: describe(error).replaceAll('\u0000', '\ufffd'),
        deliveries: delivery.attempt,
      })
      delivery.giveUp()
      context.metrics.eventsHandled.inc({ handler, outcome: 'dead' })
      log.error({ err: error, deliveries: delivery.attempt }, 'event became a dead letter')
    }

    /** Where not even the dead letter can be written, the delivery comes again. */
    async function buryOrRetry(delivery: Delivery, error: unknown, delayMs: number): Promise<void> {
      try {
        await bury(delivery, error)
      } catch (cause) {
        log.warn({ err: cause }, 'dead letter could not be written yet')
        delivery.retry(delayMs)
      }
    }

    async function handle(delivery: Delivery): Promise<void> {
      let event: CloudEvent
      try {
        event = parseEvent(consumer.definition, delivery.payload)
      } catch (error) {
        await buryOrRetry(delivery, error, 1_000)
        return
      }
      await inTrace(event.traceparent, undefined, async () => {
        try {
          const first = await context.db.transaction((tx) => handleOnce(tx, consumer, handler, event, context))
          delivery.done()
          context.metrics.eventsHandled.inc({ handler, outcome: first ? 'done' : 'duplicate' })
        } catch (error) {
          const delay = delays[delivery.attempt - 1]
          // A database that is away is nobody's fault: such a delivery never becomes a dead letter.
          if (delay !== undefined || isConnectionError(error)) {
            delivery.retry(delay ?? lastDelay)
            context.metrics.eventsHandled.inc({ handler, outcome: 'retry' })
            log.warn({ err: error, eventId: event.id, attempt: delivery.attempt }, 'event will be tried again')
            return
          }
          await buryOrRetry(delivery, error, lastDelay)
        }
      })
    }

    return bus.consume(handler, consumer.definition.stream, consumer.definition.type, handle)
  })
}

/** The newest 500 dead letters, those that wait for an operator only unless `all`. */
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
 * Hands a dead letter to its handler once more, in the same transaction that marks it as replayed.
 * @throws DomainError `dead_letter_not_found`, or `validation_failed` while it still does not fit its contract.
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
      throw new DomainError('validation_failed', describe(error))
    }
    await inTrace(event.traceparent, undefined, () => handleOnce(tx, consumer, letter.handler, event, context))
    await tx
      .update(deadLetters)
      .set({ replayedAt: sql`now()` })
      .where(eq(deadLetters.id, id))
  })
}
