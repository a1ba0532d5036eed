import { execFile } from 'node:child_process'
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allEvents, streams } from '@robokids/contracts/events'
import { seasonOpened } from '@robokids/contracts/enrollment'
import { connectBus, type Bus } from '@robokids/runtime/bus'
import { ConfigError } from '@robokids/runtime/config'
import { newEvent } from '@robokids/runtime/outbox'
import { applyStreams, describeStreams, ensureStreams, type StreamLimits } from '@robokids/runtime/streams'
import { createLogger } from '@robokids/runtime/telemetry'
import { inContainers, testNats, type TestNats } from '@robokids/test/infrastructure'
import { connectAsOperator } from '@robokids/test/operator-bus'
import { connect, ErrorCode, nanos, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** What the users of deploy/nats/users.conf may do, and what not, at a real server and with a password of their own. */

const password = randomBytes(24).toString('base64url')
const limits: StreamLimits = { replicas: 1, days: 30, megabytes: 16 }
const connections: NatsConnection[] = []
let nats: TestNats
let operator: Bus
beforeAll(async () => {
  nats = await testNats(password)
  operator = await connectAsOperator(nats, 'test')
})
afterAll(async () => {
  await Promise.all([operator.close(), ...connections.map((connection) => connection.close())])
  await nats.stop()
})

async function connectAs(user: string): Promise<NatsConnection> {
  const connection = await connect({ servers: nats.url, user, pass: password, inboxPrefix: `_INBOX.${user}` })
  connections.push(connection)
  return connection
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'allowed',
    (error: { code?: string }) => error.code,
  )
const refused: string = ErrorCode.PermissionsViolation
/** The answer of the broker's own checks to a request that the user's rights allow. */
async function answerTo(user: NatsConnection, subject: string, body: object): Promise<{ error?: { code: number } }> {
  return (await user.request(`$JS.API.${subject}`, JSON.stringify(body))).json()
}

describe('a user of the broker', () => {
  it('is not admitted without a password, with a wrong one, or under an unknown name', async () => {
    const wrong = [
      {},
      { user: 'billing' },
      { user: 'billing', pass: '' },
      { user: 'billing', pass: 'local-nats' },
      { user: 'somebody', pass: password },
      { user: '', pass: password },
    ]
    for (const credentials of wrong)
      expect([credentials, await codeOf(connect({ servers: nats.url, ...credentials }))]).toEqual([
        credentials,
        ErrorCode.AuthorizationViolation,
      ])
  })

  it('who is refused ends the start of a process with an error that names the settings', async () => {
    const options = { url: nats.url, name: 'billing', limits, ackWaitMs: 30_000, log: createLogger('test', 'silent') }
    const starting = connectBus({ ...options, user: 'billing', password: 'another' })
    await expect(starting).rejects.toThrow(ConfigError)
    await expect(starting).rejects.toThrow(/NATS_USER, NATS_PASSWORD: the broker does not admit the user billing/)
  })

  it.each(['identity', 'enrollment', 'billing', 'notifications'] as const)(
    'publishes and stores the events of %s alone',
    async (producer) => {
      const user = await connectAs(producer)
      const manager = await user.jetstreamManager({ checkAPI: false })
      expect(await ensureStreams(manager, producer, limits)).toEqual([])
      const published = await Promise.all(
        allEvents.map(async ({ type, producer: owner, stream }) => {
          const outcome = await codeOf(user.jetstream().publish(type, '{}'))
          return [type, outcome, owner === producer ? 'allowed' : refused, stream] as const
        }),
      )
      for (const [type, outcome, expected] of published) expect([type, outcome]).toEqual([type, expected])
    },
  )
})

describe('enrollment', () => {
  it('may not read, change, empty or delete a stream, its own included', async () => {
    const user = await connectAs('enrollment')
    const requests = [
      ...['identity', 'billing', 'enrollment'].flatMap((stream) => [
        `STREAM.MSG.GET.${stream}`,
        `DIRECT.GET.${stream}`,
        `STREAM.UPDATE.${stream}`,
        `STREAM.PURGE.${stream}`,
        `STREAM.DELETE.${stream}`,
        `STREAM.MSG.DELETE.${stream}`,
        `STREAM.SNAPSHOT.${stream}`,
        `STREAM.RESTORE.${stream}`,
        `CONSUMER.CREATE.${stream}`,
        `CONSUMER.CREATE.${stream}.mine`,
        `CONSUMER.CREATE.${stream}.mine.user.signed_up`,
        `CONSUMER.DURABLE.CREATE.${stream}.mine`,
      ]),
      'STREAM.CREATE.identity',
      'STREAM.CREATE.mine',
      'CONSUMER.CREATE.identity_secrets.enrollment__code-issued.code.issued',
      // Consumers of others, and its own for another event.
      'CONSUMER.MSG.NEXT.enrollment.billing__registration-rejected',
      'CONSUMER.DELETE.enrollment.billing__registration-rejected',
      'CONSUMER.DELETE.billing.enrollment__payment-completed',
      'CONSUMER.CREATE.billing.enrollment__payment-completed.subscription.renewed',
      'CONSUMER.CREATE.billing.enrollment__payment-completed',
      'ACCOUNT.PURGE.mine',
    ]
    for (const request of requests)
      expect([request, await codeOf(user.request(`$JS.API.${request}`, '{}'))]).toEqual([request, refused])
    const acknowledgment = '$JS.ACK.enrollment.billing__registration-rejected.1.1.1.1.0'
    expect(await codeOf(user.request(acknowledgment, '+TERM'))).toBe(refused)
    expect((await operator.streamState('enrollment')).lastSequence).toBeGreaterThan(0)
  })

  it('may not receive other events by a request that names what it may', async () => {
    const user = await connectAs('enrollment')
    const name = 'enrollment__payment-completed'
    const consumer = { durable_name: name, ack_policy: 'explicit' }
    const [refunds, all] = ['payment.refunded', '>']
    for (const filters of [{ filter_subject: refunds }, { filter_subject: all }, { filter_subjects: [refunds] }, {}]) {
      const body = { stream_name: 'billing', config: { ...consumer, ...filters } }
      const { error } = await answerTo(user, `CONSUMER.CREATE.billing.${name}.payment.completed`, body)
      expect([filters, error?.code]).toEqual([filters, 400])
    }
    const elsewhere = { stream_name: 'identity', config: { ...consumer, filter_subject: 'payment.completed' } }
    const crossed = await answerTo(user, `CONSUMER.CREATE.billing.${name}.payment.completed`, elsewhere)
    expect(crossed.error?.code).toBe(400)
    // A stream of this name exists, so that it is not created with the events of another.
    for (const name of ['enrollment', 'identity']) {
      const copying = { name, subjects: ['season.opened'], sources: [{ name: 'identity' }], storage: 'file' }
      expect((await answerTo(user, 'STREAM.CREATE.enrollment', copying)).error?.code).toBe(400)
    }
  })

  it('may subscribe to its own inbox alone', async () => {
    const user = await connectAs('enrollment')
    for (const subject of ['_INBOX.billing.>', '_INBOX.>', '>', 'payment.completed', 'registration.held', '$JS.>']) {
      const subscribing = Promise.withResolvers<string>()
      user.subscribe(subject, { callback: (error) => subscribing.resolve(error?.code ?? 'a message') })
      await user.flush()
      await operator.publishUnchecked('payment.completed', '{}')
      expect([subject, await subscribing.promise]).toEqual([subject, refused])
    }
  })
})

describe('the BFF', () => {
  it('watches the events of pages, and publishes nothing', async () => {
    const user = await connectAs('bff')
    const received = Promise.withResolvers<string>()
    user.subscribe('payment.completed', {
      callback: (error, message) => received.resolve(error?.code ?? message.string()),
    })
    await user.flush()
    await operator.publishUnchecked('payment.completed', '{"watched":true}')
    expect(await received.promise).toBe('{"watched":true}')
    for (const subject of ['payment.completed', '$JS.API.STREAM.INFO.billing', '$JS.API.INFO'])
      expect([subject, await codeOf(user.request(subject, '{}'))]).toEqual([subject, refused])
  })
})

describe('the streams', () => {
  const change = async <Result>(work: (manager: Awaited<ReturnType<NatsConnection['jetstreamManager']>>) => Result) =>
    work(await (await connectAs('operator')).jetstreamManager())

  it('get more from a setting or a newer version, and nothing less until an operator says so', async () => {
    await change(async (manager) => {
      const config = async (stream = 'notifications') => (await manager.streams.info(stream)).config
      const before = await config()
      await manager.streams.update('notifications', { ...before, subjects: [...before.subjects, 'mail.of_tomorrow'] })

      expect(await ensureStreams(manager, 'operator', { ...limits, days: 60, megabytes: 20 })).toEqual([
        'the stream notifications has, unknown to this version, mail.of_tomorrow',
      ])
      const raised = { max_age: nanos(60 * 86_400_000), max_bytes: 20 * 1024 * 1024 }
      expect(await config()).toMatchObject({ ...raised, subjects: [...before.subjects, 'mail.of_tomorrow'] })
      // The secret one has limits of its own.
      expect(await config('identity_secrets')).toMatchObject({ max_age: nanos(600_000), storage: 'memory' })

      expect(await ensureStreams(manager, 'operator', limits)).toContain(
        'the stream billing keeps events 60 days, not 30 days',
      )
      expect(await config()).toMatchObject(raised)
      const shown = await describeStreams(manager, limits)
      expect(shown.map(({ stream }) => stream)).toEqual(streams().map(({ name }) => name))
      expect(shown.at(-1)?.differences).toContain('has, unknown to this version, mail.of_tomorrow')

      expect(await applyStreams(manager, limits)).toContain(
        'the stream notifications has, unknown to this version, mail.of_tomorrow',
      )
      const { max_age, max_bytes, discard, subjects } = await config()
      expect({ max_age, max_bytes, discard, subjects }).toEqual({
        max_age: nanos(30 * 86_400_000),
        max_bytes: 16 * 1024 * 1024,
        discard: 'new',
        subjects: before.subjects,
      })
      expect(await applyStreams(manager, limits)).toEqual([])
    })
  })

  it('reject new events when they are full, as a fault of the broker and not of the event', async () => {
    const event = newEvent(seasonOpened, randomUUIDv7(), { filler: 'x'.repeat(600_000) } as never)
    await change(async (manager) => {
      await applyStreams(manager, { ...limits, megabytes: 1 })
      const { lastSequence } = await operator.streamState('enrollment')
      const outcomes = await operator.publish([event, { ...event, id: randomUUIDv7() }])
      expect(outcomes).toMatchObject([{ sequence: lastSequence + 1 }, { fault: 'broker' }])
      await applyStreams(manager, limits)
    })
    expect(await operator.publish([{ ...event, id: randomUUIDv7() }])).toMatchObject([{ sequence: expect.any(Number) }])
  })
})

// The image has a shell; here it is the machine's.
describe.skipIf(process.platform === 'win32' || inContainers)('start.sh', () => {
  const script = fileURLToPath(new URL('../../deploy/nats/start.sh', import.meta.url))
  const users = ['IDENTITY', 'ENROLLMENT', 'BILLING', 'NOTIFICATIONS', 'BFF', 'OPERATOR']
  /** Lets nats-server check its configuration, without starting. */
  const check = (differences: Record<string, string>) =>
    new Promise<{ code: unknown; printed: string }>((resolve) => {
      const passwords = Object.fromEntries(users.map((user) => [`NATS_PASSWORD_${user}`, password]))
      const env = { PATH: process.env['PATH'], ...passwords, ...differences }
      execFile('sh', [script, '-t'], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, printed: stdout + stderr }),
      )
    })

  it('takes passwords of any spelling from the environment or from files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'robokids-nats-'))
    const file = join(folder, 'password')
    await writeFile(file, '12e5k/+==\n')
    for (const spelling of ['//comment', '12345', '9e12abc', '-a', 'true', '5k'])
      expect([spelling, await check({ NATS_PASSWORD_BFF: spelling })]).toMatchObject([spelling, { code: 0 }])
    const fromFile = { NATS_PASSWORD_BILLING: '', NATS_PASSWORD_BILLING_FILE: file }
    expect(await check(fromFile)).toMatchObject({ code: 0 })
    expect(await check({ NATS_PASSWORD_BILLING_FILE: file })).toMatchObject({
      code: 1,
      printed: 'NATS_PASSWORD_BILLING and NATS_PASSWORD_BILLING_FILE are both set: leave one out.\n',
    })
    await rm(folder, { recursive: true })
  })

  it('starts no server with a user whose password is missing, or cannot be quoted', async () => {
    for (const wrong of ['', 'a"b', 'a b', 'a\\b', "a'b"]) {
      const { code, printed } = await check({ NATS_PASSWORD_IDENTITY: wrong })
      expect([wrong, code, printed]).toEqual([wrong, 1, expect.stringMatching(/^NATS_PASSWORD_IDENTITY /)])
    }
  })
})
