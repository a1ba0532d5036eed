import { z } from 'zod'
import { contactTopics, longestMessage, type ContactTopic } from './contact-topics.ts'
import { email, lineOfText, requiredLine, requiredText } from './fields.ts'

/** `POST /api/contact`: a message to the school. Answered to nobody's mailbox: an address that somebody types is not theirs. */
export const contactMessageSchema = z.object({
  /** UUIDv7 made by the client: sent again under the same id, the same message is mailed once; another is 409 `id_reused`. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  name: requiredLine('Name', 100),
  email,
  topic: z.enum(Object.keys(contactTopics) as [ContactTopic, ...ContactTopic[]], {
    error: 'Choose what it is about.',
  }),
  /** An order or a registration, however its writer names it. */
  reference: lineOfText('Order or registration', 100).default(''),
  message: requiredText('Message', longestMessage),
})
export type ContactMessage = z.infer<typeof contactMessageSchema>

/** `POST /messages`: the same, with whether the address is proven to be that of the account that sends it. */
export const takeMessageSchema = contactMessageSchema.extend({ isProven: z.boolean().default(false) })
export type TakeMessage = z.infer<typeof takeMessageSchema>

/** The answer to both: what its writer and the school can call the message by. */
export const messageTakenSchema = z.object({ reference: z.string() })
export type MessageTaken = z.infer<typeof messageTakenSchema>

/** `M-0F3A9C1B`, of a message's id: of no use to anybody else. */
export function messageReference(id: string): string {
  return `M-${id.slice(-8).toUpperCase()}`
}
