import type { Choice } from '@robokids/contracts/class-cancellation'
import { sampleChange } from './sample-change.ts'

const { from, lines, registrationId } = sampleChange.terms
const chooseUntil = '2030-01-30T01:00:00.000Z'
const choiceId = '4f6bd0f5-3f7e-4f6b-9a57-0d6f7a3b5c11'

/** The choice of a family whose class the school has cancelled. */
export const sampleChoice: Choice = {
  choiceId,
  registrationId,
  guardianName: 'Maren Holt',
  from,
  chooseUntil,
  isOpen: true,
  places: lines.map(({ placeId, childName }) => ({
    ...from,
    placeId,
    childName,
    childAge: 8,
    status: 'seated',
    paidAmount: 40_000,
    moves: 0,
    cancelledAt: null,
    classCancelled: { choiceId, chooseUntil, back: 40_000 },
  })),
  back: 40_000,
  sent: 0,
  pending: null,
}
