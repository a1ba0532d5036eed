import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Schedule } from '@robokids/contracts/meetings'
import type { MemberClassFacts } from '@robokids/contracts/member-classes'
import type { MembershipFacts } from '@robokids/contracts/membership'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, inArray, isNull, or } from 'drizzle-orm'
import { renderClassCalendar, type CalendarEntry, type ClassCalendar } from './calendar.ts'
import type { Config } from './config.ts'
import { fetchSignedWaiver } from './fetch-signed-waiver.ts'
import { classCancelledMail } from './mails/class-cancelled.ts'
import { classLinkMissingMail } from './mails/class-link-missing.ts'
import { classReminderMail } from './mails/class-reminder.ts'
import { codeMail } from './mails/code-issued.ts'
import { moveRefusedMail, placesCancelledMail, placesMovedMail } from './mails/change.ts'
import { contactMessageMail } from './mails/contact-message.ts'
import { kitShippedMail } from './mails/kit-shipped.ts'
import type { RenderedMail } from './mails/render-mail.ts'
import { memberClassMail, whenOf, type MemberClassKind } from './mails/member-class.ts'
import { membershipMail, sessionOf } from './mails/membership.ts'
import { shopOrderMail } from './mails/shop-order.ts'
import { paymentRefundedMail, announcesEnd } from './mails/payment-refunded.ts'
import { stockAlertRequestedMail, productAvailableMail } from './mails/stock-alert.ts'
import { refundFailedMail } from './mails/refund-failed.ts'
import { refundOwedMail } from './mails/refund-owed.ts'
import { registrationAskedAgainMail } from './mails/registration-asked-again.ts'
import { registrationConfirmedMail } from './mails/registration-confirmed.ts'
import { rescheduledMail } from './mails/registration-rescheduled.ts'
import { signInLockedMail } from './mails/sign-in-locked.ts'
import { smallClassesMail } from './mails/small-classes.ts'
import { userDeletedMail } from './mails/user-deleted.ts'
import { userUpdatedMail } from './mails/user-updated.ts'
import { isTold, waitlistEndedMail, waitlistJoinedMail, waitlistOfferedMail } from './mails/waitlist.ts'
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
  /** Omitted if no name is known. */
  recipientName?: string
  /** The recipient of replies, if not us. */
  replyTo?: { name: string; address: string }
  attachments?: Attachment[]
}

/** A mail ready to be sent; its images are attachments. */
export type OutgoingMail = Omit<ComposedMail, 'images'> & {
  recipientName: string
  attachments: (Attachment | RenderedMail['images'][number])[]
}

/** What composing a mail needs besides its data. */
interface MailContext {
  mail: MailRow
  context: Context<Config>
  siteUrl: string
  /** Aborts fetching. */
  limit: AbortSignal
}

type Composer<Kind extends keyof MailData> = (
  data: MailData[Kind],
  mailContext: MailContext,
) => ComposedMail | Promise<ComposedMail>

/** Returns the calendar file of a class: its entries, or their cancellation. */
function calendarFile(
  file: Pick<ClassCalendar, 'method' | 'sequence' | 'entries'>,
  { mail, context }: Pick<MailContext, 'mail' | 'context'>,
): Attachment {
  const content = renderClassCalendar({ ...file, stamp: mail.createdAt, organizer: context.config.MAIL_FROM })
  const contentType = `text/calendar; charset=utf-8; method=${file.method}`
  return { filename: 'robo-kids-class.ics', contentType, content: Buffer.from(content) }
}

