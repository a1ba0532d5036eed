import { within } from './within.ts'

/** How long later callers wait for the call in flight, so that a hanging service does not block them. */
const waitForOthersMs = 250

/**
 * Coalesces concurrent calls. Callers that arrive during a call share the next one, which starts when it ends: no result is older
 * than its call, and there is only one call at a time.
 */
export function coalesce<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let inFlight: Promise<void> | undefined
  let next: Promise<Result> | undefined

  function begin(): Promise<Result> {
    const result = call()
    const ended = result.then(
      () => {},
      () => {},
    )
    inFlight = ended
    void ended.then(() => {
      if (inFlight === ended) inFlight = undefined
    })
    return result
  }

  async function beginAfter(others: Promise<void>): Promise<Result> {
    await within(waitForOthersMs, others)
    next = undefined
    return begin()
  }

  return () => {
    if (!next && !inFlight) return begin()
    next ??= beginAfter(inFlight ?? Promise.resolve())
    return next
  }
}
