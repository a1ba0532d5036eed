import { describe, expect, it, vi } from 'vitest'
import { coalesce } from './coalesce.ts'

/** A coalesced function whose calls the test settles. */
function coalescedCalls() {
  const calls: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  const call = () =>
    new Promise<number>((resolve, reject) => {
      calls.push({ resolve, reject })
    })
  return { calls, call: coalesce(call) }
}

describe('a coalesced function', () => {
  it('is called twice for any number of concurrent callers: for the first, and then for all others', async () => {
    const { calls, call } = coalescedCalls()
    const first = call()
    const others = Array.from({ length: 100 }, () => call())
    expect(calls).toHaveLength(1)
    calls[0]?.resolve(1)
    expect(await first).toBe(1)
    await vi.waitFor(() => expect(calls).toHaveLength(2))
    calls[1]?.resolve(2)
    expect(new Set(await Promise.all(others))).toEqual(new Set([2]))
    expect(calls).toHaveLength(2)
  })

  it('never returns a result that is older than the call', async () => {
    const { calls, call } = coalescedCalls()
    void call()
    calls[0]?.resolve(1)
    await Promise.resolve()
    const later = call()
    await vi.waitFor(() => expect(calls).toHaveLength(2))
    calls[1]?.resolve(2)
    expect(await later).toBe(2)
  })

  it('that fails rejects only for its callers, and is called again', async () => {
    const { calls, call } = coalescedCalls()
    const first = call()
    const other = call()
    calls[0]?.reject(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await vi.waitFor(() => expect(calls).toHaveLength(2))
    calls[1]?.resolve(2)
    expect(await other).toBe(2)
  })

  it('that hangs does not block later callers', async () => {
    const { calls, call } = coalescedCalls()
    void call()
    const other = call()
    await vi.waitFor(() => expect(calls).toHaveLength(2))
    calls[1]?.resolve(2)
    expect(await other).toBe(2)
  })
})
