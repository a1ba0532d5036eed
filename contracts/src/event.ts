import { z } from 'zod'

/** The services that publish events. Each has its own stream. */
export type Producer = 'identity' | 'enrollment' | 'billing' | 'notifications'

/** CloudEvents 1.0 in JSON (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md), as published on NATS. */
export interface CloudEvent<Type extends string = string, Data = unknown> {
  specversion: '1.0'
  /** UUIDv7; also the broker's `Nats-Msg-Id` and the consumers' deduplication key. */
  id: string
  /** `/` and the producer's name: `/billing`. */
  source: string
  /** Also the NATS subject. */
  type: Type
  /** The id of the record that the event is about. */
  subject: string
  /** When it happened, RFC 3339 in UTC. */
  time: string
  /** W3C trace context of the transaction that published it. */
  traceparent?: string | undefined
  data: Data
}

export interface EventDefinition<Type extends string = string, Data = unknown> {
  type: Type
  producer: Producer
  /** The broker stream that stores it. */
  stream: string
  /** Whether the broker stores it only in memory and for minutes, and the producer deletes it once it is published. */
  secret: boolean
  /** Parses a whole envelope as received from the broker. */
  schema: z.ZodType<CloudEvent<Type, Data>>
  data: z.ZodType<Data>
}

/** The type of the events of a definition, as a consumer's handler receives them. */
export type EventOf<D> = D extends EventDefinition<infer Type, infer Data> ? CloudEvent<Type, Data> : never

/**
 * Defines an event: its type (also its NATS subject), its producer and the schema of its data. A breaking change is a new
 * definition under a new type (`payment.completed.v2`); unknown fields are dropped, so adding one is not breaking.
 */
export function defineEvent<const Type extends string, Data>(
  producer: Producer,
  type: Type,
  data: z.ZodType<Data>,
): EventDefinition<Type, Data> {
  const schema = z.object({
    specversion: z.literal('1.0'),
    id: z.uuid(),
    source: z.literal(`/${producer}`),
    type: z.literal(type),
    subject: z.string().min(1),
    time: z.iso.datetime(),
    traceparent: z.string().optional(),
    data,
  }) as unknown as z.ZodType<CloudEvent<Type, Data>>
  return { type, producer, stream: producer, secret: false, data, schema }
}

/** Like `defineEvent`, for data that must not be stored: the event goes through the producer's secret stream. */
export function defineSecretEvent<const Type extends string, Data>(
  producer: Producer,
  type: Type,
  data: z.ZodType<Data>,
): EventDefinition<Type, Data> {
  return { ...defineEvent(producer, type, data), stream: `${producer}_secrets`, secret: true }
}
