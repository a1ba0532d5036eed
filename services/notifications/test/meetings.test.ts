import { randomUUIDv7 } from 'node:crypto'
import { paymentRefunded } from '@robokids/contracts/billing'
import { registrationConfirmed, type RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Meeting, Schedule } from '@robokids/contracts/meetings'
import { classLinkMissing, classReminderDue, registrationRescheduled } from '@robokids/contracts/reminders'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '@robokids/test/bed'
import type { MailData } from '../src/schema.ts'
import { calendarEntriesOf } from './calendar-of.ts'
import { confirmed, refunded, registration } from './events.ts'
import { siteUrl, startNotifications, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

/** Six weekly meetings from 2027-01-08, 4 PM in California, in the future of today. */
const meetings: Meeting[] = Array.from({ length: 6 }, (_, index) => {
  const date = Temporal.PlainDate.from('2027-01-08').add({ weeks: index })
  const startsAt = date.toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: '16:00' }).toInstant()
  return {
    number: index + 1,
    date: date.toString(),
    startTime: '16:00',
    durationMinutes: 75,
    startsAt: startsAt.toString({ fractionalSecondDigits: 3 }),
  }
})
const schedule: Schedule = { meetings, scheduleVersion: 0 }

/** The fourth meeting, on Saturday instead of Friday. */
const moved: Schedule = {
  scheduleVersion: 1,
  meetings: meetings.with(3, {
    number: 4,
    date: '2027-01-30',
    startTime: '10:30',
    durationMinutes: 75,
    startsAt: '2027-01-30T18:30:00.000Z',
  }),
}

function rescheduled(facts: RegistrationFacts): MailData['registration_rescheduled'] {
  return {
    ...facts,
    ...moved,
    change: {
      changeId: randomUUIDv7(),
      kind: 'moved',
      number: 4,
      from: { date: '2027-01-29', startTime: '16:00' },
      to: { date: '2027-01-30', startTime: '10:30' },
    },
  }
}

function reminder(
  facts: RegistrationFacts,
  changes: Partial<MailData['class_reminder']> = {},
): MailData['class_reminder'] {
  return {
    kind: 'day',
    attendance: 'registration',
    attendanceId: facts.registrationId,
    email: facts.email,
    guardianName: facts.guardianName,
    childNames: facts.children.map(({ childName }) => childName),
    classSessionId: facts.classSessionId,
    classType: facts.classType,
    levelTitle: facts.levelTitle,
    timeZone: facts.timeZone,
    familyTimeZone: 'America/New_York',
    meeting: meetings[2] as Meeting,
    meetingCount: 6,
    nextMeeting: meetings[3] as Meeting,
    coachName: 'Dana',
    isSigned: true,
    link: { joinUrl: 'https://meet.example.com/room-7?pw=1234', passcode: '98 76' },
    ...changes,
  }
}

const remind = (facts: RegistrationFacts, changes: Partial<MailData['class_reminder']> = {}) =>
  fixture.bed.bus.publish(classReminderDue, facts.registrationId, reminder(facts, changes))

describe('the calendar of a program', () => {
  it('has an entry for each meeting, which a move updates and a refund cancels under the same UIDs', async () => {
    const facts = registration({ durationMinutes: 75 })
    const payment = confirmed(facts)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, { ...payment, ...schedule })
    const first = calendarEntriesOf(await fixture.smtp.mailTo(facts.email))
    expect(first.events.map(({ start }) => start.toISOString())).toEqual(
      meetings.map(({ startsAt }) => new Date(startsAt).toISOString()),
    )
    expect(new Set(first.events.map(({ uid }) => uid)).size).toBe(6)
    expect(first.events.map(({ sequence }) => Number(sequence))).toEqual([0, 0, 0, 0, 0, 0])

    await fixture.bed.bus.publish(registrationRescheduled, facts.registrationId, rescheduled(facts))
    const second = calendarEntriesOf(await fixture.smtp.mailTo(facts.email, 2))
    expect(second.events.map(({ uid }) => uid)).toEqual(first.events.map(({ uid }) => uid))
    expect(second.events[3]?.start.toISOString()).toBe('2027-01-30T18:30:00.000Z')
    expect(new Set(second.events.map(({ sequence }) => Number(sequence)))).toEqual(new Set([1]))

    const answer = await fetch(`${fixture.service.url}/registrations/${facts.registrationId}/calendar.ics`)
    expect(await answer.text()).toContain('DTSTART;TZID=America/Los_Angeles:20270130T103000')

    const { paymentId } = payment.payment
    const refund = refunded(facts, { reason: 'requested', paymentId, whole: true })
    await fixture.bed.bus.publish(paymentRefunded, facts.registrationId, refund)
    const third = calendarEntriesOf(await fixture.smtp.mailTo(facts.email, 3))
    expect(third.parsed.vcalendar?.method).toBe('CANCEL')
    expect(third.events.map(({ uid, status }) => [uid, status])).toEqual(
      first.events.map(({ uid }) => [uid, 'CANCELLED']),
    )
    expect(new Set(third.events.map(({ sequence }) => Number(sequence)))).toEqual(new Set([2]))
  })

  it('is in the confirmation with all dates in words', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, { ...confirmed(facts), ...schedule })
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain('All 6 dates:\n  1. Friday, January 8, 2027\n  2. Friday, January 15, 2027\n')
    expect(parsed.text).toContain('All dates are attached as calendar events.')
  })
})

