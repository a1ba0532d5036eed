import type { Clock } from './clock.ts'
import type { Context } from './service.ts'

/**
 * How long a job sleeps while nothing is due, if it says when the next row is. Wakes make up for the rest: a transaction that
 * writes what is due at once wakes the job, and a new row that becomes due by itself does so later than this.
 */
export const idleMs = 30_000

/** Background work of a service, run periodically and whenever a committed transaction wakes it by name. */
export interface Job<Config> {
  name: string
  /** How often it runs; if it says when the next row is due, only while one is, or another process has the job. */
  everyMs: number | ((config: Context<Config>['config']) => number)
  /** How long a run may take before its signal aborts; default: ten minutes. */
  limitMs?: number
  /** Whether all processes may run it at the same time, because each takes other rows; default: one at a time. */
  inAllProcesses?: boolean
  /**
   * Runs in one process at a time, unless `inAllProcesses`. Must be safe to kill at any point and to run again.
   * @param signal aborts when the process stops, when another process may have taken over the job, or when the run takes too
   * long: the job must end before its next piece of work.
   */
  run(context: Context<Config>, signal: AbortSignal): Promise<void>
  /** When the earliest of the rows that it works on is due, by the context's clock; null if there is none. */
  nextDue?(context: Context<Config>): Promise<Temporal.Instant | null>
}

/** Returns the earliest of these instants, for a job with several kinds of rows. */
export function earliest(...instants: (Temporal.Instant | null | undefined)[]): Temporal.Instant | null {
  const known = instants.filter((instant) => instant !== null && instant !== undefined)
  return known.toSorted((one, other) => Temporal.Instant.compare(one, other))[0] ?? null
}

/** Returns how long a loop sleeps until a row is due, at least `everyMs` and at most `idleMs`. */
export function sleepUntil(due: Temporal.Instant | null, everyMs: number, clock: Clock): number {
  if (due === null || everyMs > idleMs) return Math.max(everyMs, idleMs)
  const ms = due.epochMilliseconds - clock.now().epochMilliseconds
  return Math.min(Math.max(ms, everyMs), idleMs)
}

/** A repeated run; runs never overlap. */
export interface Loop {
  /** Runs now, or once more after the current run. */
  wake(): void
  stop(): Promise<void>
}

/** The part by which sleeps are shortened at random, so that the loops of a system do not all run at the same moment. */
const jitter = 0.1

/**
 * Calls `run` every `everyMs` and on each wake; a run that returns `true` is followed by another immediately, and one that
 * returns a number by another after that many milliseconds.
 */
export function startLoop(
  everyMs: number,
  run: () => Promise<boolean | number>,
  onError: (error: unknown) => void,
): Loop {
  let stopped = false
  let again = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let sleepMs = everyMs

  async function runUntilIdle(): Promise<void> {
    do {
      again = false
      sleepMs = everyMs
      try {
        const next = await run()
        if (next === true) again = true
        else if (next !== false) sleepMs = next
      } catch (error) {
        onError(error)
      }
    } while (again && !stopped)
  }

  function wake(): void {
    if (stopped) return
    again = true
    running ??= runUntilIdle().finally(() => {
      running = undefined
      clearTimeout(timer)
      if (!stopped) timer = setTimeout(wake, sleepMs * (1 - jitter * Math.random()))
    })
  }

  wake()
  return {
    wake,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
