import { setTimeout } from 'node:timers/promises'

/** A fetched membership is older than one that has been applied since. */
export class StaleObservation extends Error {
  override readonly name = 'StaleObservation'

  constructor(subscriptionId: string) {
    super(`the fetch of ${subscriptionId} is older than the applied state`)
  }
}

const maxAttempts = 20

/** Repeats `work` while it throws `StaleObservation`. */
export async function retryOnStale<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StaleObservation) || attempt >= maxAttempts) throw error
      // Jitter, so that colliding callers do not collide again.
      await setTimeout(Math.random() * 20 * attempt)
    }
  }
}
