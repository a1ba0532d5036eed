import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Cached } from './cached.ts'

/** A cached value that the test changes, with a test clock. */
function changing() {
  const state = { now: 0, value: 0, fetches: 0, isAway: false, failures: 0 }
  const cached = new Cached(
    async () => {
      state.fetches += 1
      const { value } = state
      if (state.isAway) throw new Error('away')
      return value
    },
    () => {
      state.failures += 1
    },
    () => state.now,
  )
  return { state, cached }
}

describe('a cached value', () => {
  it('is fetched once for any number of callers', async () => {
    const { state, cached } = changing()
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => cached.get())))).toEqual(new Set([0]))
    state.now = 2_000
    await Promise.all(Array.from({ length: 100 }, () => cached.get()))
    expect(state.fetches).toBe(1)
  })

  it('is refreshed in the background before it is too old', async () => {
    const { state, cached } = changing()
    await cached.get()
    state.value = 1
    state.now = 2_600
    expect(await cached.get()).toBe(0)
    expect(state.fetches).toBe(2)
    expect(await cached.get()).toBe(1)
  })

  it('is never returned at an age of five seconds while it can be fetched, however long it was not used', async () => {
    const { state, cached } = changing()
    await cached.get()
    for (const now of [5_000, 35_000, 3_600_000]) {
      state.now = now
      state.value += 1
      expect(await cached.get()).toBe(state.value)
    }
  })

  it('is fetched again after it was invalidated', async () => {
    const { state, cached } = changing()
    await cached.get()
    state.now = 600
    state.value = 1
    cached.invalidate()
    state.now = 610
    expect(await cached.get()).toBe(1)
    expect(await cached.get()).toBe(1)
    expect(state.fetches).toBe(2)
  })

  it('is fetched at most twice a second, however often it is invalidated', async () => {
    const { state, cached } = changing()
    for (; state.now < 10_000; state.now += 10) {
      state.value += 1
      cached.invalidate()
      await cached.get()
    }
    expect(state.fetches).toBe(20)
  })

  it('is returned for a minute while fetches fail, and then no longer', async () => {
    const { state, cached } = changing()
    await cached.get()
    state.isAway = true
    state.now = 59_000
    expect(await cached.get()).toBe(0)
    expect(state.failures).toBe(1)
    state.now = 60_000
    expect(await cached.get()).toBeUndefined()
    state.isAway = false
    state.value = 1
    state.now = 62_500
    expect(await cached.get()).toBe(1)
  })

  it('is awaited for a moment at most, and used once its fetch ends', async () => {
    let respond: (value: number) => void = () => {}
    const cached = new Cached(
      () =>
        new Promise<number>((resolve) => {
          respond = resolve
        }),
      () => {},
    )
    expect(await cached.get()).toBeUndefined()
    respond(1)
    expect(await cached.get()).toBe(1)
  })

  it('is not replaced by an earlier fetch that ends later', async () => {
    const answers: ((value: number) => void)[] = []
    const state = { now: 0 }
    const cached = new Cached(
      () => new Promise<number>((resolve) => answers.push(resolve)),
      () => {},
      () => state.now,
    )
    const first = cached.get()
    state.now = 3_000
    const second = cached.get()
    answers[1]?.(2)
    expect(await second).toBe(2)
    answers[0]?.(1)
    await first
    expect(await cached.get()).toBe(2)
  })

  it('is at most five seconds old at any time, whether its changes were noticed or not', async () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 4_000 }),
      what: fc.constantFrom('change', 'change unnoticed', 'read', 'read', 'read'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { state, cached } = changing()
        const changedAt = [0]
        for (const { after, what } of steps) {
          state.now += after
          if (what === 'read') {
            const shown = (await cached.get()) ?? -1
            // The next value is less than five seconds old.
            const next = changedAt[shown + 1]
            if (next !== undefined) expect(state.now - next).toBeLessThan(5_000)
          } else {
            state.value += 1
            changedAt.push(state.now)
            if (what === 'change') cached.invalidate()
          }
        }
      }),
    )
  })
})
