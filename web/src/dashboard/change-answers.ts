import type { Change, ChangeQuote, Changes, Corrected, MoveOptions, MoveResponse } from '@robokids/contracts/changes'
import type { Choice } from '@robokids/contracts/class-cancellation'
import { answer } from '../api/answer.ts'
import changeQuoteShape from '../api/answers/change-quote.json'
import changeShape from '../api/answers/change.json'
import changesShape from '../api/answers/changes.json'
import choiceShape from '../api/answers/choice.json'
import correctedShape from '../api/answers/corrected.json'
import moveAnswerShape from '../api/answers/move-answer.json'
import moveOptionsShape from '../api/answers/move-options.json'

export const change = answer<Change>(changeShape)
export const changeQuote = answer<ChangeQuote>(changeQuoteShape)
export const choice = answer<Choice>(choiceShape)
export const changes = answer<Changes>(changesShape)
export const corrected = answer<Corrected>(correctedShape)
export const moveOptions = answer<MoveOptions>(moveOptionsShape)
export const moveAnswer = answer<MoveResponse>(moveAnswerShape)
