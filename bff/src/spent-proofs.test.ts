import type { Context } from '@robokids/runtime/service'
import { describe, expect, it } from 'vitest'
import { SpentProofs } from './spent-proofs.ts'

/** BFFs with one broker, which can be away. */
function startBffs() {
  const claimed = new Set<string>()
  const broker = { isAway: false }
  const lines: unknown[] = []
  const bus = {
    async claim(_claims: object, key: string) {
      if (broker.isAway) throw new Error('the broker is away')
      if (claimed.has(key)) return false
      claimed.add(key)
      return true
    },
  }
  const log = { warn: (...line: unknown[]) => void lines.push(line) }
  const start = () => new SpentProofs({ bus, log } as unknown as Pick<Context<unknown>, 'bus' | 'log'>)
  return { one: start(), other: start(), broker, lines }
}
const soon = () => Date.now() + 60_000

describe('Spent proofs', () => {
  it('A proof is spent once over all BFFs', async () => {
    const { one, other } = startBffs()
    expect(await one.spend('a', soon())).toBe(true)
    expect([await one.spend('a', soon()), await other.spend('a', soon())]).toEqual([false, false])
    expect(await other.spend('b', soon())).toBe(true)
  })

  it('A proof is spent once at each BFF while the broker is away, which each logs once a minute', async () => {
    const { one, other, broker, lines } = startBffs()
    broker.isAway = true
    expect([await one.spend('a', soon()), await one.spend('a', soon())]).toEqual([true, false])
    expect([await other.spend('a', soon()), await one.spend('b', soon())]).toEqual([true, true])
    expect(lines).toHaveLength(2)
    broker.isAway = false
    // What was spent here meanwhile stays spent here.
    expect([await one.spend('a', soon()), await other.spend('a', soon())]).toEqual([false, false])
  })
})
