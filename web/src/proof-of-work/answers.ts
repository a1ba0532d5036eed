import type { Challenge } from '@robokids/contracts/proof'
import { answer } from '../api/answer.ts'
import proofChallengeShape from '../api/answers/proof-challenge.json'

export const proofChallenge = answer<{ challenge: Challenge | null }>(proofChallengeShape)