/** Returns what earlier events have said about a registration. */
async function registrationProgress(registrationId: string, { db }: Context<Config>) {
  const known = await db
    .select({ kind: mails.kind, data: mails.data })
    .from(mails)
    .where(
      and(
        eq(mails.registrationId, registrationId),
        // The waiver of a membership has the membership's id here; a registration could have the same id.
        or(isNull(mails.subject), eq(mails.subject, `registration:${registrationId}`)),
        inArray(mails.kind, ['payment_refunded', 'places_cancelled', 'kit_shipped', 'waiver_signed']),
      ),
    )
  return {
    isCancelled: known.some(
      ({ kind, data }) =>
        data &&
        ((kind === 'payment_refunded' && endsRegistration(data as MailData[typeof kind])) ||
          (kind === 'places_cancelled' && (data as MailData[typeof kind]).isOver)),
    ),
    isSigned: known.some(({ kind }) => kind === 'waiver_signed'),
    isKitShipped: known.some(({ kind }) => kind === 'kit_shipped'),
  }
}

/** Returns whether the account of a membership's owner is deleted, so that the profile page cannot be opened. */
async function isAccountDeleted(
  { accountDeleted, ownerId }: Pick<MembershipFacts, 'accountDeleted' | 'ownerId'>,
  { db }: Context<Config>,
): Promise<boolean> {
  if (accountDeleted === true) return true
  if (!ownerId) return false
  return (await db.$count(mails, and(eq(mails.userId, ownerId), eq(mails.kind, 'user_deleted')))) > 0
}

/** Returns the UID of the first calendar entry in a confirmation. */
function calendarUid({ calendarId }: Pick<MailRow, 'calendarId'>, registrationId: string): string {
  return calendarId === null ? `registration-${registrationId}` : `class-${calendarId}`
}

type AnyChange = MailData['places_cancelled' | 'places_moved']

/** A class in which children of a registration sit, or sat before they were moved or cancelled. */
type KnownClass = AnyChange['classes'][number]

/** The entries of a class in a registration's calendar, one for each meeting. */
function calendarEntries(
  { children, levelTitle, meetings, ...theClass }: KnownClass,
  { uid, description }: Pick<CalendarEntry, 'uid' | 'description'>,
): CalendarEntry[] {
  const isOver = children.length === 0
  const names = children.map(({ childName }) => childName).join(', ')
  const title = isOver ? levelTitle : `${levelTitle} (${names})`
  const cancelled = isOver ? { isCancelled: true } : {}
  if (meetings.length === 0) return [{ uid, title, when: theClass, description, ...cancelled }]
  return meetings.map(({ number, date: startDate, startTime, durationMinutes }) => ({
    uid: number === 1 ? uid : `${uid}-${number}`,
    title,
    when: { startDate, startTime, durationMinutes, timeZone: theClass.timeZone },
    description: `Meeting ${number} of ${meetings.length}. ${description}`,
    ...cancelled,
  }))
}

/**
 * Returns the classes of a registration as the events so far have told them, with the version of its calendar, which is incremented
 * by each change of a class, and of who sits where.
 */
async function knownClasses(facts: RegistrationFacts, { db }: Context<Config>) {
  const { registrationId } = facts
  const kinds: MailRow['kind'][] = [
    'registration_confirmed',
    'registration_rescheduled',
    'places_cancelled',
    'places_moved',
    'class_cancelled',
  ]
  const known = await db
    .select()
    .from(mails)
    .where(and(eq(mails.registrationId, registrationId), inArray(mails.kind, kinds)))
  const confirmed = known.find(({ fact }) => fact === `registration_confirmed:${registrationId}`)
  // Past its retention the confirmation has no data.
  const first = (confirmed?.data ?? facts) as RegistrationFacts & Partial<Schedule>
  const classes = new Map<string, KnownClass>()
  const learn = (one: KnownClass): void => {
    const before = classes.get(one.classSessionId)
    const isNewer = before === undefined || one.scheduleVersion >= before.scheduleVersion
    const { meetings, scheduleVersion } = isNewer ? one : before
    classes.set(one.classSessionId, { ...one, meetings, scheduleVersion })
  }
  learn({ ...first, meetings: first.meetings ?? [], scheduleVersion: first.scheduleVersion ?? 0 })
  const changes = known.flatMap(({ kind, data }) =>
    data !== null && (kind === 'places_cancelled' || kind === 'places_moved') ? [data as AnyChange] : [],
  )
  for (const { classes: changed } of changes.toSorted((a, b) => a.number - b.number))
    for (const one of changed) learn(one)
  for (const { kind, data } of known) {
    if (kind !== 'registration_rescheduled' || data === null) continue
    const { classSessionId, meetings, scheduleVersion } = data as MailData[typeof kind]
    const before = classes.get(classSessionId)
    if (before && before.scheduleVersion < scheduleVersion)
      classes.set(classSessionId, { ...before, meetings, scheduleVersion })
  }
  for (const { kind, data } of known) {
    if (kind !== 'class_cancelled' || data === null) continue
    const cancelled = data as MailData[typeof kind]
    const before = classes.get(cancelled.classSessionId)
    const version = Math.max(before?.scheduleVersion ?? 0, cancelled.scheduleVersion)
    classes.set(cancelled.classSessionId, { ...cancelled, ...before, scheduleVersion: version, children: [] })
  }
  const all = [...classes.values()]
  const versions = all.reduce((sum, { scheduleVersion }) => sum + scheduleVersion, 0)
  const sequence = versions + Math.max(0, ...changes.map(({ number }) => number))
  return { confirmed, firstSessionId: first.classSessionId, classes: all, sequence }
}

