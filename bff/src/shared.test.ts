import { describe, expect, it, vi } from 'vitest'
import { shared } from './shared.ts'

/** Questions that a test answers. */
function questions() {
  const asked: { answer: (value: number) => void; fail: (error: Error) => void }[] = []
  const ask = () =>
    new Promise<number>((answer, fail) => {
      asked.push({ answer, fail })
    })
  return { asked, ask: shared(ask) }
}

describe('a shared question', () => {
  it('is asked twice for however many ask at once: for the first, and then for all others', async () => {
    const { asked, ask } = questions()
    const first = ask()
    const others = Array.from({ length: 100 }, () => ask())
    expect(asked).toHaveLength(1)
    asked[0]?.answer(1)
    expect(await first).toBe(1)
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]?.answer(2)
    expect(new Set(await Promise.all(others))).toEqual(new Set([2]))
    expect(asked).toHaveLength(2)
  })

  it('is never answered by what was found out before it was asked', async () => {
    const { asked, ask } = questions()
    void ask()
    asked[0]?.answer(1)
    await Promise.resolve()
    const later = ask()
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]?.answer(2)
    expect(await later).toBe(2)
  })

  it('that fails fails for those who asked it, and is asked again', async () => {
    const { asked, ask } = questions()
    const first = ask()
    const other = ask()
    asked[0]?.fail(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]?.answer(2)
    expect(await other).toBe(2)
  })

  it('that is not answered keeps nobody from asking it again', async () => {
    const { asked, ask } = questions()
    void ask()
    const other = ask()
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]?.answer(2)
    expect(await other).toBe(2)
  })
})
