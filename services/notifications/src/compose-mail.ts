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
import { mails, rejections, type MailData, type MailRow, type MembershipKind, type OrderKind } from './schema.ts'
import { MailOutdated } from './unsendable.ts'

interface Attachment {
  filename: string
  contentType: string
  content: Buffer
}

interface ComposedMail extends RenderedLetter {
  /** Left out where no name is known. */
  recipientName?: string
  attachments?: Attachment[]
}

/** What a mail is written from, beside its data. */
interface Writing {
  mail: MailRow
  context: Context<Config>
  siteUrl: string
  /** Ends what is fetched for it. */
  limit: AbortSignal
}

type Write<Kind extends keyof MailData> = (
  data: MailData[Kind],
  writing: Writing,
) => ComposedMail | Promise<ComposedMail>

function calendarFile(method: 'PUBLISH' | 'CANCEL', content: string): Attachment {
  const contentType = `text/calendar; charset=utf-8; method=${method}`
  return { filename: 'robo-kids-class.ics', contentType, content: Buffer.from(content) }
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

const confirmation: Write<'registration_confirmed'> = async (data, { mail, context, siteUrl }) => {
  if (await wasCancelled(data.registrationId, data.payment.paymentId, context)) {
    throw new MailOutdated('The registration was cancelled before this could be sent.')
  }
  const calendar = renderCalendar({
    method: 'PUBLISH',
    facts: data,
    sequence: 0,
    stamp: mail.createdAt,
    organizer: context.config.MAIL_FROM,
    description: `The class link comes by email once the waiver is signed:\n${siteUrl}/robokids/waiver?reference=${data.registrationId}`,
  })
  return {
    ...registrationConfirmedMail(data, siteUrl),
    recipientName: data.guardianName,
    attachments: [calendarFile('PUBLISH', calendar)],
  }
}

const signedWaiver: Write<'waiver_signed'> = async (data, { context, limit }) => {
  const content = await fetchSignedWaiver(context.config, data.signedPdfPath, limit)
  const file = { filename: 'signed-waiver.pdf', contentType: 'application/pdf', content }
  return { ...waiverSignedMail(data), recipientName: data.guardianName, attachments: [file] }
}

const refund: Write<'payment_refunded'> = async (data, { mail, context, siteUrl }) => {
  const [rejection] = await context.db.select().from(rejections).where(eq(rejections.paymentId, data.paymentId))
  const letter = {
    ...paymentRefundedMail(data, rejection?.reason, siteUrl),
    recipientName: data.purchase.guardianName,
  }
  if (data.again === true || !endsRegistration(data)) return letter
  const calendar = renderCalendar({
    method: 'CANCEL',
    facts: data.purchase,
    sequence: 1,
    stamp: mail.createdAt,
    organizer: context.config.MAIL_FROM,
    description: 'This registration is cancelled.',
  })
  return { ...letter, attachments: [calendarFile('CANCEL', calendar)] }
}

const code: Write<'code_issued'> = (data, { mail, context, siteUrl }) => {
  const opened = openCode(mail, context)
  const validity = context.clock.now().until(opened.expiresAt)
  const letter = codeMail(data, { code: opened.code, recipient: mail.recipient }, validity, siteUrl)
  return { ...letter, recipientName: data.givenName }
}

const reminder: Write<'membership_reminder'> = (data, { context, siteUrl }) => {
  if (Temporal.Instant.compare(Temporal.Instant.from(data.renewsAt), context.clock.now()) <= 0) {
    throw new MailOutdated('The membership was to be renewed before this could be sent.')
  }
  return membershipMail('membership_reminder', data, siteUrl)
}

function ofMembership<Kind extends MembershipKind>(kind: Kind): Write<Kind> {
  return (data, { siteUrl }) => membershipMail(kind, data, siteUrl)
}

function ofOrder<Kind extends OrderKind>(kind: Kind): Write<Kind> {
  return (data, { siteUrl }) => ({ ...orderMailOf(kind, data, siteUrl), recipientName: data.shipTo?.name ?? '' })
}

const writers: { [Kind in keyof MailData]: Write<Kind> } = {
  registration_confirmed: confirmation,
  waiver_signed: signedWaiver,
  payment_refunded: refund,
  refund_failed: (data) => ({ ...refundFailedMail(data), recipientName: data.purchase.guardianName }),
  code_issued: code,
  user_updated: (data, { siteUrl }) => ({ ...userUpdatedMail(data, siteUrl), recipientName: data.givenName }),
  sign_in_locked: (data, { siteUrl }) => ({ ...signInLockedMail(data, siteUrl), recipientName: data.givenName }),
  user_deleted: (data) => ({ ...userDeletedMail(data), recipientName: data.givenName }),
  order_paid: ofOrder('order_paid'),
  order_refunded: ofOrder('order_refunded'),
  order_refund_failed: ofOrder('order_refund_failed'),
  order_shipped: ofOrder('order_shipped'),
  notice_asked: (data, { siteUrl }) => noticeAskedMail(data, siteUrl),
  product_available: (data, { siteUrl }) => productAvailableMail(data, siteUrl),
  membership_confirmed: ofMembership('membership_confirmed'),
  membership_renewed: ofMembership('membership_renewed'),
  membership_past_due: ofMembership('membership_past_due'),
  membership_switched: ofMembership('membership_switched'),
  membership_cancelled: ofMembership('membership_cancelled'),
  membership_resumed: ofMembership('membership_resumed'),
  membership_ended: ofMembership('membership_ended'),
  membership_reminder: reminder,
  membership_refunded: ofMembership('membership_refunded'),
  membership_refund_failed: ofMembership('membership_refund_failed'),
  payment_disputed: ofMembership('payment_disputed'),
}

/**
 * Writes a mail from its row.
 * @param limit ends what has to be fetched for it.
 * @throws Unsendable where there is nothing to be sent any more, and whatever kept the signed waiver from being fetched.
 */
export async function composeMail(
  mail: MailRow,
  context: Context<Config>,
  limit: AbortSignal,
): Promise<Required<ComposedMail>> {
  // A row has the data of its kind: `orderMail` sees to that.
  const write = writers[mail.kind] as Write<keyof MailData>
  const composed = await write(mail.data as never, { mail, context, siteUrl: context.config.SITE_URL, limit })
  return { recipientName: '', attachments: [], ...composed }
}
