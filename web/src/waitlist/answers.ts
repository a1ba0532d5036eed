import type { WaitlistView } from '@robokids/contracts/waitlist'
import { answer } from '../api/answer.ts'
import waitlistViewShape from '../api/answers/waitlist-view.json'

export const waitlistView = answer<WaitlistView>(waitlistViewShape)
