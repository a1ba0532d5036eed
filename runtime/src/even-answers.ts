import { setTimeout } from 'node:timers/promises'

/**
 * Does `work`, and answers, whatever comes of it, when a whole number of `stepMs` is over: how long it took does not
 * tell what was found.
 */
export async function answerEvenly<T>(stepMs: number, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  try {
    return await work()
  } finally {
    await setTimeout(stepMs - ((performance.now() - begun) % stepMs))
  }
}
