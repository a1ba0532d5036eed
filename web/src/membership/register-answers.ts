import type { AvailableSlots } from '@robokids/contracts/enrollment'
import { answer } from '../api/answer.ts'
import availableSlotsShape from '../api/answers/available-slots.json'
import membershipCheckoutAnswerShape from '../api/answers/membership-checkout-answer.json'

export const availableSlots = answer<AvailableSlots>(availableSlotsShape)
export const membershipCheckoutAnswer = answer<{ url: string; message?: string }>(membershipCheckoutAnswerShape)
