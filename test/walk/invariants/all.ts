import type { Walk } from '../walk.ts'
import { mailsMatchState, lastMailIsTrue } from './mails.ts'
import { changesAreRefunded, childrenSitOnce, movesEnd, placesAddUp } from './changes.ts'
import { creditsAddUp, creditsAgree } from './credits.ts'
import { homesAgree } from './homes.ts'
import { cancelledIsNotCharged, membershipsHaveOwners, sessionsAreCurrent } from './memberships.ts'
import { ledgerAgrees, noDeadLetters } from './operation.ts'
import { chargesHavePurchases, openPagesHoldTheirSeats } from './payments.ts'
import { seatsAddUp, unpaidSeatsAreFew } from './seats.ts'
import { linesAreServed, offersEnd } from './waitlist.ts'
import { listsAgree, purchasesHaveOwners, viewsAgree } from './views.ts'

/** @throws Violation */
export type Invariant = (walk: Walk) => Promise<void>

/** Rules that hold after each step. */
export const always: Invariant[] = [
  seatsAddUp,
  placesAddUp,
  childrenSitOnce,
  unpaidSeatsAreFew,
  linesAreServed,
  creditsAddUp,
]

/** Rules that hold when all processing has settled. */
export const settled: Invariant[] = [
  seatsAddUp,
  creditsAddUp,
  creditsAgree,
  linesAreServed,
  offersEnd,
  placesAddUp,
  childrenSitOnce,
  movesEnd,
  changesAreRefunded,
  noDeadLetters,
  chargesHavePurchases,
  openPagesHoldTheirSeats,
  cancelledIsNotCharged,
  lastMailIsTrue,
  mailsMatchState,
  purchasesHaveOwners,
  ledgerAgrees,
]

/** Rules checked only at the end of a walk, because reading may change state. */
export const atTheEnd: Invariant[] = [viewsAgree, listsAgree, homesAgree, membershipsHaveOwners, sessionsAreCurrent]
