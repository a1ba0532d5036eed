import {
  checkoutCreated,
  checkoutExpired,
  membershipCheckoutExpired,
  paymentCompleted,
  paymentDisputed,
  paymentFailed,
  paymentRefunded,
  refundDeclined,
  refundFailed,
  refundRequested,
  subscriptionActivated,
  subscriptionEnded,
} from '@robokids/contracts/billing'
import { moveCheckoutEnded, movePaid } from '@robokids/contracts/changes'
import { userConfirmed, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { memberCreditChanged } from '@robokids/contracts/member-classes'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Config } from './config.ts'
import { endMoveOfCheckout } from './changes/end-moves.ts'
import { settleMove } from './changes/move-places.ts'
import { endCalendarFeed } from './families/calendar-feed.ts'
import { endHoldOfAttempt } from './registrations/end-hold.ts'
import { endMemberHold } from './members/hold-member-seat.ts'
import { recordAttempt } from './registrations/record-attempt.ts'
import { settle } from './payments/settle-payment.ts'
import { syncOwnership } from './registrations/owners.ts'
import { recordDispute, recordRefund, settleFullRefund } from './payments/settle-refund.ts'
import { endMember } from './members/end-member.ts'
import { receiveCredit } from './members/receive-credit.ts'
import { seatMember } from './members/seat-member.ts'

export const consumers: Consumer<Config>[] = [
  consume(checkoutCreated, { from: 'beginning' }, recordAttempt),
  consume(checkoutExpired, { from: 'beginning' }, async (tx, { data }, context) => {
    if (data.replaced !== true) await endHoldOfAttempt(tx, data, context)
  }),
  consume(paymentCompleted, { from: 'beginning' }, settle),
  consume(paymentFailed, { from: 'beginning' }, async (tx, event, context) => {
    if (event.data.final) await endHoldOfAttempt(tx, event.data, context)
  }),
  consume(paymentRefunded, { from: 'beginning' }, settleFullRefund),
  consume(refundRequested, { from: 'beginning' }, (tx, { data }) =>
    recordRefund(tx, data, { underWayTotal: data.underWayTotal }),
  ),
  consume(refundDeclined, { from: 'beginning' }, (tx, { data }) => recordRefund(tx, data, { failed: true })),
  consume(refundFailed, { from: 'beginning' }, (tx, { data }) => recordRefund(tx, data, { failed: true })),
  consume(paymentDisputed, { from: 'beginning' }, recordDispute),
  consume(movePaid, { from: 'beginning' }, settleMove),
  consume(moveCheckoutEnded, { from: 'beginning' }, endMoveOfCheckout),
  consume(subscriptionActivated, { from: 'beginning' }, seatMember),
  consume(subscriptionEnded, { from: 'beginning' }, endMember),
  consume(memberCreditChanged, { from: 'beginning' }, receiveCredit),
  consume(membershipCheckoutExpired, { from: 'beginning' }, (tx, { data }, context) =>
    endMemberHold(tx, data, context),
  ),
  consume(userConfirmed, { from: 'beginning' }, syncOwnership),
  consume(userUpdated, { from: 'beginning' }, syncOwnership),
  consume(userDeleted, { from: 'beginning' }, async (tx, event, context) => {
    await syncOwnership(tx, event, context)
    await endCalendarFeed(tx, event.data.userId)
  }),
]
