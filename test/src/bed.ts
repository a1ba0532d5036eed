import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { allEvents } from '@robokids/contracts/events'
import { natsUsers } from '@robokids/local/compose-nats-users'
import { ensureDatabase } from '@robokids/local/postgres'
import { root } from '@robokids/local/settings'
import type { Bus } from '@robokids/runtime/bus'
import { newEvent } from '@robokids/runtime/outbox'
import { startService, type RunningService, type Service } from '@robokids/runtime/service'
import { operatorUser } from '@robokids/runtime/streams'
import { inject } from 'vitest'
import { migratedDatabase } from './databases.ts'
import './global-setup.ts'
import { testNats, throwIfRefused, type TestNats } from './infrastructure.ts'
import { connectAsOperator } from './operator-bus.ts'

/**
 * Calls `check` until it returns something truthy without throwing, and returns that.
 * @throws the last error once `timeoutMs` has passed
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, undefined | false | null | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  // Increasing pauses leave the processor to what is waited for.
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 150)) {
    let problem: unknown
    try {
      const answer = await check()
      if (answer) return answer as Exclude<T, undefined | false | null | 0 | ''>
      problem = new Error(`Not within ${timeoutMs} ms: ${check.toString().slice(0, 300)}`)
    } catch (error) {
      problem = error
    }
    if (performance.now() > deadline) throw problem
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** A test's view of the bus: publishes in place of the producing service, and records all events. */
export class TestBus {
  readonly #bus: Bus
  readonly #events: CloudEvent[]

  constructor(bus: Bus, events: CloudEvent[]) {
    this.#bus = bus
    this.#events = events
  }

  /** Publishes a new event. */
  async publish<Data>(
    definition: EventDefinition<string, Data>,
    subject: string,
    data: NoInfer<Data>,
  ): Promise<CloudEvent<string, Data>> {
    const event = newEvent(definition, subject, data)
    const [outcome] = await this.#bus.publish([event])
    if (outcome && 'error' in outcome) throw outcome.error
    return event
  }

  /** Publishes an envelope unchanged: a copy, or an invalid one. The broker's deduplication is bypassed. */
  async republish(event: CloudEvent): Promise<void> {
    await this.#bus.publishUnchecked(event.type, JSON.stringify(event))
  }

  /** Publishes any text to a subject. */
  async publishRaw(subject: string, payload: string): Promise<void> {
    await this.#bus.publishUnchecked(subject, payload)
  }

  /** Events of this definition so far, including repeated deliveries. */
  all<Data>(
    definition: EventDefinition<string, Data>,
    where: (data: Data) => boolean = () => true,
  ): CloudEvent<string, Data>[] {
    return (this.#events as CloudEvent<string, Data>[]).filter(
      (event) => event.type === definition.type && where(event.data),
    )
  }

  /** Waits for an event. */
  async seen<Data>(
    definition: EventDefinition<string, Data>,
    where: (data: Data) => boolean = () => true,
    timeoutMs?: number,
  ): Promise<CloudEvent<string, Data>> {
    return eventually(() => this.all(definition, where)[0], timeoutMs)
  }
}

/** An environment for services: its own NATS and databases, all removed at the end. */
export interface TestBed {
  nats: TestNats
  bus: TestBus
  /** Creates an empty database. @returns its URL */
  database(): Promise<string>
  /**
   * Starts a service on a free port. Without `DATABASE_URL` in `env` it gets a new database; with the URL of another
   * instance it becomes a second process of the same service. At the broker it is the user of its name, if there is one: a test's
   * own service is the operator.
   */
  start<Config>(
    service: Service<Config>,
    env?: Record<string, string>,
  ): Promise<RunningService<Config> & { databaseUrl: string }>
  stop(): Promise<void>
}

/** @param natsPassword of all users of the broker; default: the local one */
export async function testBed({ natsPassword }: { natsPassword?: string } = {}): Promise<TestBed> {
  const nats = await testNats(natsPassword)
  const bus = await connectAsOperator(nats, 'test')
  const events: CloudEvent[] = []
  // Never '>': it also matches reply subjects of a consumer that is gone, and the broker would keep sending there.
  const subjects = allEvents.map((definition) => definition.type)
  bus.watch(subjects, (event) => {
    if (typeof event === 'object' && event !== null && 'specversion' in event) events.push(event)
  })
  const running: RunningService<never>[] = []
  const newName = () => `test_${randomUUIDv7().replaceAll('-', '')}`
  const database = () => ensureDatabase(inject('postgresUrl'), newName())
  /** Only a real service's migrations stay what they are; tests make up others. */
  const databaseFor = ({ migrations }: Pick<Service<never>, 'migrations'>) => {
    if (migrations === undefined) return ''
    return migrations.startsWith(join(root, 'services'))
      ? migratedDatabase(inject('postgresUrl'), newName(), migrations)
      : database()
  }

  return {
    nats,
    bus: new TestBus(bus, events),
    database,
    async start(service, env = {}) {
      const databaseUrl = env['DATABASE_URL'] ?? (await databaseFor(service))
      const started = await startService(service, {
        APP_ENV: 'local',
        NATS_URL: nats.url,
        NATS_USER: natsUsers.find((user) => user === service.name) ?? operatorUser,
        NATS_PASSWORD: nats.password,
        NATS_STREAM_MEGABYTES: '16',
        LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
        CONSUMER_RETRY_DELAYS: '50,100,200,400,800,1600,3200',
        ...env,
        DATABASE_URL: databaseUrl,
      })
      running.push(started as unknown as RunningService<never>)
      return { ...started, databaseUrl }
    },
    async stop() {
      await Promise.all(running.map((service) => service.stop()))
      await bus.close()
      await nats.stop()
      throwIfRefused(nats)
    },
  }
}
