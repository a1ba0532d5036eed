import type { Membership, MembershipOutcome, SwitchQuote } from '@robokids/contracts/billing'
import type { MemberSeat } from '@robokids/contracts/enrollment'
import { answer } from '../api/answer.ts'
import foundMembershipShape from '../api/answers/found-membership.json'
import memberSeatShape from '../api/answers/member-seat.json'
import membershipOutcomeShape from '../api/answers/membership-outcome.json'
import membershipShape from '../api/answers/membership.json'
import portalShape from '../api/answers/portal.json'
import switchQuoteShape from '../api/answers/switch-quote.json'

export const membership = answer<Membership>(membershipShape)
export interface FoundMembership {
  membership: Membership | null
  /** Further active memberships, which came to the account with an email. */
  others?: Membership[]
}

export const foundMembership = answer<FoundMembership>(foundMembershipShape)
export const membershipOutcome = answer<MembershipOutcome>(membershipOutcomeShape)
export const portal = answer<{ url: string }>(portalShape)
export const switchQuote = answer<SwitchQuote>(switchQuoteShape)
export const memberSeat = answer<MemberSeat>(memberSeatShape)
