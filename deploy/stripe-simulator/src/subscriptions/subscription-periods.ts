import type { Price } from '../protocol/types.ts'

type Unit = 'days' | 'weeks' | 'months' | 'years'

/**
 * The end of a price's period that starts at `start`: the anchor's day and time, a whole number of intervals
 * later, so that a subscription of the 31st is billed on February 28 and on March 31 again.
 */
export function periodEnd(anchor: number, start: number, { recurring }: Price): number {
  const unit = `${recurring?.interval ?? 'month'}s` as Unit
  const count = recurring?.interval_count ?? 1
  const from = Temporal.Instant.fromEpochMilliseconds(anchor * 1000).toZonedDateTimeISO('UTC')
  for (let periods = 1; ; periods++) {
    const end = from.add({ [unit]: count * periods }).epochMilliseconds / 1000
    if (end > start) return end
  }
}

/** `month`, `3 months`: the interval after the slash of a price. */
export function intervalOf({ recurring }: Price): string {
  const { interval, interval_count: count } = recurring ?? { interval: 'month', interval_count: 1 }
  return count === 1 ? interval : `${count} ${interval}s`
}
