import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RegistrationView } from '@robokids/contracts/bff'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Config } from './config.ts'
import { RegistrationStreams } from './registration-stream.ts'

interface Door {
  streams: RegistrationStreams
  /** How often it was asked what is true. */
  asked: () => number
  /** Something has happened to the registration. */
  notice: (registrationId: string) => void
  answer: (view: Partial<RegistrationView>) => void
  /** Lets the answers wait until the returned function is called. */
  hold: () => () => void
  open: (registrationId: string) => { close: () => void; answered: Promise<IncomingMessage>; text: () => string }
}

/** The streams alone, behind a server, with what they ask in the test's hands. */
async function openDoor(): Promise<Door> {
  const http = Fastify()
  onTestFinished(() => http.close())
  let notice: Door['notice'] = () => {}
  let asked = 0
  let view: Partial<RegistrationView> = { status: 'held' }
  let waiting = Promise.resolve()
  const context = {
    bus: {
      watch(_types: string[], tell: (event: { data: unknown }) => void) {
        notice = (registrationId) => tell({ data: { registrationId } })
      },
    },
    config: { STREAMS_PER_ADDRESS: 1_000 },
    log: { warn() {} },
  } as unknown as Context<Config>
  const streams = new RegistrationStreams(http, context, async (registrationId) => {
    asked += 1
    await waiting
    if (registrationId === 'unknown') throw new DomainError('registration_not_found', 'Unknown.')
    return { ...view, registrationId } as RegistrationView
  })
  http.get<{ Params: { id: string } }>('/:id', (incoming, reply) => streams.stream(incoming, reply, incoming.params.id))
  await http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = http.server.address() as AddressInfo
  return {
    streams,
    asked: () => asked,
    notice: (id) => notice(id),
    answer(next) {
      view = next
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting = promise
      return resolve
    },
    open(registrationId) {
      const asking = request({ port, path: `/${registrationId}` })
      const answered = once(asking, 'response').then(([answer]) => answer as IncomingMessage)
      answered.catch(() => {})
      asking.on('error', () => {})
      asking.end()
      let text = ''
      void answered.then(
        (answer) => answer.on('data', (chunk: Buffer) => (text += chunk.toString())),
        () => {},
      )
      return { close: () => asking.destroy(), answered, text: () => text }
    },
  }
}

const nothing = { streams: 0, registrations: 0 }

describe('a stream', () => {
  it('that is closed before its first answer leaves nothing behind and asks no more', async () => {
    const door = await openDoor()
    const release = door.hold()
    const pages = Array.from({ length: 20 }, () => door.open('one'))
    await vi.waitUntil(() => door.streams.size.streams === 20)
    for (const page of pages) page.close()
    await vi.waitUntil(() => door.streams.size.streams === 0)
    release()
    expect(door.streams.size).toEqual(nothing)
    expect(door.asked()).toBe(1)
  })

  it('that is closed later, or never began, leaves nothing behind either', async () => {
    const door = await openDoor()
    const page = door.open('one')
    await vi.waitUntil(() => page.text().includes('event: state'))
    expect(door.streams.size).toEqual({ streams: 1, registrations: 1 })
    expect((await door.open('unknown').answered).statusCode).toBe(404)
    page.close()
    await vi.waitUntil(() => door.streams.size.streams === 0)
    expect(door.streams.size).toEqual(nothing)
  })

  it('shares what is asked with all that look at the same registration', async () => {
    const door = await openDoor()
    const pages = Array.from({ length: 50 }, () => door.open('one'))
    await vi.waitUntil(() => pages.every((page) => page.text().includes('"held"')))
    expect(door.asked()).toBe(1)
    door.answer({ status: 'confirmed' })
    door.notice('another')
    door.notice('one')
    await vi.waitUntil(() => pages.every((page) => page.text().includes('"confirmed"')))
    expect(door.asked()).toBe(2)
    expect(door.streams.size).toEqual({ streams: 50, registrations: 1 })
    for (const page of pages) page.close()
  })

  it('hears of what happens while the first answer is under way', async () => {
    const door = await openDoor()
    const release = door.hold()
    const page = door.open('one')
    await vi.waitUntil(() => door.asked() === 1)
    door.notice('one')
    release()
    await vi.waitUntil(() => door.asked() === 2)
    await vi.waitUntil(() => page.text().includes('"held"'))
    expect(door.asked()).toBe(2)
    page.close()
  })
})
