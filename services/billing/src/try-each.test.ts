import { describe, expect, it, vi } from 'vitest'
import { tryEach } from './try-each.ts'

/** Runs `tryEach` over rows of which some fail. */
async function run(rows: string[], fails: (row: string) => boolean, stopAt?: string, concurrency?: number) {
  const done: string[] = []
  const failed: string[] = []
  const stopping = new AbortController()
  const work = async (row: string) => {
    if (row === stopAt) stopping.abort()
    if (fails(row)) throw new Error(row)
    done.push(row)
  }
  const recordFailed = async (row: string) => void failed.push(row)
  const error = await tryEach(stopping.signal, rows, work, recordFailed, concurrency).then(
    () => undefined,
    (cause: Error) => cause.message,
  )
  return { done, failed, error }
}
const rows = (count: number) => Array.from({ length: count }, (_, index) => String(index))

describe('tryEach', () => {
  it('tries every row although some fail, and fails the run at the end', async () => {
    expect(await run(['a', 'bad', 'c', 'bad', 'e'], (row) => row === 'bad')).toEqual({
      done: ['a', 'c', 'e'],
      failed: ['bad', 'bad'],
      error: '2 of 5 failed',
    })
    expect(await run(rows(50), (row) => Number(row) % 10 !== 0)).toMatchObject({ done: { length: 5 } })
  })

  it('leaves the remaining rows to the next run after ten consecutive failures', async () => {
    expect(await run(rows(50), () => true)).toEqual({ done: [], failed: rows(10), error: '10 of 50 failed' })
  })

  it('leaves the remaining rows to the next run when failures are slow, as timeouts are', async () => {
    const clock = vi.spyOn(performance, 'now')
    let now = 0
    clock.mockImplementation(() => now)
    const work = (row: string) => {
      now += 12_000
      return row !== '0'
    }
    expect(await run(rows(50), work)).toMatchObject({ done: ['0'], failed: ['1', '2', '3'] })
    clock.mockRestore()
  })

  it('works on several rows at the same time, on each once', async () => {
    let atOnce = 0
    let most = 0
    const seen: string[] = []
    const work = async (row: string) => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
      seen.push(row)
    }
    await tryEach(new AbortController().signal, rows(50), work, async () => {}, 8)
    expect([most, seen.toSorted()]).toEqual([8, rows(50).toSorted()])
    // Those that are worked on when the tenth fails are finished.
    expect(await run(rows(50), () => true, undefined, 8)).toMatchObject({ done: [], error: '16 of 50 failed' })
  })

  it('finishes the current row and leaves the rest to the next run when the process stops', async () => {
    expect(await run(rows(5), () => false, '2')).toEqual({ done: ['0', '1', '2'], failed: [], error: undefined })
  })
})