describe('a meeting that the school moves', () => {
  it('is told in one mail, however often its event arrives', async () => {
    const facts = registration({ familyTimeZone: 'America/New_York' })
    const event = await fixture.bed.bus.publish(registrationRescheduled, facts.registrationId, rescheduled(facts))
    await fixture.bed.bus.republish(event)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('New date: Level 1 Foundations, meeting 4')
    expect(parsed.text).toContain(
      'Meeting 4 moved from Friday, January 29, 4:00 PM Pacific, to Saturday, January 30, 10:30 AM Pacific.',
    )
    expect(parsed.text).toContain('1:30 PM your time (Eastern Time)')
    expect(parsed.text).toContain('4. Saturday, January 30, 2027, 10:30 AM Pacific')
    const sent = await fixture.mailsOf(facts.registrationId)
    expect(sent.map(({ kind }) => kind)).toEqual(['registration_rescheduled'])
  })
})

describe('a mail around a meeting', () => {
  it('has the link, the passcode, the coach and both times once the waiver is signed', async () => {
    const facts = registration()
    const event = await remind(facts)
    await fixture.bed.bus.republish(event)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('Reminder: Level 1 Foundations, Friday, January 22, 4:00 PM Pacific')
    for (const words of [
      'The next class for Ivo is on Friday, January 22 at 4:00 PM Pacific.',
      'Meeting 3 of 6',
      '7:00 PM your time (Eastern Time)',
      'Dana',
      'The passcode is 98 76.',
      'https://meet.example.com/room-7?pw=1234',
    ])
      expect(parsed.text).toContain(words)
    expect(await fixture.mailsOf(facts.registrationId)).toHaveLength(1)
  })

  it('asks for the signature instead of giving the link while the waiver is not signed', async () => {
    const facts = registration()
    await remind(facts, { isSigned: false, link: null })
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain(`${siteUrl}/robokids/waiver?reference=${facts.registrationId}`)
    expect(parsed.text).not.toContain('meet.example.com')
  })

  it('says where the link will be while the school has not set it', async () => {
    const facts = registration()
    await remind(facts, { kind: 'hour', link: null })
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('Starting soon: Level 1 Foundations, 4:00 PM Pacific')
    expect(parsed.text).toContain('The class link appears on this page 30 minutes before the class:')
    expect(parsed.text).toContain(`${siteUrl}/robokids/success?reference=${facts.registrationId}`)
  })

  it.each([
    ['welcome', 'Get ready for Level 1 Foundations: Friday, January 22', 'Open the kit together'],
    ['follow_up', 'How was the first class of Level 1 Foundations?', 'The next class is on Friday, January 29'],
  ] as const)('of the kind %s says what helps then', async (kind, subject, words) => {
    const facts = registration()
    await remind(facts, { kind })
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe(subject)
    expect(parsed.text).toContain(words)
    expect(parsed.text).not.toContain('meet.example.com')
  })

  it('of a member without a signed waiver names nobody and links to the membership’s waiver', async () => {
    const facts = registration()
    await remind(facts, {
      attendance: 'membership',
      guardianName: '',
      childNames: [],
      isSigned: false,
      link: null,
      levelTitle: 'Members’ session',
      meetingCount: 1,
      nextMeeting: null,
    })
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain('Hello,')
    expect(parsed.text).toContain('The next class is on Friday, January 22')
    expect(parsed.text).toContain(`${siteUrl}/waiver?membership=${facts.registrationId}`)
  })

  it('that cannot be sent before its meeting is dropped', async () => {
    const facts = registration()
    const past = { ...(meetings[0] as Meeting), startsAt: '2026-01-09T00:00:00.000Z' }
    await remind(facts, { meeting: past })
    await eventually(async () => (await fixture.mailsOf(facts.registrationId))[0]?.status === 'dropped')
    expect(fixture.smtp.to(facts.email)).toEqual([])
  })
})

describe('a class that meets within a day without a link', () => {
  it('is told to the operator with the command that sets it', async () => {
    const classSessionId = randomUUIDv7()
    await fixture.bed.bus.publish(classLinkMissing, classSessionId, {
      classSessionId,
      classType: 'basic',
      levelTitle: 'Level 1 Foundations',
      timeZone: 'America/Los_Angeles',
      meeting: meetings[2] as Meeting,
      families: 3,
    })
    const { parsed } = await fixture.smtp.mailTo(fixture.service.context.config.OPERATOR_EMAIL)
    expect(parsed.subject).toBe('No class link: Level 1 Foundations, Friday, January 22')
    expect(parsed.text).toContain(`npm run admin -- link ${classSessionId}`)
  })
})
