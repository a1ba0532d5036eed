import type { MessageSent } from '@robokids/contracts/contact'
import { answer } from '../api/answer.ts'
import messageTakenShape from '../api/answers/message-taken.json'

export const messageTaken = answer<MessageSent>(messageTakenShape)
