import type { Context } from '@robokids/runtime/service'
import { createMetrics } from '@robokids/runtime/telemetry'
import { expect, it } from 'vitest'
import type { Config } from '../config.ts'
import { HashQueue } from './hash-queue.ts'

/** A queue with concurrency 1, blocked by a first hash until `finish`, so that the initial estimate applies. */
function queueWith(HASH_LINE_MS: number) {
  const log = { warn() {} }
  const metrics = createMetrics()
  const config = { HASHES_AT_ONCE: 1, HASH_LINE_MS }
  const queue = new HashQueue({ config, log, metrics } as unknown as Context<Config>)
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.slot(() => false).hash(() => gate.promise)
  const enqueue = (name: string, account?: string, isCancelled = () => false) => {
    const slot = queue.slot(isCancelled)
    if (account !== undefined) slot.account = account
    const hash = async (what = name) => {
      try {
        await slot.hash(async () => void order.push(what))
      } catch (error) {
        order.push(`${what} ${(error as Error).name}`)
      }
    }
    return { hash, done: hash() }
  }
  const finish = async (...requests: { done: Promise<void> }[]) => {
    gate.resolve()
    await Promise.all([first, ...requests.map(({ done }) => done)])
    return order
  }
  return { enqueue, finish, order }
}

it('Passwords from callers known to the account are hashed before earlier ones from unknown callers', async () => {
  const { enqueue, finish } = queueWith(10_000)
  const requests = [enqueue('stranger 1'), enqueue('stranger 2'), enqueue('owner', 'account'), enqueue('stranger 3')]
  expect(await finish(...requests)).toEqual(['owner', 'stranger 1', 'stranger 2', 'stranger 3'])
})

it('An account gets only a few priority slots at once, and further requests queue behind unknown callers', async () => {
  const { enqueue, finish } = queueWith(10_000)
  const requests = [
    enqueue('stranger'),
    ...[1, 2, 3, 4, 5].map((nth) => enqueue(`own ${nth}`, 'account')),
    enqueue('b', 'other'),
  ]
  expect(await finish(...requests)).toEqual(['own 1', 'own 2', 'own 3', 'own 4', 'b', 'stranger', 'own 5'])
})

it('A request from an unknown caller is rejected at once when the queue is too long, and one from a known caller is not', async () => {
  const { enqueue, finish, order } = queueWith(100)
  const requests = [1, 2, 3, 4, 5].map((nth) => enqueue(`stranger ${nth}`))
  const owner = enqueue('owner', 'account')
  await Promise.all(requests.slice(3).map(({ done }) => done))
  expect(order).toEqual(['stranger 4 ServiceUnavailable', 'stranger 5 ServiceUnavailable'])
  expect((await finish(...requests, owner)).slice(2)).toEqual(['owner', 'stranger 1', 'stranger 2', 'stranger 3'])
})

it('A request that was admitted once is admitted again, however long the queue is by then', async () => {
  const { enqueue, finish } = queueWith(100)
  const [one, two, three] = [enqueue('one'), enqueue('two'), enqueue('three')]
  const more = { done: one.hash('one again') }
  expect(await finish(one, two, three, more)).toEqual(['one', 'two', 'three', 'one again'])
})

it('A request that was rejected once is rejected again', async () => {
  const { enqueue, finish, order } = queueWith(100)
  const requests = [1, 2, 3].map((nth) => enqueue(`stranger ${nth}`))
  const late = enqueue('late')
  await late.done
  await finish(...requests)
  await late.hash('late again')
  const refused = ['late ServiceUnavailable', 'late again ServiceUnavailable']
  expect(order.filter((one) => one.startsWith('late'))).toEqual(refused)
})

it('A request whose client has disconnected is skipped', async () => {
  const { enqueue, finish } = queueWith(10_000)
  let isCancelled = false
  const requests = [enqueue('gone', undefined, () => isCancelled), enqueue('there')]
  isCancelled = true
  const order = await finish(...requests)
  expect(order.toSorted()).toEqual(['gone ServiceUnavailable', 'there'])
})
