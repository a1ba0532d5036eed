import type { WaiverResponse } from '@robokids/contracts/bff'
import type { WaiverDocument } from '@robokids/contracts/enrollment'
import { answer } from '../api/answer.ts'
import waiverAnswerShape from '../api/answers/waiver-answer.json'
import waiverDocumentShape from '../api/answers/waiver-document.json'

export const waiverAnswer = answer<WaiverResponse>(waiverAnswerShape)
export const waiverDocument = answer<WaiverDocument>(waiverDocumentShape)
