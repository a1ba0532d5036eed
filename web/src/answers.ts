import type { RegisterAnswer, RegistrationView, WaiverAnswer } from '@robokids/contracts/bff'
import registerAnswerShape from './answers/register-answer.json'
import registrationViewShape from './answers/registration-view.json'
import waiverAnswerShape from './answers/waiver-answer.json'

import { answer } from './answer.ts'

export const registerAnswer = answer<RegisterAnswer>(registerAnswerShape)
export const registrationView = answer<RegistrationView>(registrationViewShape)
export const waiverAnswer = answer<WaiverAnswer>(waiverAnswerShape)
