import { streams, type Stream } from '@robokids/contracts/events'
import {
  DiscardPolicy,
  nanos,
  NatsError,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from 'nats'

/** The user who may do everything at the broker, and alone may change a stream that exists: docs/adr/0038-broker-rights.md. */
export const operatorUser = 'operator'

/** The settings of all streams. */
export interface StreamLimits {
  /** The number of servers that store each stream. */
  replicas: number
  /** How long events are kept. */
  days: number
  /** The size of each stream. */
  megabytes: number
}

const day = 24 * 60 * 60 * 1000
const megabyte = 1024 * 1024
/** Secret events are kept in memory, for as long as it takes to send a code. */
const secretLimits = { ageMs: 10 * 60 * 1000, megabytes: 64 }

type Limited = Pick<StreamConfig, 'subjects' | 'num_replicas' | 'max_age' | 'max_bytes' | 'discard'>

function wantedConfig({ subjects, secret }: Stream, { replicas, days, megabytes }: StreamLimits): Limited {
  return {
    subjects,
    num_replicas: replicas,
    max_age: nanos(secret ? secretLimits.ageMs : days * day),
    max_bytes: (secret ? secretLimits.megabytes : megabytes) * megabyte,
    // A full stream rejects new events, which stay in the outbox. The other policy would drop old ones, also those that a
    // consumer has not had yet.
    discard: DiscardPolicy.New,
  }
}

/** Returns the larger limit; 0 and -1 mean that there is none. */
const largerLimit = (one: number, other: number) => (one <= 0 ? one : other <= 0 ? other : Math.max(one, other))

/** Returns what a stream gets from a version that may be older than the one that made it: more, but never less. */
function extended(existing: Limited, wanted: Limited): Limited {
  return {
    subjects: [...new Set([...existing.subjects, ...wanted.subjects])],
    num_replicas: Math.max(existing.num_replicas, wanted.num_replicas),
    max_age: largerLimit(existing.max_age, wanted.max_age),
    max_bytes: largerLimit(existing.max_bytes, wanted.max_bytes),
    discard: wanted.discard,
  }
}

/** Returns the differences between two configurations as text: `max_age: 30 days, not 14 days`. */
function differences(actual: Limited, wanted: Limited): string[] {
  const without = (these: string[], those: string[]) => these.filter((subject) => !those.includes(subject))
  const lists = [
    ['lacks', without(wanted.subjects, actual.subjects)],
    ['has, unknown to this version,', without(actual.subjects, wanted.subjects)],
  ] as const
  const days = (ns: number) => (ns <= 0 ? 'without end' : `${ns / nanos(day)} days`)
  const megabytes = (bytes: number) => (bytes <= 0 ? 'without limit' : `${bytes / megabyte} MB`)
  const values = [
    ['has replicas:', actual.num_replicas, wanted.num_replicas],
    ['keeps events', days(actual.max_age), days(wanted.max_age)],
    ['has a size', megabytes(actual.max_bytes), megabytes(wanted.max_bytes)],
    ['when full discards', actual.discard, wanted.discard],
  ] as const
  return [
    ...lists.filter(([, subjects]) => subjects.length > 0).map(([what, subjects]) => `${what} ${subjects.join(', ')}`),
    ...values.filter(([, is, should]) => is !== should).map(([what, is, should]) => `${what} ${is}, not ${should}`),
  ]
}

/** @throws if the broker does not respond. */
async function infoOf(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.code === 404) return undefined
    throw error
  }
}

/** Returns the streams that a user of the broker creates: a service its own, the operator all. */
function streamsOf(user: string): Stream[] {
  return streams().filter(({ producer }) => user === operatorUser || user === producer)
}

/**
 * Creates the missing streams of a user, and extends existing ones: adds subjects, raises limits. It never removes or lowers
 * anything, because a newer version may be running. Only the operator may extend: with that right, a service could have
 * another's events copied into its stream.
 * @returns what could not be changed and what was left as it is, as text.
 */