/**
 * The entries of all classes of a registration. The first one has the UIDs of the time when a registration had a single class, and
 * each other one has its own, so that a class from which all were moved stays canceled.
 */
function registrationEntries(
  { classes, firstSessionId }: Pick<Awaited<ReturnType<typeof knownClasses>>, 'classes' | 'firstSessionId'>,
  { uid, description }: Pick<CalendarEntry, 'uid' | 'description'>,
): CalendarEntry[] {
  return classes.flatMap((one) => {
    const { classSessionId } = one
    const own = classSessionId === firstSessionId ? uid : `${uid}-${classSessionId.slice(-12)}`
    return calendarEntries(one, { uid: own, description })
  })
}

async function registrationCalendar(
  facts: RegistrationFacts,
  mailContext: Pick<MailContext, 'mail' | 'context'>,
  shows: (one: KnownClass) => boolean = () => true,
): Promise<Attachment> {
  const { confirmed, classes, firstSessionId, sequence } = await knownClasses(facts, mailContext.context)
  const uid = calendarUid(confirmed ?? mailContext.mail, facts.registrationId)
  const description = 'We’ll email you the class link once the waiver is signed.'
  const entries = registrationEntries({ classes: classes.filter(shows), firstSessionId }, { uid, description })
  return calendarFile({ method: 'PUBLISH', sequence, entries }, mailContext)
}

/**
 * Returns the calendar of a registration, with the same entries as in its mails, so that adding it twice makes no duplicates.
 * @throws DomainError `registration_not_found` if it is not confirmed, was cancelled, or its mail is past its retention.
 */
export async function readCalendar(registrationId: string, context: Context<Config>): Promise<Buffer> {
  const fact = `registration_confirmed:${registrationId}`
  const [mail] = await context.db.select().from(mails).where(eq(mails.fact, fact))
  const { isCancelled } = await registrationProgress(registrationId, context)
  if (!mail?.data || isCancelled) {
    throw new DomainError('registration_not_found', 'There is no calendar event for this registration.')
  }
  const facts = mail.data as MailData['registration_confirmed']
  const { content } = await registrationCalendar(facts, { mail, context }, ({ children }) => children.length > 0)
  return content
}

const confirmation: Composer<'registration_confirmed'> = async (data, mailContext) => {
  const { isSigned } = await registrationProgress(data.registrationId, mailContext.context)
  return {
    ...registrationConfirmedMail(data, mailContext.siteUrl, isSigned, mailContext.context.clock.now()),
    recipientName: data.guardianName,
    attachments: [await registrationCalendar(data, mailContext)],
  }
}

