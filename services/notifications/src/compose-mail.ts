import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { MembershipFacts } from '@robokids/contracts/membership'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, inArray, isNull, or } from 'drizzle-orm'
import { renderCalendar, startOf, type CalendarEntry } from './calendar.ts'
import type { Config } from './config.ts'
import { fetchSignedWaiver } from './fetch-signed-waiver.ts'
import { codeMail } from './mails/code-issued.ts'
import { contactMessageMail } from './mails/contact-message.ts'
import { kitShippedMail } from './mails/kit-shipped.ts'
import type { RenderedMail } from './mails/render-mail.ts'
import { membershipMail, sessionOf } from './mails/membership.ts'
import { shopOrderMail } from './mails/shop-order.ts'
import { paymentRefundedMail, tellsOfEnd } from './mails/payment-refunded.ts'
import { stockAlertRequestedMail, productAvailableMail } from './mails/stock-alert.ts'
import { refundFailedMail } from './mails/refund-failed.ts'
import { refundOwedMail } from './mails/refund-owed.ts'
import { registrationAskedAgainMail } from './mails/registration-asked-again.ts'
import { registrationConfirmedMail } from './mails/registration-confirmed.ts'
import { signInLockedMail } from './mails/sign-in-locked.ts'
import { smallClassesMail } from './mails/small-classes.ts'
import { userDeletedMail } from './mails/user-deleted.ts'
import { userUpdatedMail } from './mails/user-updated.ts'
import { waiverSignedMail } from './mails/waiver-signed.ts'
import { openCode } from './open-code.ts'
import { asLine, endsRegistration, isWhole } from './rules.ts'
import { mails, rejections, type MailData, type MailRow, type MembershipKind, type OrderKind } from './schema.ts'
import { MailOutdated } from './unsendable.ts'

interface Attachment {
  filename: string
  contentType: string
  content: Buffer
}

interface ComposedMail extends RenderedMail {
  /** Left out where no name is known. */
  recipientName?: string
  /** Whom a reply goes to, where not to us. */
  replyTo?: { name: string; address: string }
  attachments?: Attachment[]
}

