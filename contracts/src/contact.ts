import { z } from 'zod'
import { contactTopics, maxMessageLength, type ContactTopic } from './contact-topics.ts'
import { email, lineOfText, requiredLine, requiredText } from './fields.ts'

/** `POST /api/contact`: a message to the school. No confirmation is mailed, because the typed address may be someone else's. */
export const contactMessageSchema = z.object({
  /** UUIDv7 created by the client. The same message sent again under it is mailed once; another message is 409 `id_reused`. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  name: requiredLine('Name', 100),
  email,
  topic: z.enum(Object.keys(contactTopics) as [ContactTopic, ...ContactTopic[]], {
    error: 'Choose what it is about.',
  }),
  /** The order or registration, in the sender's words. */
  reference: lineOfText('Order or registration', 100).default(''),
  message: requiredText('Message', maxMessageLength),
})
export type ContactMessage = z.infer<typeof contactMessageSchema>

/** `POST /messages`: the same, with whether the address is the verified address of the sending account. */
export const sendMessageSchema = contactMessageSchema.extend({ isProven: z.boolean().default(false) })
export type SendMessage = z.infer<typeof sendMessageSchema>

/** The response to both: a reference that the sender and the school can quote. */
export const messageSentSchema = z.object({ reference: z.string() })
export type MessageSent = z.infer<typeof messageSentSchema>

/** Returns the reference of a message id: `M-0F3A9C1B`. It gives access to nothing. */
export function messageReference(id: string): string {
  return `M-${id.slice(-8).toUpperCase()}`
}