const signedWaiver: Composer<'waiver_signed'> = async (data, { context, siteUrl, limit }) => {
  const content = await fetchSignedWaiver(context.config, data.signedPdfPath, limit)
  const file = { filename: 'signed-waiver.pdf', contentType: 'application/pdf', content }
  const recipientName = data.classType === 'membership' ? '' : data.guardianName
  return { ...waiverSignedMail(data, siteUrl), recipientName, attachments: [file] }
}

/** Returns why the registration of a payment was rejected, if it was. */
async function rejectionOf({ paymentId }: { paymentId: string }, { db }: Context<Config>) {
  const [rejection] = await db.select().from(rejections).where(eq(rejections.paymentId, paymentId))
  return rejection
}

const refund: Composer<'payment_refunded'> = async (data, mailContext) => {
  const { mail, context, siteUrl } = mailContext
  const rejection = await rejectionOf(data, context)
  const background = { rejection, ...(await registrationProgress(data.registrationId, context)) }
  const rendered = {
    ...paymentRefundedMail(data, background, siteUrl),
    recipientName: data.purchase.guardianName,
  }
  if (!announcesEnd(data)) return rendered
  const { registrationId } = data.purchase
  const { confirmed, classes, firstSessionId, sequence } = await knownClasses(data.purchase, context)
  // If no entry was sent, there is none to cancel, and the UID does not matter.
  const uid = confirmed ? calendarUid(confirmed, registrationId) : `class-${mail.id}`
  const description = 'This registration is canceled.'
  const entries = registrationEntries({ classes, firstSessionId }, { uid, description })
  const cancelled = entries.map((entry) => ({ ...entry, isCancelled: true }))
  const file = { method: 'CANCEL', sequence: sequence + 1, entries: cancelled } as const
  return { ...rendered, attachments: [calendarFile(file, mailContext)] }
}

const code: Composer<'code_issued'> = (data, { mail, context, siteUrl }) => {
  const opened = openCode(mail, context)
  const validity = context.clock.now().until(opened.expiresAt)
  const rendered = codeMail(data, { code: opened.code, recipient: mail.recipient }, validity, siteUrl)
  return { ...rendered, recipientName: data.givenName }
}

const kitShipped: Composer<'kit_shipped'> = async (data, { context, siteUrl }) => {
  const { isCancelled } = await registrationProgress(data.registrationId, context)
  return { ...kitShippedMail(data, siteUrl, isCancelled), recipientName: data.guardianName }
}

/**
 * Returns the mails of these kinds about the same subject, the latest event first. Events of different types can overtake one
 * another, so a mail about a later event may exist already.
 */
async function relatedMails(mail: MailRow, kinds: MailRow['kind'][], { db }: Context<Config>): Promise<MailRow[]> {
  if (mail.subject === null) return []
  const isAbout = and(eq(mails.subject, mail.subject), inArray(mails.kind, kinds))
  return db.select().from(mails).where(isAbout).orderBy(desc(mails.happenedAt))
}

const endKinds: MailRow['kind'][] = ['membership_cancelled', 'membership_resumed', 'membership_ended']

function membershipComposer<Kind extends MembershipKind>(kind: Kind): Composer<Kind> {
  return async (data, { mail, context, siteUrl }) => {
    const hasProfile = !('attemptId' in data && (await isAccountDeleted(data, context)))
    const [last] = await relatedMails(mail, endKinds, context)
    const isActive = last === undefined || last.kind === 'membership_resumed'
    return membershipMail(kind, data, { siteUrl, hasProfile, isActive })
  }
}

type SeatedMember = MailData['membership_confirmed']

/** Returns the calendar entry of a members' session. Its UID gives no access to anything. */
function memberCalendarEntry(confirmed: Pick<MailRow, 'id' | 'calendarId'>, data: SeatedMember) {
  return { uid: `class-${confirmed.calendarId ?? confirmed.id}`, title: 'Members’ session', when: sessionOf(data) }
}

const membershipConfirmed: Composer<'membership_confirmed'> = async (data, mailContext) => {
  const rendered = await membershipComposer('membership_confirmed')(data, mailContext)
  const description = 'We’ll email you the link before the session starts.'
  const entries = [{ ...memberCalendarEntry(mailContext.mail, data), description }]
  return { ...rendered, attachments: [calendarFile({ method: 'PUBLISH', sequence: 0, entries }, mailContext)] }
}

