/** A payment page leads back to a new document; so long after it was opened its payment is asked about with more haste. */
const returnedForMs = 10_000

/** The query for what is being paid for: whether its buyer has just come back from the payment page, perhaps before its webhook. */
export function returnedQuery(): '?returned=true' | '' {
  return performance.now() < returnedForMs ? '?returned=true' : ''
}
