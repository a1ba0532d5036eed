import type { Challenge } from '@robokids/contracts/proof'
import { answer } from '../answer.ts'
import proofChallengeShape from '../answers/proof-challenge.json'

export const proofChallenge = answer<{ challenge: Challenge | null }>(proofChallengeShape)
