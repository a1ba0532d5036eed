import { z } from 'zod'

/** The services that publish, each with one stream of its own. */
export type Producer = 'identity' | 'enrollment' | 'billing' | 'notifications'

/** CloudEvents 1.0 in JSON (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md), as published on NATS. */
export interface CloudEvent<Type extends string = string, Data = unknown> {
  specversion: '1.0'
  /** UUIDv7; also the broker's `Nats-Msg-Id` and the key that consumers deduplicate by. */
  id: string
  /** `/` and the producing service: `/billing`. */
  source: string
  /** Also the NATS subject. */
  type: Type
  /** The id of the thing the event is about. */
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
  /** The broker's stream that holds it. */
  stream: string
  /** Whether it is kept in the broker's memory alone and for minutes, and by its producer no longer than until it is out. */
  secret: boolean
  /** Parses a whole envelope as it came off the wire. */
  schema: z.ZodType<CloudEvent<Type, Data>>
  data: z.ZodType<Data>
}

/** The event type of a definition, as a consumer's handler receives it. */
export type EventOf<D> = D extends EventDefinition<infer Type, infer Data> ? CloudEvent<Type, Data> : never

/**
 * Declares an event: its type (which is its NATS subject), who publishes it and the shape of its data. A breaking change
 * is a new definition under a new type (`payment.completed.v2`); unknown fields are dropped, so adding one is not breaking.
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

/** As `defineEvent`, for what must not be kept: it travels on the producer's secret stream. */
export function defineSecretEvent<const Type extends string, Data>(
  producer: Producer,
  type: Type,
  data: z.ZodType<Data>,
): EventDefinition<Type, Data> {
  return { ...defineEvent(producer, type, data), stream: `${producer}_secrets`, secret: true }
}
