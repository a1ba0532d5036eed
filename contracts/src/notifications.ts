import { z } from 'zod'
import { defineEvent } from './event.ts'
import { codeMedia } from './identity.ts'

export const mailKinds = [
  'registration_confirmed',
  'waiver_signed',
  'payment_refunded',
  'refund_failed',
  'code_issued',
  'user_updated',
  'sign_in_locked',
  'user_deleted',
  'order_paid',
  'order_refunded',
  'order_refund_failed',
  'order_shipped',
  'notice_asked',
  'product_available',
  'membership_confirmed',
  'membership_renewed',
  'membership_past_due',
  'membership_switched',
  'membership_cancelled',
  'membership_resumed',
  'membership_ended',
  'membership_reminder',
  'membership_refunded',
  'membership_refund_failed',
  'payment_disputed',
  'kit_shipped',
  'refund_owed',
  'registration_asked_again',
  'membership_asked_again',
  'small_classes',
  'contact_message',
] as const
export type MailKind = (typeof mailKinds)[number]

/** `dropped`: not sent, because what it tells was not true any more, or a later mail tells it as well. */
export const mailStatuses = ['pending', 'sent', 'failed', 'dropped'] as const

/**
 * `GET /mails?registrationId=`, `?userId=` or `?email=` (administrators): one row a fact, the newest 500 of them, oldest
 * first. Never what a code is.
 */
export const mailSchema = z.object({
  mailId: z.uuid(),
  kind: z.enum(mailKinds),
  /** What the mail tells, once: `registration_confirmed:{registrationId}`. */
  fact: z.string(),
  /** A text message is sent as a mail is. */
  medium: z.enum(codeMedia),
  /** Null where it is not about a registration. */
  registrationId: z.uuid().nullable(),
  /** Null where it is not about an account. */
  userId: z.uuid().nullable(),
  /** The e-mail address, or the phone number. */
  recipient: z.string(),
  status: z.enum(mailStatuses),
  attempts: z.int(),
  /** Why it could not be sent, or was dropped. */
  lastError: z.string().nullable(),
  sentAt: z.iso.datetime().nullable(),
})
export type Mail = z.infer<typeof mailSchema>

export const mailsQuerySchema = z
  .object({
    registrationId: z.uuid({ error: 'registrationId must be a UUID.' }).optional(),
    userId: z.uuid({ error: 'userId must be a UUID.' }).optional(),
    /** Of the recipient, in whatever case. */
    email: z.string().max(320).optional(),
  })
  .refine(({ registrationId, userId, email }) => (registrationId ?? userId ?? email) !== undefined, {
    path: ['registrationId'],
    error: 'registrationId, userId or email is required.',
  })
export type MailsQuery = z.infer<typeof mailsQuerySchema>
export const mailsSchema = z.object({ mails: z.array(mailSchema) })

const mailFact = z.object({
  mailId: z.uuid(),
  kind: z.enum(mailKinds),
  registrationId: z.uuid().nullable(),
  /** Absent from events of the time when every mail was about a registration. */
  userId: z.uuid().nullish(),
})

export const mailDelivered = defineEvent('notifications', 'mail.delivered', mailFact)
/** Given up after the last try. */
export const mailFailed = defineEvent('notifications', 'mail.failed', mailFact.extend({ reason: z.string() }))
