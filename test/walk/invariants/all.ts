import type { Walk } from '../walk.ts'
import { mailsSayWhatIsSo, theLastMailIsTrue } from './mails.ts'
import { cancelledIsNotCharged, membershipsHaveOwners, sessionsAreCurrent } from './memberships.ts'
import { ledgerAgrees, noDeadLetters } from './operation.ts'
import { moneyHasItsThing, openPagesHoldTheirSeats } from './payments.ts'
import { seatsAddUp, unpaidSeatsAreFew } from './seats.ts'
import { listsAgree, purchasesHaveOwners, viewsAgree } from './views.ts'

/** @throws Violation */
export type Invariant = (walk: Walk) => Promise<void>

/** True after each step, whatever is under way. */
export const always: Invariant[] = [seatsAddUp, unpaidSeatsAreFew]

/** True when all has settled. */
export const settled: Invariant[] = [
  seatsAddUp,
  noDeadLetters,
  moneyHasItsThing,
  openPagesHoldTheirSeats,
  cancelledIsNotCharged,
  theLastMailIsTrue,
  mailsSayWhatIsSo,
  purchasesHaveOwners,
  ledgerAgrees,
]

/** True then as well, and looked at once a walk is over: to look may be to change something. */
export const atTheEnd: Invariant[] = [viewsAgree, listsAgree, membershipsHaveOwners, sessionsAreCurrent]
