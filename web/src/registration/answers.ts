import type { RegisterResponse, RegistrationView } from '@robokids/contracts/bff'
import { answer } from '../api/answer.ts'
import registerAnswerShape from '../api/answers/register-answer.json'
import registrationViewShape from '../api/answers/registration-view.json'

export const registerAnswer = answer<RegisterResponse>(registerAnswerShape)
export const registrationView = answer<RegistrationView>(registrationViewShape)
