import { z } from 'zod'
import { addressSchema, childSchema, classTypeSchema, placeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { moneySchema, uuid } from './fields.ts'
import { scheduleSchema } from './meetings.ts'

/** What a family can do with places that it has paid for. */
export const changeKinds = ['cancel', 'move'] as const

/**
 * `held`: the new seats of a move are held until its difference is paid. `done`: it has happened. Otherwise it has changed nothing:
 * `expired` unpaid, `withdrawn` by the family (also by another change of the same places), or `refused`, because it was paid too
 * late and the seats were gone, so that the payment goes back.
 */
export const changeStatuses = ['held', 'done', 'expired', 'withdrawn', 'refused'] as const
export type ChangeStatus = (typeof changeStatuses)[number]

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
  /** That the school has cancelled the class: what the family chose, or that it had not chosen by the deadline. */
  school: z.object({ choiceId: z.uuid(), by: z.enum(['family', 'deadline']) }).optional(),
})
export type ChangeTerms = z.infer<typeof changeTermsSchema>

/** The terms with the hex SHA-256 by which they are confirmed: equal terms have equal ids. */
export const changeQuoteSchema = z.object({ quoteId: z.string(), terms: changeTermsSchema })
export type ChangeQuote = z.infer<typeof changeQuoteSchema>

const placeIds = z
  .array(uuid('Each place must be a UUID.'))
  .min(1, { error: 'Choose a child.' })
  .max(20, { error: 'These are too many children.' })

/** Today's prices, from billing's `GET /prices`: cents per seat of each class on sale. Never taken from a browser's request. */
const unitAmounts = z.partialRecord(classTypeSchema, z.int())

/**
 * Who changes it, exactly one of these: the signed-in account, or anyone who has the link to a choice that the school gives. Neither is
 * taken from a browser's request.
 */
const by = { ownerId: z.uuid().optional(), choiceId: z.uuid().optional() }
export interface ChangedBy {
  ownerId?: string | undefined
  choiceId?: string | undefined
}

/** The signed-in account. Never taken from a browser's request. */
const ownerId = z.uuid()

const confirmation = {
  /** Created by the client: repeating a request with the same id returns the same. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  /** That of the quote which was shown: 409 `quote_outdated` with the current one if anything has changed since. */
  quoteId: z.string().max(64),
}

/** `POST /api/registrations/:reference/cancellation/quote`. */
export const quoteCancelBodySchema = z.object({ placeIds })
/** `POST /api/registrations/:reference/cancellation`. */
export const cancelBodySchema = quoteCancelBodySchema.extend(confirmation)
/** `POST /api/registrations/:reference/move/quote`. */
export const quoteMoveBodySchema = quoteCancelBodySchema.extend({ to: uuid('to must be the id of a class session.') })
/** `POST /api/registrations/:reference/move`. */
export const moveBodySchema = quoteMoveBodySchema.extend(confirmation)

/** `POST /registrations/:id/cancellation/quote` and the other three: as the browser's request, with what the BFF knows. */
export const quoteCancelSchema = quoteCancelBodySchema.extend(by)
export const cancelSchema = cancelBodySchema.extend(by)
export type Cancel = z.infer<typeof cancelSchema>
export const quoteMoveSchema = quoteMoveBodySchema.extend({ ...by, unitAmounts })
export type QuoteMove = z.infer<typeof quoteMoveSchema>
export const moveSchema = moveBodySchema.extend({ ...by, unitAmounts })
export type Move = z.infer<typeof moveSchema>

/**
 * `POST /api/registrations/:reference/correction`: the names and ages of children who have a seat, and the address, until the kit is
 * shipped. What is left out stays as it is.
 */
export const correctBodySchema = z.object({
  children: z
    .array(childSchema.extend({ placeId: uuid('placeId must be a UUID.') }))
    .max(20)
    .optional(),
  address: addressSchema.optional(),
})
/** `POST /registrations/:id/correction`. */
export const correctSchema = correctBodySchema.extend({ ownerId })
export type Correct = z.infer<typeof correctSchema>
/** The response of the BFF. */
export const correctedSchema = registrationFactsSchema.pick({ children: true, address: true })
export type Corrected = z.infer<typeof correctedSchema>