/** A mail as it is sent: its pictures are attachments like any other. */
export type WholeMail = Omit<ComposedMail, 'images'> & {
  recipientName: string
  attachments: (Attachment | RenderedMail['images'][number])[]
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

/** The class as a calendar's entry: when it is first told of, or as one that does not take place any more. */
function calendarFile(
  entry: Pick<CalendarEntry, 'method' | 'uid' | 'title' | 'when' | 'description'>,
  { mail, context }: Pick<Writing, 'mail' | 'context'>,
): Attachment {
  const content = renderCalendar({
    ...entry,
    sequence: entry.method === 'PUBLISH' ? 0 : 1,
    stamp: mail.createdAt,
    organizer: context.config.MAIL_FROM,
  })
  const contentType = `text/calendar; charset=utf-8; method=${entry.method}`
  return { filename: 'robo-kids-class.ics', contentType, content: Buffer.from(content) }
}

function titleOf({ levelTitle, children }: RegistrationFacts): string {
  return `${levelTitle} (${children.map(({ childName }) => childName).join(', ')})`
}

/** What is known of a registration by now. */
async function progressOf(registrationId: string, { db }: Context<Config>) {
  const known = await db
    .select({ kind: mails.kind, data: mails.data })
    .from(mails)
    .where(
      and(
        eq(mails.registrationId, registrationId),
        // A membership's waiver names the membership, whose id a registration may have been given.
        or(isNull(mails.subject), eq(mails.subject, `registration:${registrationId}`)),
        inArray(mails.kind, ['payment_refunded', 'kit_shipped', 'waiver_signed']),
      ),
    )
  return {
    isCancelled: known.some(
      ({ kind, data }) => kind === 'payment_refunded' && data && endsRegistration(data as MailData[typeof kind]),
    ),
    isSigned: known.some(({ kind }) => kind === 'waiver_signed'),
    kitHasShipped: known.some(({ kind }) => kind === 'kit_shipped'),
  }
}

/** Whether nobody can open the profile page of a membership's owner any more. */
async function isAccountDeleted(
  { accountDeleted, ownerId }: MembershipFacts,
  { db }: Context<Config>,
): Promise<boolean> {
  if (accountDeleted === true) return true
  if (!ownerId) return false
  return (await db.$count(mails, and(eq(mails.userId, ownerId), eq(mails.kind, 'user_deleted')))) > 0
}

/** What the calendar entry that came with a confirmation is known by. */
function calendarUid({ calendarId }: Pick<MailRow, 'calendarId'>, registrationId: string): string {
  return calendarId === null ? `registration-${registrationId}` : `class-${calendarId}`
}

function confirmationCalendar(
  data: MailData['registration_confirmed'],
  writing: Pick<Writing, 'mail' | 'context'>,
): Attachment {
  const entry = {
    method: 'PUBLISH',
    uid: calendarUid(writing.mail, data.registrationId),
    title: titleOf(data),
    when: data,
    description: 'The class link comes by email once the waiver is signed.',
  } as const
  return calendarFile(entry, writing)
}

/**
 * The calendar entry of a registration as its confirmation brings it: whoever has added one already gets no second one.
 * @throws DomainError `registration_not_found` where none is confirmed, it is cancelled since, or its mail is forgotten
 */
export async function readCalendar(registrationId: string, context: Context<Config>): Promise<Buffer> {
  const fact = `registration_confirmed:${registrationId}`
  const [mail] = await context.db.select().from(mails).where(eq(mails.fact, fact))
  const { isCancelled } = await progressOf(registrationId, context)
  if (!mail?.data || isCancelled) {
    throw new DomainError('registration_not_found', 'There is no calendar entry for this registration.')
  }
  return confirmationCalendar(mail.data as MailData['registration_confirmed'], { mail, context }).content
}

const confirmation: Write<'registration_confirmed'> = async (data, writing) => {
  const { isSigned } = await progressOf(data.registrationId, writing.context)
  return {
    ...registrationConfirmedMail(data, writing.siteUrl, isSigned),
    recipientName: data.guardianName,
    attachments: [confirmationCalendar(data, writing)],
  }
}

const signedWaiver: Write<'waiver_signed'> = async (data, { context, siteUrl, limit }) => {
  const content = await fetchSignedWaiver(context.config, data.signedPdfPath, limit)
  const file = { filename: 'signed-waiver.pdf', contentType: 'application/pdf', content }
  const recipientName = data.classType === 'membership' ? '' : data.guardianName
  return { ...waiverSignedMail(data, siteUrl), recipientName, attachments: [file] }
}

/** Why a payment was not kept, where its registration was turned away. */
async function rejectionOf({ paymentId }: { paymentId: string }, { db }: Context<Config>) {
  const [rejection] = await db.select().from(rejections).where(eq(rejections.paymentId, paymentId))
  return rejection
}

const refund: Write<'payment_refunded'> = async (data, writing) => {
  const { mail, context, siteUrl } = writing
  const rejection = await rejectionOf(data, context)
  const background = { rejection, ...(await progressOf(data.registrationId, context)) }
  const rendered = {
    ...paymentRefundedMail(data, background, siteUrl),
    recipientName: data.purchase.guardianName,
  }
  if (!tellsOfEnd(data)) return rendered
  const { registrationId } = data.purchase
  const [confirmed] = await context.db
    .select({ calendarId: mails.calendarId })
    .from(mails)
    .where(eq(mails.fact, `registration_confirmed:${registrationId}`))
  const entry = {
    method: 'CANCEL',
    // Where no entry was sent there is none to take back, whatever this one is called.
    uid: confirmed ? calendarUid(confirmed, registrationId) : `class-${mail.id}`,
    title: titleOf(data.purchase),
    when: data.purchase,
    description: 'This registration is cancelled.',
  } as const
  return { ...rendered, attachments: [calendarFile(entry, writing)] }
}

const code: Write<'code_issued'> = (data, { mail, context, siteUrl }) => {
  const opened = openCode(mail, context)
  const validity = context.clock.now().until(opened.expiresAt)
  const rendered = codeMail(data, { code: opened.code, recipient: mail.recipient }, validity, siteUrl)
  return { ...rendered, recipientName: data.givenName }
}

const kitShipped: Write<'kit_shipped'> = async (data, { context, siteUrl }) => {
  const { isCancelled } = await progressOf(data.registrationId, context)
  return { ...kitShippedMail(data, siteUrl, isCancelled), recipientName: data.guardianName }
}

/**
 * The mails of these kinds about the same subject, the one about what happened last first. Events of different types may
 * overtake one another: what happened later may have been told already.
 */
async function othersAbout(mail: MailRow, kinds: MailRow['kind'][], { db }: Context<Config>): Promise<MailRow[]> {
  if (mail.subject === null) return []
  const isAbout = and(eq(mails.subject, mail.subject), inArray(mails.kind, kinds))
  return db.select().from(mails).where(isAbout).orderBy(desc(mails.happenedAt))
}

const ends: MailRow['kind'][] = ['membership_cancelled', 'membership_resumed', 'membership_ended']

function ofMembership<Kind extends MembershipKind>(kind: Kind): Write<Kind> {
  return async (data, { mail, context, siteUrl }) => {
    const hasProfile = !('attemptId' in data && (await isAccountDeleted(data, context)))
    const [last] = await othersAbout(mail, ends, context)
    const goesOn = last === undefined || last.kind === 'membership_resumed'
    return membershipMail(kind, data, { siteUrl, hasProfile, goesOn, leavesSession: false })
  }
}

type Seated = MailData['membership_confirmed']

/** What the entry of a members' session is known by: nothing that opens anything. */
function memberEntry(confirmed: Pick<MailRow, 'id' | 'calendarId'>, data: Seated) {
  return { uid: `class-${confirmed.calendarId ?? confirmed.id}`, title: 'Members’ session', when: sessionOf(data) }
}

const seated: Write<'membership_confirmed'> = async (data, writing) => {
  const rendered = await ofMembership('membership_confirmed')(data, writing)
  const entry = {
    method: 'PUBLISH',
    ...memberEntry(writing.mail, data),
    description: 'The link to the session comes by email before it.',
  } as const
  return { ...rendered, attachments: [calendarFile(entry, writing)] }
}

/** Where it ends before the session that it began with, its seat there is another member's. */
const memberLeft: Write<'membership_ended'> = async (data, writing) => {
  const { mail, context, siteUrl } = writing
  const [confirmed] = await othersAbout(mail, ['membership_confirmed'], context)
  const seat = confirmed?.status === 'sent' ? (confirmed.data as Seated | null) : null
  const starts = seat && startOf(sessionOf(seat)).toInstant()
  const leavesSession = starts !== null && Temporal.Instant.compare(Temporal.Instant.from(data.endedAt), starts) < 0
  const known = { siteUrl, hasProfile: true, goesOn: false, leavesSession }
  const rendered = membershipMail('membership_ended', data, known)
  if (!confirmed || !seat || !leavesSession) return rendered
  const entry = {
    method: 'CANCEL',
    ...memberEntry(confirmed, seat),
    description: 'This membership has ended.',
  } as const
  return { ...rendered, attachments: [calendarFile(entry, writing)] }
}

const reminder: Write<'membership_reminder'> = (data, writing) => {
  const { mail, context } = writing
  // What an administrator has sent again may be late.
  if (mail.sending === 1 && Temporal.Instant.compare(Temporal.Instant.from(data.renewsAt), context.clock.now()) <= 0) {
    throw new MailOutdated('The membership was to be renewed before this could be sent.')
  }
  return ofMembership('membership_reminder')(data, writing)
}

function ofOrder<Kind extends OrderKind>(kind: Kind): Write<Kind> {
  return async (data, { mail, context, siteUrl }) => {
    const refunds = await othersAbout(mail, ['order_refunded'], context)
    const isRefunded = refunds.some((refund) => refund.data && isWhole(refund.data as MailData['order_refunded']))
    return { ...shopOrderMail(kind, data, { siteUrl, isRefunded }), recipientName: data.shipTo?.name ?? '' }
  }
}

const writers: { [Kind in keyof MailData]: Write<Kind> } = {
  registration_confirmed: confirmation,
  waiver_signed: signedWaiver,
  payment_refunded: refund,
  refund_failed: async (data, { context, siteUrl }) => ({
    ...refundFailedMail(data, await rejectionOf(data, context), siteUrl),
    recipientName: data.purchase.guardianName,
  }),
  code_issued: code,
  user_updated: (data, { siteUrl }) => ({ ...userUpdatedMail(data, siteUrl), recipientName: data.givenName }),
  sign_in_locked: (data, { siteUrl }) => ({ ...signInLockedMail(data, siteUrl), recipientName: data.givenName }),
  user_deleted: (data) => ({ ...userDeletedMail(data), recipientName: data.givenName }),
  order_paid: ofOrder('order_paid'),
  order_refunded: ofOrder('order_refunded'),
  order_refund_failed: ofOrder('order_refund_failed'),
  order_shipped: ofOrder('order_shipped'),
  notice_asked: (data, { siteUrl }) => stockAlertRequestedMail(data, siteUrl),
  product_available: (data, { siteUrl }) => productAvailableMail(data, siteUrl),
  membership_confirmed: seated,
  membership_renewed: ofMembership('membership_renewed'),
  membership_past_due: ofMembership('membership_past_due'),
  membership_switched: ofMembership('membership_switched'),
  membership_cancelled: ofMembership('membership_cancelled'),
  membership_resumed: ofMembership('membership_resumed'),
  membership_ended: memberLeft,
  membership_reminder: reminder,
  membership_refunded: ofMembership('membership_refunded'),
  membership_refund_failed: ofMembership('membership_refund_failed'),
  payment_disputed: ofMembership('payment_disputed'),
  kit_shipped: kitShipped,
  registration_asked_again: (data, { siteUrl }) => ({
    ...registrationAskedAgainMail(data, siteUrl),
    recipientName: data.guardianName,
  }),
  membership_asked_again: ofMembership('membership_asked_again'),
  refund_owed: refundOwedMail,
  small_classes: smallClassesMail,
  contact_message: (data) => ({
    ...contactMessageMail(data),
    replyTo: { name: asLine(data.name, 100), address: data.email },
  }),
}

/**
 * Writes a mail from its row.
 * @param limit ends what has to be fetched for it.
 * @throws Unsendable where there is nothing to be sent any more, and whatever kept the signed waiver from being fetched.
 */
export async function composeMail(mail: MailRow, context: Context<Config>, limit: AbortSignal): Promise<WholeMail> {
  // A row has the data of its kind: `enqueueMail` sees to that.
  const write = writers[mail.kind] as Write<keyof MailData>
  const {
    images,
    attachments = [],
    ...composed
  } = await write(mail.data as never, {
    mail,
    context,
    siteUrl: context.config.SITE_URL,
    limit,
  })
  return { recipientName: '', ...composed, attachments: [...images, ...attachments] }
}
