import { randomUUIDv7 } from 'node:crypto'
import type { EventDefinition } from '@robokids/contracts/event'
import { userDeleted } from '@robokids/contracts/identity'
import { memberSeated } from '@robokids/contracts/enrollment'
import {
  memberClassBooked,
  memberClassCancelled,
  memberClassMoved,
  memberClassNotRestored,
  type MemberClassFacts,
} from '@robokids/contracts/member-classes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calendarOf } from './calendar-of.ts'
import { account } from './events.ts'
import { siteUrl, startNotifications, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

const friday = {
  classSessionId: randomUUIDv7(),
  classDate: '2027-02-12',
  startTime: '16:00',
  timeZone: 'America/Los_Angeles',
  durationMinutes: 75,
  startsAt: '2027-02-13T00:00:00.000Z',
}
const monday = {
  ...friday,
  classSessionId: randomUUIDv7(),
  classDate: '2027-02-15',
  startsAt: '2027-02-16T00:00:00.000Z',
}

function booking(changes: Partial<MemberClassFacts> = {}): MemberClassFacts {
  const membershipId = randomUUIDv7()
  return {
    membershipId,
    bookingId: randomUUIDv7(),
    email: `Maren.${membershipId}@example.com`,
    ownerId: randomUUIDv7(),
    ...friday,
    familyTimeZone: 'America/New_York',
    isSigned: true,
    changes: 0,
    ...changes,
  }
}

/** Publishes an event twice, and returns its mail. */
async function mailFor<Data extends MemberClassFacts>(event: EventDefinition<string, Data>, data: Data, nth = 1) {
  const published = await fixture.bed.bus.publish(event, data.bookingId, data)
  await fixture.bed.bus.republish(published)
  return fixture.smtp.mailTo(data.email, nth)
}

describe('a mail about a members’ class', () => {
  it('that was booked says when it is, until when it can be moved, and has its calendar entry', async () => {
    const mail = await mailFor(memberClassBooked, booking())
    expect(mail.parsed.subject).toBe('Booked: members’ class on Friday, February 12, 2027')
    for (const part of [
      '4:00 PM Pacific Time',
      '7:00 PM your time (Eastern Time)',
      'Thursday, February 11, 2027 at 4:00 PM Pacific',
      `${siteUrl}/dashboard`,
    ])
      expect(mail.parsed.text).toContain(part)
    const { event, parsed } = calendarOf(mail)
    expect([event.start.toISOString(), Number(event.sequence), parsed.vcalendar?.method]).toEqual([
      '2027-02-13T00:00:00.000Z',
      0,
      'PUBLISH',
    ])
  })

  it('leads to the waiver before anything else, if that is not signed', async () => {
    const facts = booking({ isSigned: false })
    const { parsed } = await mailFor(memberClassBooked, facts)
    expect(parsed.text).toContain(`${siteUrl}/waiver?membership=${facts.membershipId}`)
    expect(parsed.text).not.toContain(`${siteUrl}/dashboard`)
  })

  it('that was moved and then canceled updates the same calendar entry', async () => {
    const facts = booking()
    const first = calendarOf(await mailFor(memberClassBooked, facts))
    const moved = await mailFor(memberClassMoved, { ...facts, ...monday, changes: 1, from: friday }, 2)
    expect(moved.parsed.text).toContain('from Friday, February 12, 2027 to Monday, February 15, 2027')
    const after = calendarOf(moved)
    expect([after.event.uid, Number(after.event.sequence)]).toEqual([first.event.uid, 1])
    expect(after.event.start.toISOString()).toBe(monday.startsAt)
    const over = { ...facts, ...monday, changes: 2, reason: 'requested' as const, keepsCredit: true }
    const canceled = await mailFor(memberClassCancelled, over, 3)
    expect(canceled.parsed.text).toContain(`${siteUrl}/dashboard/book`)
    const last = calendarOf(canceled)
    expect([last.event.uid, Number(last.event.sequence), last.parsed.vcalendar?.method]).toEqual([
      first.event.uid,
      2,
      'CANCEL',
    ])
  })

  it('of the sign-up updates the calendar entry of the welcome mail', async () => {
    const facts = booking()
    const seat = { ...facts, attemptId: facts.membershipId, plan: 'monthly', amount: 700, currency: 'usd' } as const
    await fixture.bed.bus.publish(memberSeated, facts.membershipId, { ...seat, receiptNumber: null, renewsAt: null })
    const first = calendarOf(await fixture.smtp.mailTo(facts.email))
    const data = { ...facts, bookingId: facts.membershipId, ...monday, changes: 1, from: friday }
    const after = calendarOf(await mailFor(memberClassMoved, data, 2))
    expect([after.event.uid, Number(after.event.sequence)]).toEqual([first.event.uid, 1])
  })

  it('whose payment goes back says why, and that it comes back if a dispute is won', async () => {
    const facts = booking({ changes: 1 })
    const disputed = await mailFor(memberClassCancelled, { ...facts, reason: 'disputed', keepsCredit: false })
    expect(disputed.parsed.text).toContain('If the dispute ends in our favor, it comes back.')
    expect(disputed.parsed.text).not.toContain('book another class')
    const again = await mailFor(memberClassBooked, { ...facts, changes: 2, again: true }, 2)
    expect(again.parsed.text).toContain('so your class is booked again')
    const lost = await mailFor(memberClassNotRestored, { ...facts, keepsCredit: true }, 3)
    expect(lost.parsed.text).toContain('no open seat on Friday, February 12, 2027')
    expect(lost.files).toEqual([])
  })

  it('has no link to the dashboard of a deleted account', async () => {
    const owner = { ...account(), email: `deleted.${randomUUIDv7()}@example.com` }
    await fixture.bed.bus.publish(userDeleted, owner.userId, owner)
    await fixture.smtp.mailTo(owner.email)
    const facts = booking({ ownerId: owner.userId })
    const { parsed } = await mailFor(memberClassCancelled, { ...facts, reason: 'school', keepsCredit: true })
    expect(parsed.text).toContain('We had to cancel this class')
    expect(parsed.text).not.toContain('/dashboard')
  })
})
