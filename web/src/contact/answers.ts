import type { MessageSent } from '@robokids/contracts/contact'
import { answer } from '../answer.ts'
import messageTakenShape from '../answers/message-taken.json'

export const messageTaken = answer<MessageSent>(messageTakenShape)
