import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Recent } from './recent.ts'

/** Something that changes, and is asked for by a clock of the test's own. */
function changing() {
  const state = { now: 0, value: 0, asked: 0, isAway: false, failures: 0 }
  const recent = new Recent(
    async () => {
      state.asked += 1
      const { value } = state
      if (state.isAway) throw new Error('away')
      return value
    },
    () => {
      state.failures += 1
    },
    () => state.now,
  )
  return { state, recent }
}

describe('what was asked a moment ago', () => {
  it('is asked once for however many want to know', async () => {
    const { state, recent } = changing()
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => recent.get())))).toEqual(new Set([0]))
    state.now = 2_000
    await Promise.all(Array.from({ length: 100 }, () => recent.get()))
    expect(state.asked).toBe(1)
  })

  it('is asked for anew before it is old, and nobody waits for that', async () => {
    const { state, recent } = changing()
    await recent.get()
    state.value = 1
    state.now = 2_600
    expect(await recent.get()).toBe(0)
    expect(state.asked).toBe(2)
    expect(await recent.get()).toBe(1)
  })

  it('is never shown at five seconds of age while it can be asked for, however long nobody wanted to know', async () => {
    const { state, recent } = changing()
    await recent.get()
    for (const now of [5_000, 35_000, 3_600_000]) {
      state.now = now
      state.value += 1
      expect(await recent.get()).toBe(state.value)
    }
  })

  it('is asked for anew when it is known to have changed', async () => {
    const { state, recent } = changing()
    await recent.get()
    state.now = 600
    state.value = 1
    recent.change()
    state.now = 610
    expect(await recent.get()).toBe(1)
    expect(await recent.get()).toBe(1)
    expect(state.asked).toBe(2)
  })

  it('is asked for twice a second at most, however often it changes', async () => {
    const { state, recent } = changing()
    for (; state.now < 10_000; state.now += 10) {
      state.value += 1
      recent.change()
      await recent.get()
    }
    expect(state.asked).toBe(20)
  })

  it('is shown for a minute as it was where nobody answers, and then no more', async () => {
    const { state, recent } = changing()
    await recent.get()
    state.isAway = true
    state.now = 59_000
    expect(await recent.get()).toBe(0)
    expect(state.failures).toBe(1)
    state.now = 60_000
    expect(await recent.get()).toBeUndefined()
    state.isAway = false
    state.value = 1
    state.now = 62_500
    expect(await recent.get()).toBe(1)
  })

  it('is waited for no longer than a moment, by all together, and is known once it comes', async () => {
    let answer: (value: number) => void = () => {}
    const recent = new Recent(
      () =>
        new Promise<number>((resolve) => {
          answer = resolve
        }),
      () => {},
    )
    expect(await recent.get()).toBeUndefined()
    answer(1)
    expect(await recent.get()).toBe(1)
  })

  it('is replaced by no answer to an earlier question', async () => {
    const answers: ((value: number) => void)[] = []
    const state = { now: 0 }
    const recent = new Recent(
      () => new Promise<number>((resolve) => answers.push(resolve)),
      () => {},
      () => state.now,
    )
    const first = recent.get()
    state.now = 3_000
    const second = recent.get()
    answers[1]?.(2)
    expect(await second).toBe(2)
    answers[0]?.(1)
    await first
    expect(await recent.get()).toBe(2)
  })

  it('is at most five seconds old at any time, whatever changes when, and whether it was said to have changed or not', async () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 4_000 }),
      what: fc.constantFrom('change', 'change unnoticed', 'read', 'read', 'read'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { state, recent } = changing()
        const changedAt = [0]
        for (const { after, what } of steps) {
          state.now += after
          if (what === 'read') {
            const shown = (await recent.get()) ?? -1
            // What came after it came less than five seconds ago.
            const next = changedAt[shown + 1]
            if (next !== undefined) expect(state.now - next).toBeLessThan(5_000)
          } else {
            state.value += 1
            changedAt.push(state.now)
            if (what === 'change') recent.change()
          }
        }
      }),
    )
  })
})
