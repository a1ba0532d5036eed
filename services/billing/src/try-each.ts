import type { BillingContext } from './config.ts'

/** What is written down of a row that is to be tried again, later than the last time. */
export function nextTry({ clock }: BillingContext, { tries }: { tries: number }) {
  return { tries: tries + 1, nextTryAt: clock.now().add(pauseAfter(tries + 1)) }
}

/** So many failures one after the other, or for so long, are not the rows' fault: the rest waits for the next run. */
const mostInARow = 10
const longestInARowMs = 30_000

/**
 * Does a job's work for each row, one after the other: one that fails keeps no other from its turn. Ends before the next
 * row once `signal` aborts.
 * @param failed notes when a row is tried again.
 * @throws Error at the end, where a row has failed: so does the run.
 */
export async function tryEach<Row>(
  signal: AbortSignal,
  rows: Row[],
  work: (row: Row) => Promise<void>,
  failed: (row: Row, error: unknown) => Promise<void>,
): Promise<void> {
  let failures = 0
  let inARow = 0
  let since = performance.now()
  for (const row of rows) {
    if (signal.aborted || inARow === mostInARow) break
    if (inARow === 0) since = performance.now()
    else if (performance.now() - since > longestInARowMs) break
    try {
      await work(row)
      inARow = 0
    } catch (error) {
      failures++
      inARow++
      await failed(row, error)
    }
  }
  if (failures > 0) throw new Error(`${failures} of ${rows.length} failed`)
}

const firstPauseMs = 2_000
const longestPauseMs = 60 * 60 * 1000

/** How long to wait after a try that failed, the first one being number 1. */
export function pauseAfter(tries: number): Temporal.Duration {
  return Temporal.Duration.from({ milliseconds: Math.min(firstPauseMs * 2 ** Math.min(tries - 1, 20), longestPauseMs) })
}
