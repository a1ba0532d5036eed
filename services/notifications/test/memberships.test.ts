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
import { adminHeaders, startNotifications, siteUrl, waiverAt, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

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
  const answer = await fetch(`${fixture.service.url}/mails?${query}`, { headers: adminHeaders })
  return mailsSchema.parse(await answer.json()).mails
}

// In California it is the previous day.
const at = '2027-01-09T04:00:00Z'
const day = 'Friday, January 8, 2027'

/** Publishes an event twice and returns its mail. */
async function mailFor<Data>(event: EventDefinition<string, Data>, data: Data & { attemptId: string; email: string }) {
  const published = await fixture.bed.bus.publish(event, data.attemptId, data)
  await fixture.bed.bus.republish(published)
  const { parsed } = await fixture.smtp.mailTo(data.email)
  return { subject: parsed.subject ?? '', text: parsed.text ?? '', html: parsed.html || '' }
}

const refund = { refundId: randomUUIDv7(), paymentId: randomUUIDv7(), refunded: 700, classDate: '2027-01-08' }

describe('a mail to a member', () => {
  it('confirms seat, price, receipt and next payment, with the terms and how to cancel', async () => {
    const facts = member()
    const { subject, text, html } = await mailFor(memberSeated, {
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
    expect(subject).toBe('You’re now a member of Robo Kids Learning')
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

  it('has a calendar entry for the first session, which stays booked when the membership ends before it', async () => {
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
    await fixture.bed.bus.publish(memberSeated, facts.attemptId, seat)
    const before = calendarOf(await fixture.smtp.mailTo(facts.email))
    expect(before.event.summary).toBe('Robo Kids Learning: Members’ session')
    expect(before.event.start.toISOString()).toBe('2027-01-09T00:00:00.000Z')
    expect(before.event.end?.toISOString()).toBe('2027-01-09T01:15:00.000Z')
    expect([before.event.status, before.parsed.vcalendar?.method]).toEqual(['CONFIRMED', 'PUBLISH'])
    // Calendars are shared, and the membership's id would allow signing its waiver.
    const plain = before.source.replaceAll('\r\n ', '')
    expect(plain).not.toContain(facts.attemptId)
    expect(plain).not.toMatch(/https?:|Maren/)
    await eventually(async () => (await mailsTo(facts.email))[0]?.status === 'sent')

    const end = { ...facts, endedAt: '2027-01-08T23:59:59.000Z', reason: 'cancelled' as const }
    await fixture.bed.bus.publish(subscriptionEnded, facts.attemptId, end)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email, 2)
    expect(files).toEqual([])
    expect(parsed.text).toContain('Classes you have booked stay booked.')
  })

  it('has the signed waiver attached and mentions no kit', async () => {
    const facts = registration({ classType: 'membership', levelTitle: 'Members’ session' })
    const data = signed({ ...facts, address: { ...facts.address, addressLine1: '', city: '' } })
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, data)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('The signed waiver for your membership')
    expect(parsed.text).toContain('The waiver for your membership is signed. A copy is attached for your records.')
    // Anyone with the link can sign and type a name.
    expect(parsed.text).not.toContain('Hello Maren Holt')
    expect(parsed.text).not.toMatch(/kit/i)
    expect(files[0]?.content.equals(waiverAt(data.signedPdfPath))).toBe(true)
  })

  it.each([
    [
      'a renewal',
      subscriptionRenewed,
      { receiptNumber: 'RK-000008', paidAt: at, paidAmount: 700, reason: 'renewal', periodEnd: at },
      'Receipt RK-000008: $7.00 for your membership',
      'for the next month',
    ],
    [
      'the payment for a change of plan',
      subscriptionRenewed,
      { receiptNumber: 'RK-000009', paidAt: at, paidAmount: 5_651, reason: 'switch', periodEnd: at },
      'Receipt RK-000009: $56.51 for your membership',
      'We credited the time you had paid for but not used',
    ],
    [
      'a failed payment',
      subscriptionPastDue,
      { invoiceId: 'in_1', amountDue: 700, attempt: 1, nextTryAt: at },
      'Your payment of $7.00 did not go through',
      `We’ll try again on ${day}`,
    ],
    [
      'the last failed payment attempt',
      subscriptionPastDue,
      { invoiceId: 'in_1', amountDue: 700, attempt: 4, nextTryAt: null },
      'Your payment of $7.00 did not go through',
      'We won’t try again automatically.',
    ],
    [
      'another plan',
      subscriptionSwitched,
      { plan: 'yearly', amount: 6_000, previousPlan: 'monthly', from: at },
      'Your membership: $60.00 a year',
      `from monthly to yearly on ${day}`,
    ],
    [
      'a cancellation',
      subscriptionCancelled,
      { endsAt: at },
      `Your membership ends on ${day}`,
      'you won’t be charged again',
    ],
    ['a resumption', subscriptionResumed, { renewsAt: at }, 'Your membership continues', `$7.00 on ${day}`],
    [
      'the end',
      subscriptionEnded,
      { endedAt: at, reason: 'cancelled' },
      'Your membership has ended',
      `ended on ${day}`,
    ],
    [
      'the end for lack of payment',
      subscriptionEnded,
      { endedAt: at, reason: 'unpaid' },
      'Your membership has ended',
      'did not go through',
    ],
    [
      'the yearly renewal',
      subscriptionReminder,
      { renewsAt: '2099-01-09T04:00:00Z' },
      'Your membership renews on Thursday, January 8, 2099',
      'until you cancel',
    ],
    [
      'a missing seat and its refund',
      membershipRefunded,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', refundedTotal: 700, paidAmount: 700 },
      'Refund of $7.00 for your membership',
      'the session on Friday, January 8, 2027 was full',
    ],
    [
      'a partial refund',
      membershipRefunded,
      { ...refund, refunded: 200, reason: 'requested', refundedTotal: 200, paidAmount: 700 },
      'Refund of $2.00 for your membership',
      'Your membership stays the same.',
    ],
    [
      'a failed refund',
      membershipRefundFailed,
      { ...refund, reason: 'requested' },
      'Your refund of $7.00 did not go through',
      'We still owe you this money.',
    ],
    [
      'a missing seat whose refund failed',
      membershipRefundFailed,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', untold: true },
      'Your refund of $7.00 did not go through',
      'by the time it arrived, the session on Friday, January 8, 2027 was full',
    ],
    [
      'a missing seat whose payment is disputed',
      membershipRefundFailed,
      { ...refund, reason: 'seat_gone', rejection: 'class_full', untold: true, disputed: true },
      'We couldn’t accept your payment of $7.00',
      'We can’t refund it until your bank decides.',
    ],
  ] as const)('informs about %s', async (_, event, changes, subject, words) => {
    const data = { ...member(), paymentId: randomUUIDv7(), ...changes }
    const mail = await mailFor(event as EventDefinition, data as never)
    expect(mail.subject).toBe(subject)
    expect(mail.text).toContain(words)
    expect(`${mail.text}${mail.html}`).not.toMatch(/undefined|\[object|NaN/)
  })

  it('announces the charge of the next plan if it starts with the renewal', async () => {
    const next = { plan: 'monthly' as const, amount: 700 }
    const { subject, text } = await mailFor(subscriptionReminder, {
      ...member('yearly'),
      renewsAt: '2099-01-09T04:00:00Z',
      next,
    })
    expect(subject).toBe('Your membership renews on Thursday, January 8, 2099')
    expect(text).toContain('we’ll charge $7.00 to your card, and then every month')
    expect(text).toContain('$7.00 on Thursday, January 8, 2099')
    expect(text).toContain('From then on:\n  $7.00 a month')
    expect(text.replace('Membership:\n  $60.00 a year', '')).not.toContain('$60.00')
  })

  it('asks to confirm a payment if the bank requires that', async () => {
    const confirmUrl = 'https://invoice.stripe.example/i/acct_1/test_1?s=ap'
    const { subject, text, html } = await mailFor(subscriptionPastDue, {
      ...member(),
      invoiceId: 'in_1',
      amountDue: 700,
      attempt: 1,
      nextTryAt: at,
      confirmUrl,
    })
    expect(subject).toBe('Please confirm your payment of $7.00')
    expect(text).toContain('Your bank needs you to confirm this payment')
    expect(text).toContain(confirmUrl)
    expect(html).toContain(`href="${confirmUrl}"`)
    expect(text).not.toContain('declined')
  })

  it('informs once a day about someone else’s use of the address', async () => {
    const data = member()
    const { subject, text } = await mailFor(membershipAskedAgain, data)
    expect(subject).toBe('You’re already a member')
    expect(text).toContain('from a browser we don’t recognize')
    expect(text).toContain('we’ll refund the second payment automatically')
    expect(text).toContain('If it wasn’t you')
    expect(text).toContain(`${siteUrl}/profile`)
    expect(text).not.toContain(data.attemptId)
    await fixture.bed.bus.publish(membershipAskedAgain, data.attemptId, data)
    await mailFor(subscriptionResumed, { ...data, email: `last.${data.email}`, renewsAt: at })
    expect((await mailsTo(data.email)).map(({ kind }) => kind)).toEqual(['membership_asked_again'])
  })

  it('explains how to sign again if somebody else signed, and that both signatures are kept', async () => {
    const facts = registration({ classType: 'membership', levelTitle: 'Members’ session' })
    const first = signed(facts)
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, first)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain('If you didn’t sign it')
    expect(parsed.text).toContain(`${siteUrl}/waiver?membership=${facts.registrationId}`)
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, { ...signed(facts), replaces: first.waiverId })
    const { parsed: second } = await fixture.smtp.mailTo(facts.email, 2)
    expect(second.text).toContain('This signature replaces the earlier one. We keep both on record.')
  })

  describe('whose account was deleted', () => {
    it('is not told to log in and sign again in the mail with the signed waiver', async () => {
      const facts = registration({ classType: 'membership', levelTitle: 'Members’ session' })
      await fixture.bed.bus.publish(waiverSigned, facts.registrationId, { ...signed(facts), accountDeleted: true })
      const { parsed } = await fixture.smtp.mailTo(facts.email)
      expect(parsed.text).toContain('Didn’t sign it, or have a question? Just reply to this email.')
      expect(parsed.text).not.toContain('log in')
      expect(parsed.text).not.toContain(`${siteUrl}/waiver`)
    })

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
      ['confirmation', memberSeated, seat],
      ['renewal', subscriptionRenewed, renewal],
      ['failed payment', subscriptionPastDue, due],
      ['last failed payment attempt', subscriptionPastDue, { ...due, nextTryAt: null }],
      ['payment to confirm', subscriptionPastDue, { ...due, confirmUrl: 'https://invoice.stripe.example/i/1' }],
      ['other plan', subscriptionSwitched, { previousPlan: 'yearly', from: at }],
      ['cancellation', subscriptionCancelled, { endsAt: at }],
      ['resumption', subscriptionResumed, { renewsAt: at }],
      ['reminder', subscriptionReminder, { renewsAt: '2099-01-09T04:00:00Z' }],
      ['end', subscriptionEnded, { endedAt: at, reason: 'cancelled' }],
      ['refund', membershipRefunded, { ...refund, reason: 'requested', refundedTotal: 700, paidAmount: 700 }],
      ['failed refund', membershipRefundFailed, { ...refund, reason: 'requested' }],
    ] as const

    it.each(events)('does not mention the profile page in the mail about the %s', async (_, event, changes) => {
      const data = { ...member(), paymentId: randomUUIDv7(), ...changes, accountDeleted: true }
      const mail = await mailFor(event as EventDefinition, data as never)
      expect(`${mail.text}${mail.html}`).not.toMatch(/profile|undefined|\[object|NaN/i)
    })

    it('does not mention the profile page if only the account’s own event has announced its deletion', async () => {
      const data = account()
      await fixture.bed.bus.publish(userDeleted, data.userId, data)
      await fixture.smtp.mailTo(data.email ?? '')
      const owned = { ...member(), ownerId: data.userId }
      const { text } = await mailFor(subscriptionCancelled, { ...owned, endsAt: at })
      expect(text).not.toMatch(/profile/i)
      const others = await mailFor(subscriptionCancelled, { ...member(), ownerId: randomUUIDv7(), endsAt: at })
      expect(others.text).toContain(`${siteUrl}/profile`)
    })
  })

  it('is dropped if the renewal it announces is past', async () => {
    const facts = member()
    const renewsAt = fixture.service.context.clock.now().subtract({ hours: 1 }).toString()
    await fixture.bed.bus.publish(subscriptionReminder, facts.attemptId, { ...facts, renewsAt })
    const [mail] = await eventually(async () => {
      const all = await mailsTo(facts.email)
      return all[0]?.status === 'dropped' ? all : undefined
    })
    expect(mail?.lastError).toBe('The membership was to be renewed before this could be sent.')
    expect(fixture.smtp.to(facts.email)).toEqual([])
    expect(fixture.bed.bus.all(mailFailed, ({ mailId }) => mailId === mail?.mailId)).toEqual([])
  })

  it('is sent once per event, and not about an end that the refund mail announces', async () => {
    const facts = member()
    await fixture.bed.bus.publish(subscriptionEnded, facts.attemptId, { ...facts, endedAt: at, reason: 'seat_gone' })
    await mailFor(subscriptionCancelled, { ...facts, endsAt: at })
    const after = member()
    await mailFor(subscriptionEnded, { ...after, endedAt: at, reason: 'cancelled' })
    const mails = await mailsTo(facts.email.toUpperCase())
    expect(mails.map(({ kind }) => kind)).toEqual(['membership_cancelled'])
  })
})

describe('the operator', () => {
  it('gets one mail about a dispute and about each of its changes', async () => {
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
    await fixture.bed.bus.publish(paymentDisputed, disputeId, facts)
    await fixture.bed.bus.publish(paymentDisputed, disputeId, facts)
    // Other tests send mails to the operator too.
    const about = () => fixture.smtp.to(operator).filter((mail) => mail.parsed.text?.includes(disputeId))
    // Two events in the same millisecond would have no order.
    await eventually(() => about().length === 1)
    await fixture.bed.bus.publish(paymentDisputed, disputeId, { ...facts, status: 'lost', answerBy: null })
    await eventually(() => about().length === 2)
    const subjects = about().map((mail) => mail.parsed.subject)
    expect(subjects).toEqual(['Dispute needs response: $400.00', 'Dispute lost: $400.00'])
    expect(about()[1]?.parsed.text).toContain(`Registration ${facts.registrationId}`)
  })
})
