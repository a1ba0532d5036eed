import type { ClassesView, RegisterAnswer, RegistrationView, WaiverAnswer } from '@robokids/contracts/bff'
import classesViewShape from './answers/classes-view.json'
import registerAnswerShape from './answers/register-answer.json'
import registrationViewShape from './answers/registration-view.json'
import waiverAnswerShape from './answers/waiver-answer.json'

import { answer } from './answer.ts'

export const classesView = answer<ClassesView>(classesViewShape)
export const registerAnswer = answer<RegisterAnswer>(registerAnswerShape)
export const registrationView = answer<RegistrationView>(registrationViewShape)
export const waiverAnswer = answer<WaiverAnswer>(waiverAnswerShape)
