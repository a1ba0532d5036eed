import {
  checkoutCreated,
  checkoutExpired,
  membershipCheckoutExpired,
  paymentCompleted,
  paymentFailed,
  paymentRefunded,
  subscriptionActivated,
  subscriptionEnded,
} from '@robokids/contracts/billing'
import { consume, type Consumer } from '@robokids/runtime/inbox'
import type { Config } from './config.ts'
import { endHoldOfAttempt } from './end-hold.ts'
import { endMemberHold } from './hold-member-seat.ts'
import { noteAttempt } from './note-attempt.ts'
import { settle } from './settle-payment.ts'
import { settleFullRefund } from './settle-refund.ts'
import { releaseMemberSeat, seatMember } from './seat-member.ts'

export const consumers: Consumer<Config>[] = [
  consume(checkoutCreated, { from: 'beginning' }, noteAttempt),
  consume(checkoutExpired, { from: 'beginning' }, (tx, event, context) => endHoldOfAttempt(tx, event.data, context)),
  consume(paymentCompleted, { from: 'beginning' }, settle),
  consume(paymentFailed, { from: 'beginning' }, async (tx, event, context) => {
    if (event.data.final) await endHoldOfAttempt(tx, event.data, context)
  }),
  consume(paymentRefunded, { from: 'beginning' }, settleFullRefund),
  consume(subscriptionActivated, { from: 'beginning' }, seatMember),
  consume(subscriptionEnded, { from: 'beginning' }, releaseMemberSeat),
  consume(membershipCheckoutExpired, { from: 'beginning' }, (tx, { data }, context) =>
    endMemberHold(tx, data, context),
  ),
]
