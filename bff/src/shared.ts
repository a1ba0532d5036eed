import { within } from './within.ts'

/** How long those who come later wait for what was asked before: a service that hangs holds up nobody else. */
const waitForOthersMs = 250

/**
 * Asks once for all who want to know at the same time. Whoever comes while it is being asked gets the answer to the next
 * time, which is asked then: no answer is older than the question, and however many come, one is asked at a time.
 */
export function shared<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<void> | undefined
  let next: Promise<Answer> | undefined

  function begin(): Promise<Answer> {
    const asking = ask()
    const over = asking.then(
      () => {},
      () => {},
    )
    underWay = over
    void over.then(() => {
      if (underWay === over) underWay = undefined
    })
    return asking
  }

  async function beginAfter(others: Promise<void>): Promise<Answer> {
    await within(waitForOthersMs, others)
    next = undefined
    return begin()
  }

  return () => {
    if (!next && !underWay) return begin()
    next ??= beginAfter(underWay ?? Promise.resolve())
    return next
  }
}
