import type { MessageTaken } from '@robokids/contracts/contact'
import { answer } from '../answer.ts'
import messageTakenShape from '../answers/message-taken.json'

export const messageTaken = answer<MessageTaken>(messageTakenShape)
