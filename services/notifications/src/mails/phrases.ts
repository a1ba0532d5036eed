import { classTimeZone, formatClassDate, formatClassTime, schoolDate } from '@robokids/contracts/class-date'
import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Meeting } from '@robokids/contracts/meetings'
import type { MailContent } from './render-mail.ts'
import { richText, type RichText } from './rich-text.ts'

/** `Pacific Time` */
function zoneName(timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longGeneric' }).formatToParts()
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? timeZone
}

export function dateOf({ startDate }: Pick<RegistrationFacts, 'startDate'>): string {
  return formatClassDate(startDate)
}

/** Returns whether this process knows a time zone; one from a browser may be unknown. */
function isKnownTimeZone(timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export type When = Pick<RegistrationFacts, 'startDate' | 'startTime' | 'timeZone' | 'familyTimeZone'>

/**
 * Returns the start time of a class: `4:00 PM Pacific Time` and, if the family's local time differs,
 * `7:00 PM your time (Eastern Time)` or `Saturday, January 23, 1:00 AM your time (Germany Time)`.
 */
export function timesOf({ startDate, startTime, timeZone, familyTimeZone }: When): string[] {
  const atSchool = `${formatClassTime(startTime)} ${zoneName(timeZone)}`
  if (!familyTimeZone || !isKnownTimeZone(familyTimeZone)) return [atSchool]
  const wallClock = Temporal.PlainDate.from(startDate).toPlainDateTime(startTime)
  const theirs = wallClock.toZonedDateTime(timeZone).withTimeZone(familyTimeZone).toPlainDateTime()
  if (theirs.equals(wallClock)) return [atSchool]
  const date = theirs.toPlainDate().toString()
  const day = date === startDate ? '' : `${dayAndMonth(date)}, `
  const time = formatClassTime(theirs.toPlainTime().toString({ smallestUnit: 'minute' }))
  return [atSchool, `${day}${time} your time (${zoneName(familyTimeZone)})`]
}

/** Returns the children's names for a subject line: `Ivo`, `Ivo and Mia`, `Ivo, Mia and 2 more`. */
export function shortChildren({ children }: Pick<RegistrationFacts, 'children'>): RichText {
  const [first = '', second = '', third = ''] = children.map((child) => child.childName)
  if (children.length === 1) return richText`${first}`
  if (children.length === 2) return richText`${first} and ${second}`
  if (children.length === 3) return richText`${first}, ${second} and ${third}`
  return [...richText`${first}, ${second}`, ` and ${children.length - 2} more`]
}

export function classFact(facts: Pick<RegistrationFacts, 'levelTitle'>): MailContent['facts'][number] {
  return { label: 'Class', lines: [[facts.levelTitle], ['Live, on a video call']] }
}

export function whenFact(facts: When & Pick<RegistrationFacts, 'durationMinutes'>): MailContent['facts'][number] {
  return {
    label: 'When',
    lines: [[dateOf(facts)], ...timesOf(facts).map((line) => [line]), [`${facts.durationMinutes} minutes`]],
  }
}

/** `Friday, January 22` */
export function dayAndMonth(date: string): string {
  return formatClassDate(date).replace(/, \d+$/, '')
}

/** The dates of a program, with the time of those that differ from the first one. */
export function datesFact(meetings: Meeting[]): MailContent['facts'] {
  if (meetings.length < 2) return []
  const usual = meetings[0]?.startTime
  const lines = meetings.map(({ number, date, startTime }) => {
    const time = startTime === usual ? '' : `, ${formatClassTime(startTime)} Pacific`
    return [`${number}. ${formatClassDate(date)}${time}`]
  })
  return [{ label: `All ${meetings.length} dates`, lines }]
}

export function childrenFact({ children }: Pick<RegistrationFacts, 'children'>): MailContent['facts'][number] {
  const lines = children.map(({ childName, childAge }) => [...richText`${childName}`, `, age ${childAge}`])
  return { label: children.length === 1 ? 'Child' : 'Children', lines }
}

export function addressFact({ address }: RegistrationFacts): MailContent['facts'][number] {
  const { addressLine1, addressLine2, city, state, zipCode } = address
  return {
    label: 'Kit ships to',
    lines: [
      richText`${addressLine1}`,
      ...(addressLine2 === '' ? [] : [richText`${addressLine2}`]),
      richText`${city}, ${state} ${zipCode}`,
    ],
  }
}

/** For a family whose registration was cancelled after the kit had shipped. */
export const keepKit: RichText = [
  'Your kit is already on its way to you. Reply to this email and we’ll tell you how to return it.',
]

export const questions: RichText = ['Questions? Just reply to this email. We answer within 48 hours, Monday to Friday.']

/** Returns the step that links to the current state of a registration. */
export function registrationStep(registrationId: string, siteUrl: string): NonNullable<MailContent['step']> {
  return {
    text: ['You can check on your registration at any time:'],
    label: 'See your registration',
    url: `${siteUrl}/robokids/success?reference=${registrationId}`,
  }
}

/** `Saturday, November 28, 2026 at 4:05 PM` */
function formatInstant(instant: string, timeZone: string): string {
  const zoned = Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone)
  return zoned.toLocaleString('en-US', { dateStyle: 'full', timeStyle: 'short' }).replaceAll('\u202f', ' ')
}

type Zones = Pick<RegistrationFacts, 'timeZone' | 'familyTimeZone'>

/** Returns an instant in the school's time and, if it differs, in the family's local time. */
export function instantLines(instant: string, { timeZone, familyTimeZone }: Zones): RichText[] {
  const atSchool = formatInstant(instant, timeZone)
  const lines: RichText[] = [[`${atSchool} Pacific`]]
  if (!familyTimeZone || !isKnownTimeZone(familyTimeZone)) return lines
  const theirs = formatInstant(instant, familyTimeZone)
  return theirs === atSchool ? lines : [...lines, [`${theirs} your time (${zoneName(familyTimeZone)})`]]
}

/** Formats an instant in the school's time, with the name of its time zone. */
export function formatSchoolInstant(instant: string): string {
  return `${formatInstant(instant, classTimeZone)} ${zoneName(classTimeZone)}`
}

/** `Saturday, November 28, 2026`, in the school's time zone. */
export function schoolDay(instant: string): string {
  return formatClassDate(schoolDate(instant))
}

/** `Wednesday`, in the school's time zone. */
export function schoolWeekday(instant: string): string {
  return Temporal.Instant.from(instant).toZonedDateTimeISO(classTimeZone).toLocaleString('en-US', { weekday: 'long' })
}

/** `3 minutes`, `24 hours`, `7 days`: rounded down to a simple unit, except for the seconds lost while sending. */
export function validFor(duration: Temporal.Duration): string {
  const minutes = Math.max(1, Math.ceil(duration.total('minutes')))
  const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`
  if (minutes < 120 && minutes !== 60) return counted(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day')
}

/** Returns the greeting, without a name if it is unknown. */
export function greeting(givenName: string): RichText {
  return givenName === '' ? ['Hello,'] : richText`Hello ${givenName},`
}

export function signInStep(text: string, siteUrl: string): NonNullable<MailContent['step']> {
  return { text: [text], label: 'Go to the login page', url: `${siteUrl}/membership/login` }
}
