import { randomUUIDv7 } from 'node:crypto'
import {
  membershipRefunded,
  membershipRefundFailed,
  paymentDisputed,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionReminder,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import { membershipAskedAgain } from '@robokids/contracts/billing'
import { memberSeated, waiverSigned } from '@robokids/contracts/enrollment'
import type { EventDefinition } from '@robokids/contracts/event'
import { userDeleted } from '@robokids/contracts/identity'
import { renewalTerms } from '@robokids/contracts/membership'
import { mailFailed, mailsSchema } from '@robokids/contracts/notifications'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { calendarOf } from './calendar-of.ts'
import { account, registration, signed } from './events.ts'
import { adminHeaders, openOffice, siteUrl, waiverAt, type NotificationsFixture } from './fixture.ts'

let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

function member(plan: 'monthly' | 'yearly' = 'monthly') {
  const attemptId = randomUUIDv7()
  return {
    attemptId,
    email: `Maren.${attemptId}@example.com`,
    plan,
    amount: plan === 'monthly' ? 700 : 6_000,
    currency: 'usd' as const,
  }
}

async function mailsTo(email: string) {
  const query = new URLSearchParams({ email })
  const answer = await fetch(`${office.service.url}/mails?${query}`, { headers: adminHeaders })
  return mailsSchema.parse(await answer.json()).mails
}

// In California it is the day before.
const at = '2027-01-09T04:00:00Z'
const day = 'Friday, January 8, 2027'

async function told<Data>(event: EventDefinition<string, Data>, data: Data & { attemptId: string; email: string }) {
  const published = await office.bed.bus.publish(event, data.attemptId, data)
  await office.bed.bus.republish(published)
  const { parsed } = await office.post.mailTo(data.email)
  return { subject: parsed.subject ?? '', text: parsed.text ?? '', html: parsed.html || '' }
}

const refund = { refundId: randomUUIDv7(), paymentId: randomUUIDv7(), refunded: 700, classDate: '2027-01-08' }

describe('a member is told', () => {
  it('of the seat, the price, the receipt, the next payment, and the terms with how to cancel', async () => {
    const facts = member()
    const { subject, text, html } = await told(memberSeated, {
      ...facts,
      classSessionId: randomUUIDv7(),
      classDate: '2027-01-08',
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      familyTimeZone: 'America/New_York',
      receiptNumber: 'RK-000007',
      renewsAt: at,
    })
    expect(subject).toBe('You are a member of Robo Kids Learning')
    for (const part of [
      '$7.00 a month',
      'RK-000007',
      `$7.00 on ${day}`,
      '4:00 PM Pacific Time',
      renewalTerms('monthly', facts),
    ]) {
      expect(text).toContain(part)
    }
    expect(text).toContain('7:00 PM your time (Eastern Time)')
    expect(text).toContain('Cancel membership')
    for (const link of [`${siteUrl}/profile`, `${siteUrl}/waiver?membership=${facts.attemptId}`]) {
      expect(text).toContain(link)
      expect(html).toContain(`href="${link}"`)
    }
  })

  it('when the members’ session is by an entry for the calendar, and by another that they are not there any more', async () => {
    const facts = member()
    const seat = {
      ...facts,
      classSessionId: randomUUIDv7(),
      classDate: '2027-01-08',
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      receiptNumber: 'RK-000007',
      renewsAt: at,
    }
    await office.bed.bus.publish(memberSeated, facts.attemptId, seat)
    const before = calendarOf(await office.post.mailTo(facts.email))
    expect(before.event.summary).toBe('Robo Kids Learning: Members’ session')
    expect(before.event.start.toISOString()).toBe('2027-01-09T00:00:00.000Z')
    expect(before.event.end?.toISOString()).toBe('2027-01-09T01:15:00.000Z')
    expect([before.event.status, before.parsed.vcalendar?.method]).toEqual(['CONFIRMED', 'PUBLISH'])
    // Calendars are shared: by the membership's id its waiver can be signed.
    const plain = before.source.replaceAll('\r\n ', '')
    expect(plain).not.toContain(facts.attemptId)
    expect(plain).not.toMatch(/https?:|Maren/)
    await eventually(async () => (await mailsTo(facts.email))[0]?.status === 'sent')

    const end = { ...facts, endedAt: '2027-01-08T23:59:59.000Z', reason: 'cancelled' as const }
    await office.bed.bus.publish(subscriptionEnded, facts.attemptId, end)
    const mail = await office.post.mailTo(facts.email, 2)
    const after = calendarOf(mail)
    expect(mail.parsed.text).toContain('the attached entry takes it out of your calendar')
    expect([after.event.uid, Number(after.event.sequence)]).toEqual([before.event.uid, 1])
    expect([after.event.status, after.parsed.vcalendar?.method]).toEqual(['CANCELLED', 'CANCEL'])
  })

  it('nothing of a calendar where the membership ends after its session', async () => {
    const facts = member()
    const seat = { classSessionId: randomUUIDv7(), startTime: '16:00', durationMinutes: 75, receiptNumber: null }
    const when = { classDate: '2027-01-08', timeZone: 'America/Los_Angeles', renewsAt: null }
    await office.bed.bus.publish(memberSeated, facts.attemptId, { ...facts, ...seat, ...when })
    await office.post.mailTo(facts.email)
    const end = { ...facts, endedAt: '2027-01-09T00:00:01.000Z', reason: 'cancelled' as const }
    await office.bed.bus.publish(subscriptionEnded, facts.attemptId, end)
    const { parsed, files } = await office.post.mailTo(facts.email, 2)
    expect(files).toEqual([])
    expect(parsed.text).not.toContain('calendar')
  })

  it('that the waiver is signed, with it, and of no kit', async () => {
    const facts = registration({ classType: 'membership', levelTitle: 'Members’ session' })
    const data = signed({ ...facts, address: { ...facts.address, addressLine1: '', city: '' } })
    await office.bed.bus.publish(waiverSigned, facts.registrationId, data)
    const { parsed, files } = await office.post.mailTo(facts.email)
    expect(parsed.subject).toBe('The signed waiver of your membership')
    expect(parsed.text).toContain('The waiver of your membership is signed. A copy is attached for your records.')
    // Anybody who has its link can sign, and type a name.
    expect(parsed.text).not.toContain('Hello Maren Holt')
    expect(parsed.text).not.toMatch(/kit/i)
    expect(files[0]?.content.equals(waiverAt(data.signedPdfPath))).toBe(true)
  })

  it.each([
    [
      'of a renewal, with its receipt',
      subscriptionRenewed,
      { receiptNumber: 'RK-000008', paidAt: at, paidAmount: 700, reason: 'renewal', periodEnd: at },
      'Receipt RK-000008: $7.00 for your membership',
      'for the next month',
    ],
    [
      'of what a change of plan cost',
      subscriptionRenewed,
      { receiptNumber: 'RK-000009', paidAt: at, paidAmount: 5_651, reason: 'switch', periodEnd: at },
      'Receipt RK-000009: $56.51 for your membership',
      'not used was taken off',
    ],
    [
      'of a payment that failed, and what to do',
      subscriptionPastDue,
      { invoiceId: 'in_1', amountDue: 700, attempt: 1, nextTryAt: at },
      'Your payment of $7.00 did not go through',
      `We try again on ${day}`,
    ],
    [
      'of the last try that failed',
      subscriptionPastDue,
      { invoiceId: 'in_1', amountDue: 700, attempt: 4, nextTryAt: null },
      'Your payment of $7.00 did not go through',
      'We do not try again by ourselves.',
    ],
    [
      'of another plan',
      subscriptionSwitched,
      { plan: 'yearly', amount: 6_000, previousPlan: 'monthly', from: at },
      'Your membership: $60.00 a year',
      `from monthly to yearly on ${day}`,
    ],
    [
      'of the end to come',
      subscriptionCancelled,
      { endsAt: at },
      `Your membership ends on ${day}`,
      'Nothing more is charged',
    ],
    ['that it goes on', subscriptionResumed, { renewsAt: at }, 'Your membership goes on', `$7.00 on ${day}`],
    [
      'of the end',
      subscriptionEnded,
      { endedAt: at, reason: 'cancelled' },
      'Your membership has ended',
      `ended on ${day}`,
    ],
    [
      'of the end for want of payment',
      subscriptionEnded,
      { endedAt: at, reason: 'unpaid' },
      'Your membership has ended',
      'did not go through',
    ],
    [
      'once a year what goes on by itself',
      subscriptionReminder,
      { renewsAt: '2099-01-09T04:00:00Z' },
      'Your membership renews on Thursday, January 8, 2099',
      'until you cancel',
    ],
    [
      'why it got no seat, and that the money went back',
      membershipRefunded,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', refundedTotal: 700, paidAmount: 700 },
      'Refund of $7.00 for your membership',
      'the session was full on Friday, January 8, 2027',
    ],
    [
      'of a part that went back',
      membershipRefunded,
      { ...refund, refunded: 200, reason: 'requested', refundedTotal: 200, paidAmount: 700 },
      'Refund of $2.00 for your membership',
      'Your membership itself stays as it is.',
    ],
    [
      'of a refund that failed',
      membershipRefundFailed,
      { ...refund, reason: 'requested' },
      'Your refund of $7.00 did not go through',
      'We still owe it to you.',
    ],
    [
      'of a payment that found no seat and could not be refunded',
      membershipRefundFailed,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', untold: true },
      'Your refund of $7.00 did not go through',
      'by the time it arrived, the session was full',
    ],
    [
      'of a payment that found no seat and is disputed with the bank',
      membershipRefundFailed,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', untold: true, disputed: true },
      'We did not keep your payment of $7.00',
      'While your bank decides, we cannot refund it.',
    ],
  ] as const)('%s', async (_, event, changes, subject, words) => {
    const data = { ...member(), paymentId: randomUUIDv7(), ...changes }
    const mail = await told(event as EventDefinition, data as never)
    expect(mail.subject).toBe(subject)
    expect(mail.text).toContain(words)
    expect(`${mail.text}${mail.html}`).not.toMatch(/undefined|\[object|NaN/)
  })

  it('what will be charged where another plan begins with the renewal', async () => {
    const next = { plan: 'monthly' as const, amount: 700 }
    const { subject, text } = await told(subscriptionReminder, {
      ...member('yearly'),
      renewsAt: '2099-01-09T04:00:00Z',
      next,
    })
    expect(subject).toBe('Your membership renews on Thursday, January 8, 2099')
    expect(text).toContain('we charge $7.00 to your card, and then every month')
    expect(text).toContain('$7.00 on Thursday, January 8, 2099')
    expect(text).toContain('From then on:\n  $7.00 a month')
    expect(text.replace('Membership:\n  $60.00 a year', '')).not.toContain('$60.00')
  })

  it('to confirm a payment where the bank asks for that, with the page for it', async () => {
    const confirmUrl = 'https://invoice.stripe.example/i/acct_1/test_1?s=ap'
    const { subject, text, html } = await told(subscriptionPastDue, {
      ...member(),
      invoiceId: 'in_1',
      amountDue: 700,
      attempt: 1,
      nextTryAt: at,
      confirmUrl,
    })
    expect(subject).toBe('Please confirm your payment of $7.00')
    expect(text).toContain('Your bank asks you to confirm this payment')
    expect(text).toContain(confirmUrl)
    expect(html).toContain(`href="${confirmUrl}"`)
    expect(text).not.toContain('declined')
  })

  it('once a day that somebody else has given their address, and that a second payment goes back', async () => {
    const data = member()
    const { subject, text } = await told(membershipAskedAgain, data)
    expect(subject).toBe('You are a member already')
    expect(text).toContain('from a browser that we do not recognize')
    expect(text).toContain('that second payment goes back to your card by itself')
    expect(text).toContain('If it was not you')
    expect(text).toContain(`${siteUrl}/profile`)
    expect(text).not.toContain(data.attemptId)
    await office.bed.bus.publish(membershipAskedAgain, data.attemptId, data)
    await told(subscriptionResumed, { ...data, email: `last.${data.email}`, renewsAt: at })
    expect((await mailsTo(data.email)).map(({ kind }) => kind)).toEqual(['membership_asked_again'])
  })

  it('how to sign anew where it was not them who signed, and that both signatures are kept', async () => {
    const facts = registration({ classType: 'membership', levelTitle: 'Members’ session' })
    const first = signed(facts)
    await office.bed.bus.publish(waiverSigned, facts.registrationId, first)
    const { parsed } = await office.post.mailTo(facts.email)
    expect(parsed.text).toContain('Was it not you who signed?')
    expect(parsed.text).toContain(`${siteUrl}/waiver?membership=${facts.registrationId}`)
    await office.bed.bus.publish(waiverSigned, facts.registrationId, { ...signed(facts), replaces: first.waiverId })
    const { parsed: anew } = await office.post.mailTo(facts.email, 2)
    expect(anew.text).toContain('This signature takes the place of the one before. We keep both on record.')
  })

  describe('whose account is deleted', () => {
    const seat = {
      classSessionId: randomUUIDv7(),
      classDate: '2027-01-08',
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      receiptNumber: 'RK-000007',
      renewsAt: at,
    }
    const renewal = { receiptNumber: 'RK-000008', paidAt: at, paidAmount: 700, reason: 'renewal', periodEnd: at }
    const due = { invoiceId: 'in_1', amountDue: 700, attempt: 1, nextTryAt: at }
    const events = [
      ['seat', memberSeated, seat],
      ['renewal', subscriptionRenewed, renewal],
      ['payment that failed', subscriptionPastDue, due],
      ['last try that failed', subscriptionPastDue, { ...due, nextTryAt: null }],
      ['payment to confirm', subscriptionPastDue, { ...due, confirmUrl: 'https://invoice.stripe.example/i/1' }],
      ['other plan', subscriptionSwitched, { previousPlan: 'yearly', from: at }],
      ['end to come', subscriptionCancelled, { endsAt: at }],
      ['going on', subscriptionResumed, { renewsAt: at }],
      ['reminder', subscriptionReminder, { renewsAt: '2099-01-09T04:00:00Z' }],
      ['end', subscriptionEnded, { endedAt: at, reason: 'cancelled' }],
      ['refund', membershipRefunded, { ...refund, reason: 'requested', refundedTotal: 700, paidAmount: 700 }],
      ['refund that failed', membershipRefundFailed, { ...refund, reason: 'requested' }],
    ] as const

    it.each(events)('of the %s, without the profile page that nobody can open', async (_, event, changes) => {
      const said = { ...member(), paymentId: randomUUIDv7(), ...changes, accountDeleted: true }
      const mail = await told(event as EventDefinition, said as never)
      expect(`${mail.text}${mail.html}`).not.toMatch(/profile|undefined|\[object|NaN/i)
    })

    it('also where the event does not say so, as the account is known to be', async () => {
      const data = account()
      await office.bed.bus.publish(userDeleted, data.userId, data)
      await office.post.mailTo(data.email ?? '')
      const owned = { ...member(), ownerId: data.userId }
      const { text } = await told(subscriptionCancelled, { ...owned, endsAt: at })
      expect(text).not.toMatch(/profile/i)
      const others = await told(subscriptionCancelled, { ...member(), ownerId: randomUUIDv7(), endsAt: at })
      expect(others.text).toContain(`${siteUrl}/profile`)
    })
  })

  it('of no renewal that is over by the time it could be told', async () => {
    const facts = member()
    const renewsAt = office.service.context.clock.now().subtract({ hours: 1 }).toString()
    await office.bed.bus.publish(subscriptionReminder, facts.attemptId, { ...facts, renewsAt })
    const [mail] = await eventually(async () => {
      const all = await mailsTo(facts.email)
      return all[0]?.status === 'dropped' ? all : undefined
    })
    expect(mail?.lastError).toBe('The membership was to be renewed before this could be sent.')
    expect(office.post.to(facts.email)).toEqual([])
    expect(office.bed.bus.all(mailFailed, ({ mailId }) => mailId === mail?.mailId)).toEqual([])
  })

  it('of each thing once, and nothing of an end that a refund tells of', async () => {
    const facts = member()
    await office.bed.bus.publish(subscriptionEnded, facts.attemptId, { ...facts, endedAt: at, reason: 'seat_gone' })
    await told(subscriptionCancelled, { ...facts, endsAt: at })
    const after = member()
    await told(subscriptionEnded, { ...after, endedAt: at, reason: 'cancelled' })
    const mails = await mailsTo(facts.email.toUpperCase())
    expect(mails.map(({ kind }) => kind)).toEqual(['membership_cancelled'])
  })
})

describe('the operator', () => {
  it('is told of a dispute, and of each change of it once', async () => {
    const disputeId = `dp_${randomUUIDv7()}`
    const facts = {
      disputeId,
      amount: 40_000,
      currency: 'usd' as const,
      reason: 'product_not_received',
      status: 'needs_response',
      answerBy: at,
      openedAt: at,
      paymentId: randomUUIDv7(),
      registrationId: randomUUIDv7(),
      membershipId: null,
      email: 'maren.holt@example.com',
    }
    const operator = 'operator@robokidslearning.example'
    await office.bed.bus.publish(paymentDisputed, disputeId, facts)
    await office.bed.bus.publish(paymentDisputed, disputeId, facts)
    // Other tests write to the operator of other things.
    const about = () => office.post.to(operator).filter((mail) => mail.parsed.text?.includes(disputeId))
    // Two events of one millisecond would have no order.
    await eventually(() => about().length === 1)
    await office.bed.bus.publish(paymentDisputed, disputeId, { ...facts, status: 'lost', answerBy: null })
    await eventually(() => about().length === 2)
    const subjects = about().map((mail) => mail.parsed.subject)
    expect(subjects).toEqual(['Dispute needs response: $400.00', 'Dispute lost: $400.00'])
    expect(about()[1]?.parsed.text).toContain(`Registration ${facts.registrationId}`)
  })
})
