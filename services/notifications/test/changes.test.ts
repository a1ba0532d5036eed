import { randomUUIDv7 } from 'node:crypto'
import { paymentRefunded } from '@robokids/contracts/billing'
import { moveRefused, placesCancelled, placesMoved, type ChangeTerms } from '@robokids/contracts/changes'
import { classCancelled } from '@robokids/contracts/class-cancellation'
import { registrationConfirmed, type RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Schedule } from '@robokids/contracts/meetings'
import { classReminderDue, registrationRescheduled } from '@robokids/contracts/reminders'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '@robokids/test/bed'
import { calendarEntriesOf } from './calendar-of.ts'
import { confirmed, refunded, registration } from './events.ts'
import { startNotifications, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

const schedule = (date: string, scheduleVersion = 0): Schedule => ({
  scheduleVersion,
  meetings: [0, 1].map((index) => {
    const day = Temporal.PlainDate.from(date).add({ weeks: index })
    const startsAt = day.toZonedDateTime({ timeZone: 'America/Los_Angeles', plainTime: '16:00' }).toInstant()
    const at = startsAt.toString({ fractionalSecondDigits: 3 })
    return { number: index + 1, date: day.toString(), startTime: '16:00', durationMinutes: 75, startsAt: at }
  }),
})

const [ivo, noa] = [
  { childName: 'Ivo', childAge: 9 },
  { childName: 'Noa', childAge: 7 },
]
const family = () => registration({ children: [ivo, noa], durationMinutes: 75 })

function classOf({
  classSessionId,
  classType,
  levelTitle,
  startDate,
  startTime,
  durationMinutes,
  timeZone,
}: RegistrationFacts) {
  return { classSessionId, classType, levelTitle, startDate, startTime, durationMinutes, timeZone }
}

function termsOf(facts: RegistrationFacts, changes: Partial<ChangeTerms> = {}): ChangeTerms {
  return {
    kind: 'cancel',
    registrationId: facts.registrationId,
    lines: [{ placeId: randomUUIDv7(), childName: 'Noa', paid: 40_000, price: null, due: 0, back: 0 }],
    from: classOf(facts),
    to: null,
    due: 0,
    back: 0,
    rule: { validFrom: '2025-01-01T08:00:00.000Z', percent: 0, until: null, moves: null },
    kitShipped: false,
    ...changes,
  }
}

/** Noa's place is cancelled. */
const cancelled = (facts: RegistrationFacts, back = 0, changes: { isOver?: boolean; number?: number } = {}) => ({
  ...facts,
  children: changes.isOver ? facts.children : [ivo],
  changeId: randomUUIDv7(),
  terms: termsOf(facts, { back }),
  number: 1,
  classes: [{ ...classOf(facts), children: changes.isOver ? [] : [ivo], ...schedule('2027-01-08') }],
  paymentIds: [],
  isOver: false,
  ...changes,
})

const level2 = (facts: RegistrationFacts) => ({
  ...classOf(facts),
  classSessionId: randomUUIDv7(),
  classType: 'intermediate' as const,
  levelTitle: 'Level 2 Makers',
  startDate: '2027-03-05',
})

/** Noa moves to Level 2 for $100 more. */
const moved = (facts: RegistrationFacts, to = level2(facts)) => ({
  ...facts,
  changeId: randomUUIDv7(),
  terms: termsOf(facts, { kind: 'move', to, due: 10_000 }),
  number: 1,
  classes: [
    { ...classOf(facts), children: [ivo], ...schedule('2027-01-08') },
    { ...to, children: [noa], ...schedule('2027-03-05', 3) },
  ],
  paymentIds: [],
})

const confirm = (facts: RegistrationFacts) =>
  fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, {
    ...confirmed(facts),
    ...schedule('2027-01-08'),
  })

const statesOf = (mail: Parameters<typeof calendarEntriesOf>[0]) =>
  calendarEntriesOf(mail).events.map(({ uid, status, sequence, start }) => ({
    uid,
    status,
    sequence: Number(sequence),
    start: start.toISOString(),
  }))

