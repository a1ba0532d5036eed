import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RegistrationView } from '@robokids/contracts/bff'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Config } from './config.ts'
import { LiveStreams, StreamCounts } from './live-streams.ts'

interface Fixture {
  streams: LiveStreams<RegistrationView>
  fetchCount: () => number
  /** Publishes an event about the registration. */
  publish: (registrationId: string) => void
  setView: (view: Partial<RegistrationView>) => void
  /** Delays all fetches until the returned function is called. */
  hold: () => () => void
  open: (registrationId: string) => { close: () => void; answered: Promise<IncomingMessage>; text: () => string }
}

/** Starts a server with the streams only, whose view the test controls. */
async function startStreams(): Promise<Fixture> {
  const http = Fastify()
  onTestFinished(() => http.close())
  let publish: Fixture['publish'] = () => {}
  let fetches = 0
  let view: Partial<RegistrationView> = { status: 'held' }
  let waiting = Promise.resolve()
  const context = {
    bus: {
      watch(_types: string[], onEvent: (event: { data: unknown }) => void) {
        publish = (registrationId) => onEvent({ data: { registrationId } })
      },
    },
    config: { STREAMS_PER_ADDRESS: 1_000 },
    log: { warn() {} },
  } as unknown as Context<Config>
  const streams = new LiveStreams<RegistrationView>(http, context, new StreamCounts(context.config), {
    async fetch(registrationId) {
      fetches += 1
      await waiting
      if (registrationId === 'unknown') throw new DomainError('registration_not_found', 'Unknown.')
      return { ...view, registrationId } as RegistrationView
    },
    events: [],
    concerns: ({ data }, id) => (data as { registrationId: string }).registrationId === id,
    partsOf: (state) => ({ state }),
    pollEveryMs: 3_000,
  })
  http.get<{ Params: { id: string } }>('/:id', (incoming, reply) => streams.stream(incoming, reply, incoming.params.id))
  await http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = http.server.address() as AddressInfo
  return {
    streams,
    fetchCount: () => fetches,
    publish: (id) => publish(id),
    setView(next) {
      view = next
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting = promise
      return resolve
    },
    open(registrationId) {
      const outgoing = request({ port, path: `/${registrationId}` })
      const answered = once(outgoing, 'response').then(([answer]) => answer as IncomingMessage)
      answered.catch(() => {})
      outgoing.on('error', () => {})
      outgoing.end()
      let text = ''
      void answered.then(
        (answer) => answer.on('data', (chunk: Buffer) => (text += chunk.toString())),
        () => {},
      )
      return { close: () => outgoing.destroy(), answered, text: () => text }
    },
  }
}

const nothing = { streams: 0, subjects: 0 }

describe('a stream', () => {
  it('that is closed before its first response leaves nothing behind and stops polling', async () => {
    const fixture = await startStreams()
    const release = fixture.hold()
    const pages = Array.from({ length: 20 }, () => fixture.open('one'))
    await vi.waitUntil(() => fixture.streams.size.streams === 20)
    for (const page of pages) page.close()
    await vi.waitUntil(() => fixture.streams.size.streams === 0)
    release()
    expect(fixture.streams.size).toEqual(nothing)
    expect(fixture.fetchCount()).toBe(1)
  })

  it('that is closed later, or never started, leaves nothing behind either', async () => {
    const fixture = await startStreams()
    const page = fixture.open('one')
    await vi.waitUntil(() => page.text().includes('event: state'))
    expect(fixture.streams.size).toEqual({ streams: 1, subjects: 1 })
    expect((await fixture.open('unknown').answered).statusCode).toBe(404)
    page.close()
    await vi.waitUntil(() => fixture.streams.size.streams === 0)
    expect(fixture.streams.size).toEqual(nothing)
  })

  it('shares its fetches with all streams of the same registration', async () => {
    const fixture = await startStreams()
    const pages = Array.from({ length: 50 }, () => fixture.open('one'))
    await vi.waitUntil(() => pages.every((page) => page.text().includes('"held"')))
    expect(fixture.fetchCount()).toBe(1)
    fixture.setView({ status: 'confirmed' })
    fixture.publish('another')
    fixture.publish('one')
    await vi.waitUntil(() => pages.every((page) => page.text().includes('"confirmed"')))
    expect(fixture.fetchCount()).toBe(2)
    expect(fixture.streams.size).toEqual({ streams: 50, subjects: 1 })
    for (const page of pages) page.close()
  })

  it('handles an event that arrives while the first fetch is in flight', async () => {
    const fixture = await startStreams()
    const release = fixture.hold()
    const page = fixture.open('one')
    await vi.waitUntil(() => fixture.fetchCount() === 1)
    fixture.publish('one')
    release()
    await vi.waitUntil(() => fixture.fetchCount() === 2)
    await vi.waitUntil(() => page.text().includes('"held"'))
    expect(fixture.fetchCount()).toBe(2)
    page.close()
  })
})
