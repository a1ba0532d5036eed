import { and, eq, sql } from 'drizzle-orm'
import type { Context } from '@robokids/runtime/service'
import { renderCalendar } from './calendar.ts'
import type { Config } from './config.ts'
import { fetchSignedWaiver } from './fetch-signed-waiver.ts'
import { codeMail } from './mails/code-issued.ts'
import type { RenderedLetter } from './mails/letter.ts'
import { membershipMail } from './mails/membership.ts'
import { orderMailOf } from './mails/order.ts'
import { endsRegistration, paymentRefundedMail } from './mails/payment-refunded.ts'
import { noticeAskedMail, productAvailableMail } from './mails/product-notice.ts'
import { refundFailedMail } from './mails/refund-failed.ts'
import { registrationConfirmedMail } from './mails/registration-confirmed.ts'
import { signInLockedMail } from './mails/sign-in-locked.ts'
import { userDeletedMail } from './mails/user-deleted.ts'
import { userUpdatedMail } from './mails/user-updated.ts'
import { waiverSignedMail } from './mails/waiver-signed.ts'
import { openCode } from './open-code.ts'
import { mails, rejections, type MailData, type MailRow } from './schema.ts'
import { MailOutdated } from './unsendable.ts'

interface Attachment {
  filename: string
  contentType: string
  content: Buffer
}

interface ComposedMail extends RenderedLetter {
  recipientName: string
  attachments: Attachment[]
}

function calendarFile(method: 'PUBLISH' | 'CANCEL', content: string): Attachment {
  const contentType = `text/calendar; charset=utf-8; method=${method}`
  return { filename: 'robo-kids-class.ics', contentType, content: Buffer.from(content) }
}

function codeLetter(mail: MailRow, data: MailData['code_issued'], context: Context<Config>): RenderedLetter {
  const { code, expiresAt } = openCode(mail, context)
  return codeMail(
    data,
    { code, recipient: mail.recipient },
    context.clock.now().until(expiresAt),
    context.config.SITE_URL,
  )
}

/** Whether all that was paid went back in the meantime, at somebody's wish: the registration is cancelled. */
async function wasCancelled(registrationId: string, paymentId: string, { db }: Context<Config>): Promise<boolean> {
  const refunds = await db
    .select({ data: mails.data })
    .from(mails)
    .where(
      and(
        eq(mails.registrationId, registrationId),
        eq(mails.kind, 'payment_refunded'),
        sql`${mails.data} ->> 'paymentId' = ${paymentId}`,
      ),
    )
  return refunds.some(({ data }) => endsRegistration(data as MailData['payment_refunded']))
}

async function confirmation(mail: MailRow, data: MailData['registration_confirmed'], context: Context<Config>) {
  if (await wasCancelled(data.registrationId, data.payment.paymentId, context)) {
    throw new MailOutdated('The registration was cancelled before this could be sent.')
  }
  const { SITE_URL, MAIL_FROM } = context.config
  const calendar = renderCalendar({
    method: 'PUBLISH',
    facts: data,
    sequence: 0,
    stamp: mail.createdAt,
    organizer: MAIL_FROM,
    description: `The class link comes by email once the waiver is signed:\n${SITE_URL}/robokids/waiver?reference=${data.registrationId}`,
  })
  return { letter: registrationConfirmedMail(data, SITE_URL), attachments: [calendarFile('PUBLISH', calendar)] }
}

async function refund(mail: MailRow, data: MailData['payment_refunded'], context: Context<Config>) {
  const { db, config } = context
  const [rejection] = await db.select().from(rejections).where(eq(rejections.paymentId, data.paymentId))
  const letter = paymentRefundedMail(data, rejection?.reason, config.SITE_URL)
  if (data.again === true || !endsRegistration(data)) return { letter, attachments: [] }
  const calendar = renderCalendar({
    method: 'CANCEL',
    facts: data.purchase,
    sequence: 1,
    stamp: mail.createdAt,
    organizer: config.MAIL_FROM,
    description: 'This registration is cancelled.',
  })
  return { letter, attachments: [calendarFile('CANCEL', calendar)] }
}

/**
 * Writes a mail from its row.
 * @throws Unsendable where there is nothing to be sent any more, and whatever kept the signed waiver from being fetched.
 */
export async function composeMail(mail: MailRow, context: Context<Config>): Promise<ComposedMail> {
  switch (mail.kind) {
    case 'registration_confirmed': {
      const data = mail.data as MailData['registration_confirmed']
      const { letter, attachments } = await confirmation(mail, data, context)
      return { ...letter, recipientName: data.guardianName, attachments }
    }
    case 'waiver_signed': {
      const data = mail.data as MailData['waiver_signed']
      const content = await fetchSignedWaiver(context.config, data.signedPdfPath)
      const file = { filename: 'signed-waiver.pdf', contentType: 'application/pdf', content }
      return { ...waiverSignedMail(data), recipientName: data.guardianName, attachments: [file] }
    }
    case 'payment_refunded': {
      const data = mail.data as MailData['payment_refunded']
      const { letter, attachments } = await refund(mail, data, context)
      return { ...letter, recipientName: data.purchase.guardianName, attachments }
    }
    case 'refund_failed': {
      const data = mail.data as MailData['refund_failed']
      return { ...refundFailedMail(data), recipientName: data.purchase.guardianName, attachments: [] }
    }
    case 'code_issued': {
      const data = mail.data as MailData['code_issued']
      return { ...codeLetter(mail, data, context), recipientName: data.givenName, attachments: [] }
    }
    case 'user_updated': {
      const data = mail.data as MailData['user_updated']
      return { ...userUpdatedMail(data, context.config.SITE_URL), recipientName: data.givenName, attachments: [] }
    }
    case 'sign_in_locked': {
      const data = mail.data as MailData['sign_in_locked']
      return { ...signInLockedMail(data, context.config.SITE_URL), recipientName: data.givenName, attachments: [] }
    }
    case 'user_deleted': {
      const data = mail.data as MailData['user_deleted']
      return { ...userDeletedMail(data), recipientName: data.givenName, attachments: [] }
    }
    case 'order_paid':
    case 'order_refunded':
    case 'order_refund_failed':
    case 'order_shipped': {
      const data = mail.data as MailData[typeof mail.kind]
      const letter = orderMailOf(mail.kind, data, context.config.SITE_URL)
      return { ...letter, recipientName: data.shipTo?.name ?? '', attachments: [] }
    }
    case 'notice_asked': {
      const data = mail.data as MailData['notice_asked']
      return { ...noticeAskedMail(data, context.config.SITE_URL), recipientName: '', attachments: [] }
    }
    case 'product_available': {
      const data = mail.data as MailData['product_available']
      return { ...productAvailableMail(data, context.config.SITE_URL), recipientName: '', attachments: [] }
    }
    case 'membership_confirmed':
    case 'membership_renewed':
    case 'membership_past_due':
    case 'membership_switched':
    case 'membership_cancelled':
    case 'membership_resumed':
    case 'membership_ended':
    case 'membership_reminder':
    case 'membership_refunded':
    case 'membership_refund_failed':
    case 'payment_disputed': {
      const letter = membershipMail(mail.kind, mail.data as MailData[typeof mail.kind], context.config.SITE_URL)
      return { ...letter, recipientName: '', attachments: [] }
    }
  }
}
