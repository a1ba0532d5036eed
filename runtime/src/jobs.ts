import type { Context } from './service.ts'

/** Background work of a service, run periodically and whenever a committed transaction wakes it by name. */
export interface Job<Config> {
  name: string
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
}

/** A repeated run; runs never overlap. */
export interface Loop {
  /** Runs now, or once more after the current run. */
  wake(): void
  stop(): Promise<void>
}

/** Calls `run` every `everyMs` and on each wake; a run that returns `true` is followed by another immediately. */
export function startLoop(everyMs: number, run: () => Promise<boolean>, onError: (error: unknown) => void): Loop {
  let stopped = false
  let again = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function runUntilIdle(): Promise<void> {
    do {
      again = false
      try {
        if (await run()) again = true
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
      if (!stopped) timer = setTimeout(wake, everyMs)
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
