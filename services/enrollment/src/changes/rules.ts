/** The share of what was paid that goes back until `days` days before the start. */
export interface RefundShare {
  days: number
  percent: number
}

interface Policy {
  validFrom: Temporal.Instant
  refunds: RefundShare[]
  freeMoves: number
  moveDays: number
}

/** The terms of the school: all sales are final, and each child can be moved once until a week before the start. */
export const firstPolicy: Policy = {
  validFrom: Temporal.Instant.from('2025-01-01T08:00:00Z'),
  refunds: [],
  freeMoves: 1,
  moveDays: 7,
}
