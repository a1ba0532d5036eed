import { randomBytes } from 'node:crypto'
import { classCalendar } from '@robokids/contracts/class-calendar'
import { maxOfFamily, type CalendarFeed } from '@robokids/contracts/dashboard'
import { renderCalendar } from '@robokids/runtime/calendar'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq, notInArray } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { readBookedClasses } from '../members/lock-member.ts'
import { ownSeats } from '../members/read-classes.ts'
import { listOwned } from '../registrations/read-registrations.ts'
import { paymentProblem } from '../rules.ts'
import { calendarEntries, calendarFeeds } from '../schema.ts'
import { updateEntries, type FeedEntry } from './calendar-rules.ts'

/** 256 bits: it cannot be guessed. */
const newToken = () => randomBytes(32).toString('base64url')

/** The address of an account's calendar, made at the first request. */
export async function calendarFeedOf(ownerId: string, { db, clock }: Context<Config>): Promise<CalendarFeed> {
  const values = { ownerId, token: newToken(), createdAt: clock.now() }
  const [made] = await db.insert(calendarFeeds).values(values).onConflictDoNothing().returning()
  if (made) return { token: made.token }
  const [known = values] = await db.select().from(calendarFeeds).where(eq(calendarFeeds.ownerId, ownerId))
  return { token: known.token }
}

/** Gives an account's calendar a new address; the old one stops working at once. */
export async function renewCalendarFeed(ownerId: string, { db, clock }: Context<Config>): Promise<CalendarFeed> {
  const set = { token: newToken(), createdAt: clock.now() }
  await db
    .insert(calendarFeeds)
    .values({ ownerId, ...set })
    .onConflictDoUpdate({ target: calendarFeeds.ownerId, set })
  return { token: set.token }
}

/** The calendar of a deleted account ends. */
export async function endCalendarFeed(tx: Transaction, ownerId: string): Promise<void> {
  await tx.delete(calendarFeeds).where(eq(calendarFeeds.ownerId, ownerId))
  await tx.delete(calendarEntries).where(eq(calendarEntries.ownerId, ownerId))
}

/** All meetings of an account's paid classes, each once, with all of the children who attend it. */
async function currentEntries(ownerId: string, context: Context<Config>): Promise<FeedEntry[]> {
  const owned = await listOwned(context.db, ownerId, maxOfFamily)
  const attended = owned.flatMap(({ places = [], payment }) => {
    const isPaid = payment !== null && paymentProblem(payment.state ?? 'paid') === undefined
    return isPaid ? places.filter(({ status, classCancelled }) => status === 'seated' && !classCancelled) : []
  })
  const ofLevels = [...Map.groupBy(attended, ({ classSessionId }) => classSessionId)].flatMap(([id, places]) => {
    const [first] = places
    if (!first) return []
    const names = [...new Set(places.map(({ childName }) => childName))].join(', ')
    return (first.meetings ?? []).map((meeting) => ({
      entryId: `meeting-${id}-${meeting.number}`,
      title: `${first.levelTitle} (${names})`,
      startsAt: Temporal.Instant.from(meeting.startsAt),
      timeZone: first.timeZone,
      durationMinutes: meeting.durationMinutes,
    }))
  })
  const members = await readBookedClasses(context.db, await ownSeats(context.db, ownerId))
  const ofMembers = members.map(({ booking, session: { startsAt, timeZone, durationMinutes } }) => ({
    entryId: `member-${booking.bookingId}`,
    title: 'Members’ session',
    startsAt,
    timeZone,
    durationMinutes,
  }))
  return [...ofLevels, ...ofMembers]
}

/**
 * The calendar at a secret address, as iCalendar.
 * @throws DomainError `calendar_not_found`
 */
export async function readCalendarFeed(token: string, context: Context<Config>): Promise<string> {
  const { db, clock } = context
  const [feed] = await db.select().from(calendarFeeds).where(eq(calendarFeeds.token, token))
  if (!feed) throw calendarNotFound()
  const { ownerId } = feed
  const current = await currentEntries(ownerId, context)
  const entries = await db.transaction(async (tx) => {
    // Programs read the same calendar at the same time.
    const [locked] = await tx.select().from(calendarFeeds).where(eq(calendarFeeds.token, token)).for('update')
    if (!locked) throw calendarNotFound()
    const known = await tx.select().from(calendarEntries).where(eq(calendarEntries.ownerId, ownerId))
    const shown = updateEntries(known, current, clock.now())
    for (const entry of shown.filter((one) => !known.includes(one as (typeof known)[number]))) {
      await tx
        .insert(calendarEntries)
        .values({ ...entry, ownerId })
        .onConflictDoUpdate({ target: [calendarEntries.ownerId, calendarEntries.entryId], set: entry })
    }
    const ids = shown.map(({ entryId }) => entryId)
    const isGone = ids.length === 0 ? undefined : notInArray(calendarEntries.entryId, ids)
    if (known.length > 0) await tx.delete(calendarEntries).where(and(eq(calendarEntries.ownerId, ownerId), isGone))
    return shown
  })
  return renderCalendar({
    product: classCalendar.product,
    subscription: { name: 'Robo Kids Learning', refresh: 'PT1H' },
    events: entries.map(
      ({ entryId, title, startsAt, timeZone, durationMinutes, isCancelled, sequence, changedAt }) => ({
        uid: classCalendar.uid(entryId),
        summary: classCalendar.summary(title),
        description: 'The class link is on your page from 30 minutes before the class.',
        location: classCalendar.location,
        start: startsAt.toZonedDateTimeISO(timeZone),
        durationMinutes,
        isCancelled,
        sequence,
        stamp: changedAt,
      }),
    ),
  })
}

function calendarNotFound(): DomainError {
  return new DomainError('calendar_not_found', 'There is no such calendar. Its address may have been replaced.')
}
