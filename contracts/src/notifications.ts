import { z } from 'zod'
import { defineEvent } from './event.ts'

export const mailKinds = ['registration_confirmed', 'waiver_signed', 'payment_refunded'] as const
export type MailKind = (typeof mailKinds)[number]

export const mailStatuses = ['pending', 'sent', 'failed'] as const

/** `GET /mails?registrationId=` (administrators): one row a fact. */
export const mailSchema = z.object({
  mailId: z.uuid(),
  kind: z.enum(mailKinds),
  /** What the mail tells, once: `registration_confirmed:{registrationId}`. */
  fact: z.string(),
  registrationId: z.uuid(),
  recipient: z.string(),
  status: z.enum(mailStatuses),
  attempts: z.int(),
  lastError: z.string().nullable(),
  sentAt: z.iso.datetime().nullable(),
})
export type Mail = z.infer<typeof mailSchema>
export const mailsQuerySchema = z.object({ registrationId: z.uuid({ error: 'registrationId must be a UUID.' }) })
export const mailsSchema = z.object({ mails: z.array(mailSchema) })

const mailFact = z.object({ mailId: z.uuid(), kind: z.enum(mailKinds), registrationId: z.uuid() })

export const mailDelivered = defineEvent('notifications', 'mail.delivered', mailFact)
/** Given up after the last try. */
export const mailFailed = defineEvent('notifications', 'mail.failed', mailFact.extend({ reason: z.string() }))
