/** The payment page returns to a new document: for this long after it was loaded, the payment is polled more often. */
const returnedForMs = 10_000

/** Query parameter: whether the buyer has just returned from the payment page, perhaps before its webhook. */
export function returnedQuery(): '?returned=true' | '' {
  return performance.now() < returnedForMs ? '?returned=true' : ''
}
