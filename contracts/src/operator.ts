import { z } from 'zod'

/** A dead letter, for operators: an event that a handler could not handle. */
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

/** The response to `GET /admin/dead-letters`. */
export const deadLettersSchema = z.object({ deadLetters: z.array(deadLetterSchema) })

/** The state of an outbox, for metrics and operators. */
export const outboxStateSchema = z.object({
  /** The number of events to be published. */
  pending: z.int(),
  /** The age of the oldest of them, in seconds. */
  oldestSeconds: z.number(),
  /** The number of events that were set aside. */
  setAside: z.int(),
})
export type OutboxState = z.infer<typeof outboxStateSchema>

/** An event that the broker has rejected. */
export const rejectedEventSchema = z.object({
  id: z.uuid(),
  type: z.string(),
  tries: z.int(),
  error: z.string(),
  /** Null while it is still retried. */
  setAsideAt: z.iso.datetime().nullable(),
})
export type RejectedEvent = z.infer<typeof rejectedEventSchema>

/** The response to `GET /admin/outbox`. */
export const outboxSchema = outboxStateSchema.extend({ refused: z.array(rejectedEventSchema) })

/** The response to `POST /admin/outbox/republish`. */
export const republishedSchema = z.object({
  /** The number of events in the range. */
  events: z.int(),
})

/** The response to `POST /admin/reseal`. */
export const resealedSchema = z.object({
  resealed: z.int(),
  /** Rows still sealed under older keys: call again while there are any. */
  left: z.int(),
  /** Rows that none of the keys opens. */
  unreadable: z.int(),
})
export type Resealed = z.infer<typeof resealedSchema>