/** Returns the UID of a class: that of the mail in which it was told first. */
async function memberClassUid({ membershipId, bookingId }: MemberClassFacts, { mail, context }: MailContext) {
  const fact = bookingId === membershipId ? `membership_confirmed:${membershipId}` : `member_class_booked:${bookingId}`
  const [first = mail] = await context.db.select().from(mails).where(eq(mails.fact, fact))
  return `class-${first.calendarId ?? first.id}`
}

/** A mail about a class of a membership, with its calendar entry. */
function memberClassComposer<Kind extends MemberClassKind>(kind: Kind): Composer<Kind> {
  return async (data, mailContext) => {
    const { context, siteUrl } = mailContext
    const hasDashboard = !(await isAccountDeleted(data, context))
    const rendered = memberClassMail(kind, data, { siteUrl, hasDashboard })
    if (kind === 'member_class_not_restored') return rendered
    const method = kind === 'member_class_cancelled' ? 'CANCEL' : 'PUBLISH'
    const description =
      method === 'CANCEL' ? 'This class is canceled.' : 'We’ll email you the link before the class starts.'
    const entry = {
      uid: await memberClassUid(data, mailContext),
      title: 'Members’ session',
      when: whenOf(data),
      description,
    }
    return {
      ...rendered,
      attachments: [calendarFile({ method, sequence: data.changes, entries: [entry] }, mailContext)],
    }
  }
}

const reminder: Composer<'membership_reminder'> = (data, mailContext) => {
  const { mail, context } = mailContext
  // A mail that an administrator resends may be late.
  if (mail.sending === 1 && Temporal.Instant.compare(Temporal.Instant.from(data.renewsAt), context.clock.now()) <= 0) {
    throw new MailOutdated('The membership was to be renewed before this could be sent.')
  }
  return membershipComposer('membership_reminder')(data, mailContext)
}

const classReminder: Composer<'class_reminder'> = (data, { mail, context, siteUrl }) => {
  const { kind, meeting, guardianName } = data
  const start = Temporal.Instant.from(meeting.startsAt)
  const until = kind === 'hour' ? start.add({ minutes: meeting.durationMinutes }) : start
  const isOver = Temporal.Instant.compare(until, context.clock.now()) <= 0
  // A mail that an administrator resends may be late.
  if (kind !== 'follow_up' && mail.sending === 1 && isOver) {
    throw new MailOutdated('The class had begun before this could be sent.')
  }
  return { ...classReminderMail(data, siteUrl), recipientName: guardianName }
}

function orderComposer<Kind extends OrderKind>(kind: Kind): Composer<Kind> {
  return async (data, { mail, context, siteUrl }) => {
    const refunds = await relatedMails(mail, ['order_refunded'], context)
    const isRefunded = refunds.some((refund) => refund.data && isWhole(refund.data as MailData['order_refunded']))
    return { ...shopOrderMail(kind, data, { siteUrl, isRefunded }), recipientName: data.shipTo?.name ?? '' }
  }
}

