import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Copies } from './copies.ts'

const opened: Server[] = []
async function listen(address: string, port: number, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  opened.push(server)
  server.listen(port, address)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
afterEach(() => {
  for (const server of opened.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const answers: RequestListener = (_request, response) => void response.end('{}')

/** Copies of a service at 127.0.0.1, 127.0.0.2 and so on, each with its behaviour; undefined for one that does not listen. */
const copiesOf = (...listeners: (RequestListener | undefined)[]) => copiesRefreshed(50, ...listeners)
async function copiesRefreshed(refreshAfterMs: number, ...listeners: (RequestListener | undefined)[]) {
  const seen: string[] = []
  const names = listeners.map((_, index) => `127.0.0.${index + 1}`)
  let port = 0
  for (const [index, listener] of listeners.entries()) {
    const name = names[index] ?? ''
    const record: RequestListener = (request, response) => {
      seen.push(name)
      listener?.(request, response)
    }
    if (listener) port = await listen(name, port, record)
  }
  const found = { names, lookups: 0 }
  const lookup = async () => {
    found.lookups += 1
    if (found.names.length === 0) throw new Error('the name server does not answer')
    return found.names
  }
  const copies = new Copies(`http://service.internal:${port}`, { lookup, refreshAfterMs })
  const send = (method: 'GET' | 'POST' = 'GET', body?: Buffer) =>
    copies.request(method, '/', { body, signal: AbortSignal.timeout(10_000) })
  const times = (name: string) => seen.filter((one) => one === name).length
  return { send, seen, found, times }
}

// macOS has no 127.0.0.2 by itself.
describe.skipIf(process.platform === 'darwin')('the copies of a service', () => {
  it('take turns, all of them', async () => {
    const { send, times, found } = await copiesRefreshed(60_000, answers, answers, answers)
    for (let nth = 0; nth < 30; nth += 1) await send()
    expect(found.names.map(times)).toEqual([10, 10, 10])
    expect(found.lookups).toBe(1)
  })

  it('get the next request if they are the least busy one', async () => {
    const held: (() => void)[] = []
    const { send, times } = await copiesOf((_request, response) => held.push(() => response.end('{}')), answers)
    const slow = send()
    while (held.length === 0) await new Promise(setImmediate)
    await send()
    for (let nth = 0; nth < 10; nth += 1) await send()
    expect([times('127.0.0.1'), times('127.0.0.2')]).toEqual([1, 11])
    for (const release of held) release()
    await slow
  })

  it('are asked by the name of the service', async () => {
    const hosts: (string | undefined)[] = []
    const { send } = await copiesOf((request, response) => {
      hosts.push(request.headers.host)
      response.end('{}')
    })
    await send()
    expect(hosts[0]).toMatch(/^service\.internal:\d+$/)
  })

  it('are replaced by another if they cannot be reached, also for a change, which is made once', async () => {
    const { send, seen } = await copiesOf(undefined, answers)
    for (let nth = 0; nth < 10; nth += 1) expect((await send('POST', Buffer.from('{}'))).status).toBe(200)
    expect(seen).toHaveLength(10)
  })

  it('are replaced by another if they break off a read, but not if they may have made a change', async () => {
    const { send, seen } = await copiesOf((request) => request.socket.destroy(), answers)
    expect((await send()).status).toBe(200)
    expect(seen).toEqual(['127.0.0.1', '127.0.0.2'])
    const other = await copiesOf((request) => request.socket.destroy(), answers)
    await expect(other.send('POST')).rejects.toThrow('other side closed')
    expect(other.seen).toEqual(['127.0.0.1'])
    // The one that failed is left alone meanwhile.
    for (let nth = 0; nth < 5; nth += 1) await other.send('POST')
    expect(other.times('127.0.0.1')).toBe(1)
  })

  it('get no further request after they have said that they are stopping, unless there is no other', async () => {
    const stops: RequestListener = (_request, response) =>
      void response.writeHead(200, { connection: 'close' }).end('{}')
    const { send, times } = await copiesOf(stops, answers)
    for (let nth = 0; nth < 10; nth += 1) await send()
    expect(times('127.0.0.1')).toBe(1)
    const alone = await copiesOf(stops)
    for (let nth = 0; nth < 3; nth += 1) expect((await alone.send()).status).toBe(200)
  })

  it('fail a request once none of them can be reached', async () => {
    const { send, found } = await copiesOf(answers)
    found.names = ['127.0.0.2', '127.0.0.3']
    await expect(send('POST')).rejects.toThrow('ECONNREFUSED')
    found.names = ['127.0.0.1']
    // An unreachable one makes the next request look them up again.
    expect((await send('POST')).status).toBe(200)
  })

  it('are found while they come and go, and kept while the name server does not answer', async () => {
    const { send, times, found } = await copiesOf(answers, answers)
    const [first = '', second = ''] = found.names
    found.names = [first]
    await send()
    found.names = [second]
    while (times(second) === 0) await send()
    const before = times(first)
    found.names = []
    const { lookups } = found
    while (found.lookups === lookups) await send()
    for (let nth = 0; nth < 5; nth += 1) await send()
    expect(times(first)).toBe(before)
  })
})
