import type { BillingContext } from './config.ts'

/** Columns that schedule the next attempt of a row, with exponential backoff. */
export function nextAttempt({ clock }: BillingContext, { tries }: { tries: number }) {
  return { tries: tries + 1, nextTryAt: clock.now().add(retryDelay(tries + 1)) }
}

/** After this many consecutive failures, or failing for this long, the cause is not the rows: the rest waits for the next run. */
const maxFailuresInARow = 10
const maxFailingMs = 30_000

/**
 * Runs a job's `work` for each row, in their order; a failing row does not stop the others. Stops before the next row once
 * `signal` aborts.
 * @param failed schedules the row's next attempt.
 * @param concurrency how many rows are worked on at the same time.
 * @throws Error at the end if any row failed, so that the run counts as failed.
 */
export async function tryEach<Row>(
  signal: AbortSignal,
  rows: Row[],
  work: (row: Row) => Promise<void>,
  failed: (row: Row, error: unknown) => Promise<void>,
  concurrency = 1,
): Promise<void> {
  let failures = 0
  let failuresInARow = 0
  let since = performance.now()
  const remaining = rows.values()
  async function workThrough(): Promise<void> {
    for (;;) {
      if (signal.aborted || failuresInARow >= maxFailuresInARow) return
      if (failuresInARow === 0) since = performance.now()
      else if (performance.now() - since > maxFailingMs) return
      const { value: row, done } = remaining.next()
      if (done) return
      try {
        await work(row)
        failuresInARow = 0
      } catch (error) {
        failures++
        failuresInARow++
        await failed(row, error)
      }
    }
  }
  // All of them end before this does, even if one throws.
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, workThrough))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  if (failures > 0) throw new Error(`${failures} of ${rows.length} failed`)
}

const firstDelayMs = 2_000
const maxDelayMs = 60 * 60 * 1000

/** The delay after the given number of failed attempts. */
export function retryDelay(tries: number): Temporal.Duration {
  return Temporal.Duration.from({ milliseconds: Math.min(firstDelayMs * 2 ** Math.min(tries - 1, 20), maxDelayMs) })
}
