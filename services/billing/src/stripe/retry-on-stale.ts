import { setTimeout } from 'node:timers/promises'

/** What was fetched of a membership may be older than what has been applied since. */
export class StaleObservation extends Error {
  override readonly name = 'StaleObservation'

  constructor(subscriptionId: string) {
    super(`what was asked about ${subscriptionId} is older than what is known by now`)
  }
}

const maxAttempts = 20

/** Runs `work` again as long as it finds that what it had fetched is out of date. */
export async function retryOnStale<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StaleObservation) || attempt >= maxAttempts) throw error
      // So that those who collided do not collide again.
      await setTimeout(Math.random() * 20 * attempt)
    }
  }
}
