import { setTimeout } from 'node:timers/promises'

/**
 * Runs `work` and pads its duration to a multiple of `stepMs`, whether it succeeds or fails, so that the response time does
 * not disclose what was found (timing side channel).
 */
export async function padResponseTime<T>(stepMs: number, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  try {
    return await work()
  } finally {
    await setTimeout(stepMs - ((performance.now() - begun) % stepMs))
  }
}
