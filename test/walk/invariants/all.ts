import type { Walk } from '../walk.ts'
import { ledgerAgrees, noDeadLetters } from './operation.ts'
import { moneyHasItsThing, openPagesHoldTheirSeats } from './payments.ts'
import { seatsAddUp } from './seats.ts'

type Invariant = (walk: Walk) => Promise<void>

/** True after each step, whatever is under way. */
export const always: Invariant[] = [seatsAddUp]

/** True when all has settled. */
export const settled: Invariant[] = [seatsAddUp, noDeadLetters, moneyHasItsThing, openPagesHoldTheirSeats, ledgerAgrees]
