import type { Context } from '@robokids/runtime/service'
import { createMetrics } from '@robokids/runtime/telemetry'
import { expect, it } from 'vitest'
import type { Config } from '../config.ts'
import { HashLine } from './hash-line.ts'

/** A line that hashes one at a time, and takes hashes to be slow until one was done. */
function lineOf(HASH_LINE_MS: number) {
  const log = { warn() {} }
  const metrics = createMetrics()
  const config = { HASHES_AT_ONCE: 1, HASH_LINE_MS }
  const line = new HashLine({ config, log, metrics } as unknown as Context<Config>)
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = line.place(() => false).hash(() => gate.promise)
  const come = (name: string, account?: string, isGone = () => false) => {
    const place = line.place(isGone)
    if (account !== undefined) place.account = account
    const hash = async (what = name) => {
      try {
        await place.hash(async () => void order.push(what))
      } catch (error) {
        order.push(`${what} ${(error as Error).name}`)
      }
    }
    return { hash, done: hash() }
  }
  const end = async (...those: { done: Promise<void> }[]) => {
    gate.resolve()
    await Promise.all([first, ...those.map(({ done }) => done)])
    return order
  }
  return { come, end, order }
}

it('A password of whoever is known to its account is hashed before those of strangers who came earlier', async () => {
  const { come, end } = lineOf(10_000)
  const those = [come('stranger 1'), come('stranger 2'), come('owner', 'account'), come('stranger 3')]
  expect(await end(...those)).toEqual(['owner', 'stranger 1', 'stranger 2', 'stranger 3'])
})

it('An account of one’s own brings a few passwords before those of strangers, and the rest behind them', async () => {
  const { come, end } = lineOf(10_000)
  const those = [come('stranger'), ...[1, 2, 3, 4, 5].map((nth) => come(`own ${nth}`, 'account')), come('b', 'other')]
  expect(await end(...those)).toEqual(['own 1', 'own 2', 'own 3', 'own 4', 'b', 'stranger', 'own 5'])
})

it('Who comes to a line that takes too long is refused at once, and whoever is known is not', async () => {
  const { come, end, order } = lineOf(100)
  const those = [1, 2, 3, 4, 5].map((nth) => come(`stranger ${nth}`))
  const owner = come('owner', 'account')
  await Promise.all(those.slice(3).map(({ done }) => done))
  expect(order).toEqual(['stranger 4 ServiceUnavailable', 'stranger 5 ServiceUnavailable'])
  expect((await end(...those, owner)).slice(2)).toEqual(['owner', 'stranger 1', 'stranger 2', 'stranger 3'])
})

it('A request that was let in once is let in again, however long the line is by then', async () => {
  const { come, end } = lineOf(100)
  const [one, two, three] = [come('one'), come('two'), come('three')]
  const more = { done: one.hash('one again') }
  expect(await end(one, two, three, more)).toEqual(['one', 'two', 'three', 'one again'])
})

it('A request that was refused once is refused again: nobody works for who was told to try again', async () => {
  const { come, end, order } = lineOf(100)
  const those = [1, 2, 3].map((nth) => come(`stranger ${nth}`))
  const late = come('late')
  await late.done
  await end(...those)
  await late.hash('late again')
  const refused = ['late ServiceUnavailable', 'late again ServiceUnavailable']
  expect(order.filter((one) => one.startsWith('late'))).toEqual(refused)
})

it('Who has gone meanwhile is skipped', async () => {
  const { come, end } = lineOf(10_000)
  let isGone = false
  const those = [come('gone', undefined, () => isGone), come('there')]
  isGone = true
  const order = await end(...those)
  expect(order.toSorted()).toEqual(['gone ServiceUnavailable', 'there'])
})
