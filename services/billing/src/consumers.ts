import { moveEnded, moveRefused, placesCancelled, placesMoved } from '@robokids/contracts/changes'
import {
  memberRejected,
  memberSeated,
  registrationCancelled,
  registrationExpired,
  registrationRejected,
  seasonOpened,
} from '@robokids/contracts/enrollment'
import { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import { requestClose } from './checkout/close-checkouts.ts'
import type { BillingConfig } from './config.ts'
import { applyAccountEvent } from './ownership/owners.ts'
import { promoteSeason } from './prices/promote-season.ts'
import { refundChange, refundMove, refundMovesOf } from './refunds/refund-change.ts'
import { refundRejected } from './refunds/request-refund.ts'
import { recordSeat, handleSeatRejected } from './membership/settle-seat.ts'

export const consumers: Consumer<BillingConfig>[] = [
  consume(registrationRejected, { from: 'beginning' }, refundRejected),
  consume(registrationExpired, { from: 'beginning' }, async (tx, event, context) => {
    await requestClose(tx, context, event.data.registrationId, Temporal.Instant.from(event.time))
  }),
  consume(registrationCancelled, { from: 'beginning' }, async (tx, event, context) => {
    if (event.data.reason === 'refunded') return refundMovesOf(tx, event.data, context)
    await requestClose(tx, context, event.data.registrationId, Temporal.Instant.from(event.time))
  }),
  consume(placesCancelled, { from: 'beginning' }, refundChange),
  consume(placesMoved, { from: 'beginning' }, refundChange),
  consume(moveEnded, { from: 'beginning' }, async (tx, event, context) => {
    await requestClose(tx, context, event.data.changeId, Temporal.Instant.from(event.time))
  }),
  consume(moveRefused, { from: 'beginning' }, refundMove),
  consume(seasonOpened, { from: 'beginning' }, promoteSeason),
  consume(memberSeated, { from: 'beginning' }, recordSeat),
  consume(memberRejected, { from: 'beginning' }, handleSeatRejected),
  consume(userConfirmed, { from: 'beginning' }, applyAccountEvent),
  consume(userUpdated, { from: 'beginning' }, applyAccountEvent),
  consume(userDeleted, { from: 'beginning' }, applyAccountEvent),
]
