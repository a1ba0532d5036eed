import type { Context } from './service.ts'

/** Work that a service does by itself: every so often, and whenever a committed transaction wakes it by name. */
export interface Job<Config> {
  name: string
  everyMs: number | ((config: Context<Config>['config']) => number)
  /** How long a run may take before it is told to end, so that another one can begin; ten minutes, where left out. */
  limitMs?: number
  /**
   * Runs in one process at a time. Must be safe to be killed anywhere in it and to be run again.
   * @param signal aborts when the process is told to stop, when it may no longer be the only one at this work, or when the
   * run has taken too long: it ends before it begins its next piece of work.
   */
  run(context: Context<Config>, signal: AbortSignal): Promise<void>
}

/** Something that runs again and again, one run after the other. */
export interface Loop {
  /** Runs now, or once more after the run that is under way. */
  wake(): void
  stop(): Promise<void>
}

/** Calls `run` every `everyMs` and on each wake; a run that says `true` is followed by another at once. */
export function startLoop(everyMs: number, run: () => Promise<boolean>, failed: (error: unknown) => void): Loop {
  let stopped = false
  let again = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function turn(): Promise<void> {
    do {
      again = false
      try {
        if (await run()) again = true
      } catch (error) {
        failed(error)
      }
    } while (again && !stopped)
  }

  function wake(): void {
    if (stopped) return
    again = true
    running ??= turn().finally(() => {
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
