import {
  memberRejected,
  memberSeated,
  registrationCancelled,
  registrationExpired,
  registrationRejected,
} from '@robokids/contracts/enrollment'
import { userDeleted, userUpdated } from '@robokids/contracts/identity'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import { requestClose } from './close-checkouts.ts'
import type { BillingConfig } from './config.ts'
import { refundSeatGone } from './request-refund.ts'
import { endOfDeleted, followAddress, noteSeat, turnAway } from './settle-seat.ts'

export const consumers: Consumer<BillingConfig>[] = [
  consume(registrationRejected, (tx, event, context) => refundSeatGone(tx, context, event.data.payment.paymentId)),
  consume(registrationExpired, async (tx, event, context) => {
    await requestClose(tx, context, event.data.registrationId, Temporal.Instant.from(event.time))
  }),
  consume(registrationCancelled, async (tx, event, context) => {
    if (event.data.reason === 'refunded') return
    await requestClose(tx, context, event.data.registrationId, Temporal.Instant.from(event.time))
  }),
  consume(memberSeated, noteSeat),
  consume(memberRejected, turnAway),
  consume(userUpdated, followAddress),
  consume(userDeleted, endOfDeleted),
]
