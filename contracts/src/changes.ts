import { z } from 'zod'
import { placeSchema } from './enrollment.ts'

/** What a family can do with places that it has paid for. */
export const changeKinds = ['cancel', 'move'] as const

/**
 * `held`: the new seats of a move are held until its difference is paid. `done`: it has happened. Otherwise it has changed nothing:
 * `expired` unpaid, `withdrawn` by the family (also by another change of the same places), or `refused`, because it was paid too
 * late and the seats were gone, so that the payment goes back.
 */
export const changeStatuses = ['held', 'done', 'expired', 'withdrawn', 'refused'] as const

/** What happens to one child. All amounts are cents. */
const lineSchema = z.object({
  placeId: z.uuid(),
  childName: z.string(),
  /** What was paid for this child so far. */
  paid: z.int(),
  /** Today's price of the new place; null for a cancellation. */
  price: z.int().nullable(),
  /** The difference to pay. */
  due: z.int(),
  /** What goes back. */
  back: z.int(),
})

const classSchema = placeSchema.pick({
  classSessionId: true,
  classType: true,
  levelTitle: true,
  startDate: true,
  startTime: true,
  durationMinutes: true,
  timeZone: true,
})

/**
 * What a change would do, which the family sees before it confirms it. It contains everything that counts: it differs if and only
 * if something else would happen.
 */
export const changeTermsSchema = z.object({
  kind: z.enum(changeKinds),
  registrationId: z.uuid(),
  lines: z.array(lineSchema).min(1),
  /** The class in which these children are now. */
  from: classSchema,
  /** The class into which they move; null for a cancellation. */
  to: classSchema.nullable(),
  /** The sums of the lines, set off against each other: at most one of them is not 0. */
  due: z.int(),
  back: z.int(),
  rule: z.object({
    /** Since when the policy is in force. */
    validFrom: z.iso.datetime(),
    /** The share of what was paid that a cancellation gives back; null for a move. */
    percent: z.int().nullable(),
    /** The last instant at which this is so; null if it stays so until the class begins. */
    until: z.iso.datetime().nullable(),
    /** The number of moves that each child may make in all; null for a cancellation. */
    moves: z.int().nullable(),
  }),
  /** Whether the kit has left, so that a child can move within its level only. */
  kitShipped: z.boolean(),
})
export type ChangeTerms = z.infer<typeof changeTermsSchema>

/** The terms with the hex SHA-256 by which they are confirmed: equal terms have equal ids. */
export const changeQuoteSchema = z.object({ quoteId: z.string(), terms: changeTermsSchema })
