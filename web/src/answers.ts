import type { RegisterResponse, RegistrationView, WaiverResponse } from '@robokids/contracts/bff'
import type { WaiverDocument } from '@robokids/contracts/enrollment'
import registerAnswerShape from './answers/register-answer.json'
import registrationViewShape from './answers/registration-view.json'
import waiverAnswerShape from './answers/waiver-answer.json'
import waiverDocumentShape from './answers/waiver-document.json'

import { answer } from './answer.ts'

export const registerAnswer = answer<RegisterResponse>(registerAnswerShape)
export const registrationView = answer<RegistrationView>(registrationViewShape)
export const waiverAnswer = answer<WaiverResponse>(waiverAnswerShape)
export const waiverDocument = answer<WaiverDocument>(waiverDocumentShape)
