import { messageReference } from '@robokids/contracts/contact'
import { contactTopics } from '@robokids/contracts/contact-topics'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { richText } from './rich-text.ts'

/** Composes the mail to the school with a message from the contact page. A reply goes to the sender of the message. */
export function contactMessageMail(data: MailData['contact_message']): RenderedMail {
  const { id, name, email, topic, reference, message, isProven } = data
  const number = messageReference(id)
  const about = contactTopics[topic]
  return renderMail({
    subject: [`${number} ${about}: `, ...richText`${name}`],
    heading: 'A message from the contact page',
    opening: [['Reply to this email to answer the sender.']],
    facts: [
      { label: 'From', lines: [richText`${name}`, richText`${email}`] },
      {
        label: 'Address',
        lines: [
          [
            isProven
              ? 'Verified: the sender was logged in, and this is their account’s address.'
              : 'Not verified: anyone could have typed it. Don’t share anything about a family that you wouldn’t tell a stranger.',
          ],
        ],
      },
      { label: 'About', lines: [[about], ...(reference === '' ? [] : [richText`${reference}`])] },
      { label: 'Message number', lines: [[number]] },
    ],
    quote: message.split('\n').map((line) => richText`${line}`),
    closing: [],
  })
}