export async function ensureStreams(manager: JetStreamManager, user: string, limits: StreamLimits): Promise<string[]> {
  const left: string[] = []
  for (const stream of streamsOf(user)) {
    const wanted = wantedConfig(stream, limits)
    let existing = (await infoOf(manager, stream.name))?.config
    if (!existing) {
      const storage = stream.secret ? StorageType.Memory : StorageType.File
      const added = { name: stream.name, ...wanted, storage, duplicate_window: nanos(10 * 60 * 1000) }
      existing = (await manager.streams.add(added)).config
    }
    const next = extended(existing, wanted)
    const lacking = differences(existing, next)
    if (lacking.length > 0 && user === operatorUser) await manager.streams.update(stream.name, { ...existing, ...next })
    const remaining = user === operatorUser ? differences(next, wanted) : differences(existing, wanted)
    left.push(...remaining.map((difference) => `the stream ${stream.name} ${difference}`))
  }
  return left
}

/** Keys that the copies of a process claim, each once and for some time. */
export interface Claims {
  /** Letters, digits and dashes. */
  name: string
  forMs: number
}

const maxClaimsMegabytes = 64

/** Returns the subject of the messages between the copies of a process. */
export const copiesSubject = (process: string, topic: string) => `copies.${process}.${topic}`
export const claimsSubject = (process: string, { name }: Claims, key: string) => `claims.${process}.${name}.${key}`
export const claimsStream = (process: string, { name }: Claims) => `${process}_${name}`

/** Creates the stream that stores a process's claims, one message for each key. */
export async function ensureClaims(
  manager: JetStreamManager,
  process: string,
  claims: Claims,
  { replicas }: StreamLimits,
): Promise<void> {
  await manager.streams.add({
    name: claimsStream(process, claims),
    subjects: [claimsSubject(process, claims, '*')],
    storage: StorageType.File,
    num_replicas: replicas,
    max_age: nanos(claims.forMs),
    max_bytes: maxClaimsMegabytes * megabyte,
    max_msgs_per_subject: 1,
    duplicate_window: nanos(Math.min(claims.forMs, 2 * 60 * 1000)),
    discard: DiscardPolicy.New,
  })
}

/** A stream's state, for operators. */
export interface StreamSummary {
  stream: string
  events: number
  megabytes: number
  /** Its creation and its oldest event. */
  created: string
  oldest: string | null
  /** How it differs from the settings and the events of this version. */
  differences: string[]
}

/** Returns the state of all streams that exist. */
export async function describeStreams(manager: JetStreamManager, limits: StreamLimits): Promise<StreamSummary[]> {
  const summaries: StreamSummary[] = []
  for (const stream of streams()) {
    const info = await infoOf(manager, stream.name)
    if (!info) continue
    const { config, created, state } = info
    summaries.push({
      stream: stream.name,
      events: state.messages,
      megabytes: Math.ceil(state.bytes / megabyte),
      created,
      oldest: state.messages > 0 ? state.first_ts : null,
      differences: differences(config, wantedConfig(stream, limits)),
    })
  }
  return summaries
}

/**
 * Gives all streams exactly the settings and events of this version: also removes subjects and lowers limits, with which the
 * broker deletes events. Only for an operator who knows that no process of a newer version runs.
 * @returns what was changed, as text.
 */
export async function applyStreams(manager: JetStreamManager, limits: StreamLimits): Promise<string[]> {
  const changed: string[] = []
  for (const stream of streams()) {
    const info = await infoOf(manager, stream.name)
    if (!info) continue
    const wanted = wantedConfig(stream, limits)
    const before = differences(info.config, wanted)
    if (before.length > 0) await manager.streams.update(stream.name, { ...info.config, ...wanted })
    changed.push(...before.map((difference) => `the stream ${stream.name} ${difference}`))
  }
  return changed
}