/** A change that was confirmed: the response to its confirmation, and `GET /changes/:id`. */
export const changeSchema = z.object({
  changeId: z.uuid(),
  kind: z.enum(changeKinds),
  status: z.enum(changeStatuses),
  /** What was confirmed. */
  terms: changeTermsSchema,
  /** Until when the new seats of a move are held that is to be paid. */
  heldUntil: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type Change = z.infer<typeof changeSchema>

/** What all events about changes have: the registration as it is after the change. */
const changeData = registrationFactsSchema.extend({
  changeId: z.uuid(),
  terms: changeTermsSchema,
  /** The number of the registration's changes until then, this one included: the version of its calendar entries. */
  number: z.int(),
  /** The classes that it is about, with the children who sit there now, and its meetings. */
  classes: z.array(
    classSchema.extend({
      children: z.array(z.object({ childName: z.string(), childAge: z.int() })),
      ...scheduleSchema.shape,
    }),
  ),
  /** The payments from which `terms.back` goes back, in this order. */
  paymentIds: z.array(z.uuid()),
})

/** A family has cancelled the places of some of its children, or of all of them: the registration is over then. */
export const placesCancelled = defineEvent('enrollment', 'places.cancelled', changeData.extend({ isOver: z.boolean() }))

/** A family has moved some of its children, or all of them, into another class. */
export const placesMoved = defineEvent('enrollment', 'places.moved', changeData)

/** A move will not be paid any more: billing closes its checkout if it is still open. */
export const moveEnded = defineEvent(
  'enrollment',
  'move.ended',
  z.object({ changeId: z.uuid(), registrationId: z.uuid() }),
)

/** A move was paid too late and its seats were gone: the children keep their class, and billing refunds the payment. */
export const moveRefused = defineEvent(
  'enrollment',
  'move.refused',
  registrationFactsSchema.extend({ changeId: z.uuid(), terms: changeTermsSchema, paymentId: z.uuid() }),
)

/** The difference of a move was paid. */
export const movePaid = defineEvent(
  'billing',
  'move.paid',
  z.object({
    changeId: z.uuid(),
    registrationId: z.uuid(),
    paymentId: z.uuid(),
    ...moneySchema.shape,
    receiptNumber: z.string(),
    paidAt: z.iso.datetime(),
  }),
)

/** The checkout of a move has ended unpaid; it can no longer be paid. */
export const moveCheckoutEnded = defineEvent(
  'billing',
  'move_checkout.ended',
  z.object({ changeId: z.uuid(), registrationId: z.uuid(), reason: z.enum(['expired', 'failed']) }),
)

/** `POST /registrations/:id/move/options`: where these children can move, and for how much. */
export const moveOptionsBodySchema = z.object({ placeIds })
export const readMoveOptionsSchema = moveOptionsBodySchema.extend({ ...by, unitAmounts })
export type ReadMoveOptions = z.infer<typeof readMoveOptionsSchema>
export const moveOptionsSchema = z.object({
  /** Why they cannot be moved, in words for the family; null if they can. */
  refusal: z.string().nullable(),
  /** The last instant at which they can be; null if they cannot. */
  until: z.iso.datetime().nullable(),
  kitShipped: z.boolean(),
  /** By level and date. */
  options: z.array(classSchema.extend({ seatsLeft: z.int(), due: z.int(), back: z.int() })),
})
export type MoveOptions = z.infer<typeof moveOptionsSchema>

/** `POST /api/registrations/:reference/move/withdraw`. */
export const withdrawBodySchema = z.object({ changeId: uuid('changeId must be a UUID.') })

/** `POST /changes/:id/withdraw`: the family gives up a move that is not paid. */
export const withdrawSchema = z.object(by)

export const changesQuerySchema = z.object({ ownerId })

/** `GET /registrations/:id/changes`: the places of a registration, and what its family has confirmed, oldest first. */
export const changesSchema = z.object({ places: z.array(placeSchema), changes: z.array(changeSchema) })
export type Changes = z.infer<typeof changesSchema>

/** `POST /move-checkouts` at billing: the checkout of a move whose seats are held, as enrollment describes it. */
export const createMoveCheckoutSchema = z.object({ changeId: z.uuid() })

/** `POST /api/registrations/:reference/move`: what has happened, or where to pay first. */
export const moveResponseSchema = z.object({ change: changeSchema, checkoutUrl: z.url().nullable() })
export type MoveResponse = z.infer<typeof moveResponseSchema>