describe('the school’s cancellation of a class', () => {
  const choiceId = '4f6bd0f5-3f7e-4f6b-9a57-0d6f7a3b5c11'
  const chooseUntil = '2026-12-05T01:00:00.000Z'
  const schoolCancels = (
    facts: RegistrationFacts,
    choice: { choiceId: string; chooseUntil: string; back: number } | null,
  ) =>
    fixture.bed.bus.publish(classCancelled, facts.registrationId, {
      ...facts,
      cancellationId: randomUUIDv7(),
      choice,
      ...schedule('2027-01-08', 1),
    })

  it('is told once with the link to the choice, the deadline and the money, and cancels the entries of the calendar', async () => {
    const facts = family()
    await confirm(facts)
    const first = statesOf(await fixture.smtp.mailTo(facts.email))
    await fixture.bed.bus.republish(await schoolCancels(facts, { choiceId, chooseUntil, back: 40_000 }))
    const mail = await fixture.smtp.mailTo(facts.email, 2)
    expect(mail.parsed.text).toContain('If we hear nothing, all $400.00 goes back to your card.')
    expect(mail.parsed.text).toContain('Friday, December 4, 2026 at 5:00 PM Pacific')
    expect(mail.parsed.text).toContain(`/choice?reference=${choiceId}`)
    expect(statesOf(mail)).toEqual(
      first.map((entry) => ({ ...entry, status: 'CANCELLED', sequence: entry.sequence + 1 })),
    )

    const terms = termsOf(facts, { back: 40_000, school: { choiceId, by: 'deadline' } })
    const over = { ...cancelled(facts, 40_000, { isOver: true }), terms }
    await fixture.bed.bus.publish(placesCancelled, facts.registrationId, over)
    const result = await fixture.smtp.mailTo(facts.email, 3)
    expect(result.parsed.text).toContain('We had not heard from you, so all of it is refunded.')
    expect(result.parsed.text).not.toContain('By our terms')
    expect(statesOf(result).every(({ status, sequence }) => status === 'CANCELLED' && sequence === 2)).toBe(true)
  })

  it('keeps the entries of the cancelled class cancelled when a child moves to another class', async () => {
    const facts = family()
    await confirm(facts)
    await fixture.smtp.mailTo(facts.email)
    await schoolCancels(facts, { choiceId, chooseUntil, back: 40_000 })
    await fixture.smtp.mailTo(facts.email, 2)
    await fixture.bed.bus.publish(placesMoved, facts.registrationId, moved(facts))
    const entries = statesOf(await fixture.smtp.mailTo(facts.email, 3))
    expect(entries.map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED', 'CONFIRMED', 'CONFIRMED'])
  })

  it('tells a family that had not paid that nothing was charged, without a choice or a calendar', async () => {
    const facts = family()
    await schoolCancels(facts, null)
    const mail = await fixture.smtp.mailTo(facts.email)
    expect(mail.parsed.text).toContain('Your seats were not paid yet, so nothing was charged.')
    expect(mail.files.some(({ contentType }) => contentType === 'text/calendar')).toBe(false)
  })
})

describe('a cancellation by the family', () => {
  it('is told in one mail with what goes back, and its calendar names the children who stay', async () => {
    const facts = family()
    await confirm(facts)
    const first = statesOf(await fixture.smtp.mailTo(facts.email))
    const data = cancelled(facts, 20_000)
    const event = await fixture.bed.bus.publish(placesCancelled, facts.registrationId, data)
    await fixture.bed.bus.republish(event)
    const back = refunded(facts, {
      reason: 'requested',
      amount: 20_000,
      refundedTotal: 20_000,
      changeId: data.changeId,
    })
    await fixture.bed.bus.publish(paymentRefunded, facts.registrationId, back)
    const mail = await fixture.smtp.mailTo(facts.email, 2)
    expect(mail.parsed.subject).toBe('Canceled: Noa, Level 1 Foundations')
    expect(mail.parsed.text).toContain('By our terms $200.00 is refunded to your card. Banks take 5 to 10 days.')
    expect(mail.parsed.text).toContain('Still registered:')
    expect(statesOf(mail)).toEqual(first.map((entry) => ({ ...entry, sequence: 1 })))
    expect(calendarEntriesOf(mail).events[0]?.summary).toContain('(Ivo)')
    const kinds = (await fixture.mailsOf(facts.registrationId)).map(({ kind }) => kind)
    expect(kinds).toEqual(['registration_confirmed', 'places_cancelled'])
  })

  it('of all children cancels the calendar, and says plainly that nothing goes back', async () => {
    const facts = family()
    await confirm(facts)
    const first = statesOf(await fixture.smtp.mailTo(facts.email))
    await fixture.bed.bus.publish(placesCancelled, facts.registrationId, cancelled(facts, 0, { isOver: true }))
    const mail = await fixture.smtp.mailTo(facts.email, 2)
    expect(mail.parsed.text).toContain('By our terms $0.00 is refunded.')
    expect(statesOf(mail)).toEqual(first.map((entry) => ({ ...entry, status: 'CANCELLED', sequence: 1 })))
    const answer = await fetch(`${fixture.service.url}/registrations/${facts.registrationId}/calendar.ics`)
    expect(answer.status).toBe(404)
  })

  it('drops a reminder that waits for the mail server if no child stays in that class', async () => {
    const facts = family()
    await confirm(facts)
    await fixture.smtp.mailTo(facts.email)
    const { meetings } = schedule('2027-01-08')
    const [meeting] = meetings
    if (!meeting) throw new Error('no meeting')
    fixture.smtp.plan(facts.email, 'greylist', 'greylist')
    const reminder = {
      ...classOf(facts),
      kind: 'day' as const,
      attendance: 'registration' as const,
      attendanceId: facts.registrationId,
      email: facts.email,
      guardianName: facts.guardianName,
      childNames: ['Ivo', 'Noa'],
      familyTimeZone: null,
      meeting,
      meetingCount: 2,
      nextMeeting: null,
      coachName: null,
      isSigned: false,
      link: null,
    }
    await fixture.bed.bus.publish(classReminderDue, facts.registrationId, reminder)
    await eventually(async () => (await fixture.mailsOf(facts.registrationId)).length === 2)
    await fixture.bed.bus.publish(placesCancelled, facts.registrationId, cancelled(facts, 0, { isOver: true }))
    const dropped = await eventually(async () =>
      (await fixture.mailsOf(facts.registrationId)).find(({ status }) => status === 'dropped'),
    )
    expect(dropped.kind).toBe('class_reminder')
  })
})

describe('a move', () => {
  it('is told in one mail with all new dates; the old class keeps its entries for those who stay, the new one has its own', async () => {
    const facts = family()
    await confirm(facts)
    const first = statesOf(await fixture.smtp.mailTo(facts.email))
    const data = moved(facts)
    await fixture.bed.bus.publish(placesMoved, facts.registrationId, data)
    const mail = await fixture.smtp.mailTo(facts.email, 2)
    expect(mail.parsed.subject).toBe('Moved: Noa, Level 2 Makers')
    expect(mail.parsed.text).toContain('Noa moved from Level 1 Foundations to Level 2 Makers.')
    expect(mail.parsed.text).toContain('You paid the difference of $100.00.')
    expect(mail.parsed.text).toContain('1. Friday, March 5, 2027\n  2. Friday, March 12, 2027')
    const states = statesOf(mail)
    expect(states.slice(0, 2)).toEqual(first.map((entry) => ({ ...entry, sequence: 4 })))
    expect(new Set(states.map(({ uid }) => uid)).size).toBe(4)
    expect(states.slice(2).map(({ status, start }) => [status, start.slice(0, 10)])).toEqual([
      ['CONFIRMED', '2027-03-06'],
      ['CONFIRMED', '2027-03-13'],
    ])

    // The last child follows: the old class is canceled in the calendar, and stays so when the new one is rescheduled.
    const [, to] = data.classes
    if (!to) throw new Error('no class')
    const rest = { ...data, changeId: randomUUIDv7(), number: 2 }
    const classes = [
      { ...classOf(facts), children: [], ...schedule('2027-01-08') },
      { ...to, children: [ivo, noa] },
    ]
    await fixture.bed.bus.publish(placesMoved, facts.registrationId, { ...rest, classes })
    const third = statesOf(await fixture.smtp.mailTo(facts.email, 3))
    expect(third.map(({ status, sequence }) => [status, sequence])).toEqual([
      ['CANCELLED', 5],
      ['CANCELLED', 5],
      ['CONFIRMED', 5],
      ['CONFIRMED', 5],
    ])
    const { classSessionId } = to
    const change = { changeId: randomUUIDv7(), kind: 'moved' as const, number: 2 }
    const times = { from: { date: '2027-03-12', startTime: '16:00' }, to: { date: '2027-03-19', startTime: '16:00' } }
    const news = { ...facts, ...to, classSessionId, change: { ...change, ...times }, ...schedule('2027-03-05', 4) }
    await fixture.bed.bus.publish(registrationRescheduled, facts.registrationId, news)
    const fourth = statesOf(await fixture.smtp.mailTo(facts.email, 4))
    expect(fourth.map(({ uid, status, sequence }) => [uid, status, sequence])).toEqual(
      third.map(({ uid, status }) => [uid, status, 6]),
    )
    const answer = await fetch(`${fixture.service.url}/registrations/${facts.registrationId}/calendar.ics`)
    expect(await answer.text()).not.toContain('CANCELLED')
  })

  it('that was paid too late is told with what goes back', async () => {
    const facts = family()
    const terms = termsOf(facts, { kind: 'move', to: level2(facts), due: 10_000 })
    const data = { ...facts, changeId: randomUUIDv7(), terms, paymentId: randomUUIDv7() }
    const event = await fixture.bed.bus.publish(moveRefused, facts.registrationId, data)
    await fixture.bed.bus.republish(event)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain(
      'The new seat was gone when your payment arrived. Noa keeps Level 1 Foundations, and $100.00 is refunded to your card.',
    )
    expect(await fixture.mailsOf(facts.registrationId)).toHaveLength(1)
  })
})