const composers: { [Kind in keyof MailData]: Composer<Kind> } = {
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
  order_paid: orderComposer('order_paid'),
  order_refunded: orderComposer('order_refunded'),
  order_refund_failed: orderComposer('order_refund_failed'),
  order_shipped: orderComposer('order_shipped'),
  notice_asked: (data, { siteUrl }) => stockAlertRequestedMail(data, siteUrl),
  product_available: (data, { siteUrl }) => productAvailableMail(data, siteUrl),
  membership_confirmed: membershipConfirmed,
  membership_renewed: membershipComposer('membership_renewed'),
  membership_past_due: membershipComposer('membership_past_due'),
  membership_switched: membershipComposer('membership_switched'),
  membership_cancelled: membershipComposer('membership_cancelled'),
  membership_resumed: membershipComposer('membership_resumed'),
  membership_ended: membershipComposer('membership_ended'),
  membership_reminder: reminder,
  membership_refunded: membershipComposer('membership_refunded'),
  membership_refund_failed: membershipComposer('membership_refund_failed'),
  payment_disputed: membershipComposer('payment_disputed'),
  member_class_booked: memberClassComposer('member_class_booked'),
  member_class_moved: memberClassComposer('member_class_moved'),
  member_class_cancelled: memberClassComposer('member_class_cancelled'),
  member_class_not_restored: memberClassComposer('member_class_not_restored'),
  kit_shipped: kitShipped,
  class_reminder: classReminder,
  registration_rescheduled: async (data, mailContext) => ({
    ...rescheduledMail(data, mailContext.siteUrl),
    recipientName: data.guardianName,
    attachments: [await registrationCalendar(data, mailContext)],
  }),
  class_cancelled: async (data, mailContext) => ({
    ...classCancelledMail(data, mailContext.siteUrl),
    recipientName: data.guardianName,
    // A family that had not paid has no entries.
    ...(data.choice ? { attachments: [await registrationCalendar(data, mailContext)] } : {}),
  }),
  places_cancelled: async (data, mailContext) => ({
    ...placesCancelledMail(
      data,
      await registrationProgress(data.registrationId, mailContext.context),
      mailContext.siteUrl,
    ),
    recipientName: data.guardianName,
    attachments: [await registrationCalendar(data, mailContext)],
  }),
  places_moved: async (data, mailContext) => ({
    ...placesMovedMail(data, mailContext.siteUrl),
    recipientName: data.guardianName,
    attachments: [await registrationCalendar(data, mailContext)],
  }),
  move_refused: (data, { siteUrl }) => ({ ...moveRefusedMail(data, siteUrl), recipientName: data.guardianName }),
  class_link_missing: classLinkMissingMail,
  registration_asked_again: (data, { siteUrl }) => ({
    ...registrationAskedAgainMail(data, siteUrl),
    recipientName: data.guardianName,
  }),
  membership_asked_again: membershipComposer('membership_asked_again'),
  refund_owed: refundOwedMail,
  small_classes: smallClassesMail,
  contact_message: (data) => ({
    ...contactMessageMail(data),
    replyTo: { name: asLine(data.name, 100), address: data.email },
  }),
  waitlist_joined: (data, { siteUrl }) => ({
    ...waitlistJoinedMail(data, siteUrl),
    recipientName: data.guardianName,
  }),
  waitlist_offered: (data, { mail, context, siteUrl }) => {
    // A mail that an administrator resends may be late.
    const isOver = Temporal.Instant.compare(Temporal.Instant.from(data.offerEndsAt), context.clock.now()) <= 0
    if (mail.sending === 1 && isOver) throw new MailOutdated('The offer ended before this could be sent.')
    return { ...waitlistOfferedMail(data, siteUrl), recipientName: data.guardianName }
  },
  waitlist_ended: (data, { siteUrl }) => {
    const { outcome } = data
    if (!isTold(outcome)) throw new MailOutdated('The family ended it itself. This row drops what is still to be sent.')
    return { ...waitlistEndedMail({ ...data, outcome }, siteUrl), recipientName: data.guardianName }
  },
}

/**
 * Composes a mail from its row.
 * @param limit aborts fetching.
 * @throws Unsendable if the mail can no longer be sent, or the error of fetching the signed waiver.
 */
export async function composeMail(mail: MailRow, context: Context<Config>, limit: AbortSignal): Promise<OutgoingMail> {
  // `enqueueMail` guarantees that a row has the data of its kind.
  const compose = composers[mail.kind] as Composer<keyof MailData>
  const {
    images,
    attachments = [],
    ...composed
  } = await compose(mail.data as never, {
    mail,
    context,
    siteUrl: context.config.SITE_URL,
    limit,
  })
  return { recipientName: '', ...composed, attachments: [...images, ...attachments] }
}
