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
  'member_class_booked',
  'member_class_moved',
  'member_class_cancelled',
  'member_class_not_restored',
  'kit_shipped',
  'class_reminder',
  'registration_rescheduled',
  'class_cancelled',
  'places_cancelled',
  'places_moved',
  'move_refused',
  'class_link_missing',
  'refund_owed',
  'registration_asked_again',
  'membership_asked_again',
  'small_classes',
  'contact_message',
  'waitlist_joined',
  'waitlist_offered',
  'waitlist_ended',
] as const
export type MailKind = (typeof mailKinds)[number]

/** `dropped`: not sent, because its content was outdated or a later mail includes it. */
export const mailStatuses = ['pending', 'sent', 'failed', 'dropped'] as const

/**
 * `GET /mails?registrationId=`, `?userId=` or `?email=` (administrators): one row per fact, the newest 500 of them, oldest
 * first. Never contains a code.
 */
export const mailSchema = z.object({
  mailId: z.uuid(),
  kind: z.enum(mailKinds),
  /** The deduplication key: `registration_confirmed:{registrationId}`. */
  fact: z.string(),
  /** Text messages are recorded like mails. */
  medium: z.enum(codeMedia),
  /** Null if it is not about a registration. */
  registrationId: z.uuid().nullable(),
  /** Null if it is not about an account. */
  userId: z.uuid().nullable(),
  /** The email address or phone number. */
  recipient: z.string(),
  status: z.enum(mailStatuses),
  attempts: z.int(),
  /** Why it could not be sent or was dropped. */
  lastError: z.string().nullable(),
  sentAt: z.iso.datetime().nullable(),
})
export type Mail = z.infer<typeof mailSchema>

export const mailsQuerySchema = z
  .object({
    registrationId: z.uuid({ error: 'registrationId must be a UUID.' }).optional(),
    userId: z.uuid({ error: 'userId must be a UUID.' }).optional(),
    /** The recipient's address, ignoring case. */
    email: z.string().max(320).optional(),
  })
  .refine(({ registrationId, userId, email }) => (registrationId ?? userId ?? email) !== undefined, {
    path: ['registrationId'],
    error: 'registrationId, userId or email is required.',
  })
export type MailsQuery = z.infer<typeof mailsQuerySchema>
export const mailsSchema = z.object({ mails: z.array(mailSchema) })

const mailData = z.object({
  mailId: z.uuid(),
  kind: z.enum(mailKinds),
  registrationId: z.uuid().nullable(),
  /** Absent from events of the time when all mails were about registrations. */
  userId: z.uuid().nullish(),
})

export const mailDelivered = defineEvent('notifications', 'mail.delivered', mailData)
/** A mail was given up after the last attempt. */
export const mailFailed = defineEvent('notifications', 'mail.failed', mailData.extend({ reason: z.string() }))
