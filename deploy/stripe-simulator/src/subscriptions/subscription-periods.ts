import type { Price } from '../protocol/types.ts'

type Unit = 'days' | 'weeks' | 'months' | 'years'

/**
 * The end of the period of a price that begins at `start`: the anchor's own day and time, a whole number of intervals
 * later, so that a subscription of the 31st is billed on the 28th of February and on the 31st of March again.
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

/** `month`, `3 months`: what stands behind the slash of a price. */
export function intervalOf({ recurring }: Price): string {
  const { interval, interval_count: count } = recurring ?? { interval: 'month', interval_count: 1 }
  return count === 1 ? interval : `${count} ${interval}s`
}
