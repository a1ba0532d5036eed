import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  paymentRefunded,
  refundDeclined,
  refundFailed,
  subscriptionCancelled,
  subscriptionEnded,
  subscriptionPastDue,
  subscriptionReminder,
  subscriptionRenewed,
  subscriptionResumed,
  subscriptionSwitched,
} from '@robokids/contracts/billing'
import { kitShipped, memberSeated, registrationConfirmed, waiverSigned } from '@robokids/contracts/enrollment'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { codeIssued, signInLocked, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { mailDelivered, mailFailed, mailsSchema, type Mail } from '@robokids/contracts/notifications'
import { orderPaid, orderRefunded, orderShipped } from '@robokids/contracts/shop'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { mails, type MailData, type MailRow } from '../src/schema.ts'
import { account, confirmed, issued, refunded, failedRefund, registration, signed } from './events.ts'
import { adminHeaders, startNotifications, type NotificationsFixture } from './fixture.ts'

// These tests stop the mail server and advance the clock, so they have their own fixture and run one after the other.
let fixture: NotificationsFixture
beforeAll(async () => {
  // No attempt fails because the machine is slow.
  fixture = await startNotifications({ SMTP_TIMEOUT_MS: '20000' })
})
afterAll(() => fixture.close())

let eventTime = Date.now() + 60_000
/** Returns an event that happened a second after the previous one. */
function nextEvent<Data>(definition: EventDefinition<string, Data>, subject: string, data: NoInfer<Data>): CloudEvent {
  eventTime += 1_000
  return { ...newEvent(definition, subject, data), time: new Date(eventTime).toISOString() }
}

async function deliver(...events: CloudEvent[]): Promise<void> {
  for (const event of events) await fixture.bed.bus.republish(event)
}

async function mailsTo(email: string): Promise<Mail[]> {
  const query = new URLSearchParams({ email })
  const answer = await fetch(`${fixture.service.url}/mails?${query}`, { headers: adminHeaders })
  return mailsSchema.parse(await answer.json()).mails
}

/** Waits until `count` mails are enqueued. */
const enqueued = (email: string, count: number) => eventually(async () => (await mailsTo(email)).length === count)

/** Whether none of the mails to an address is being sent: advancing the clock would end its lease. */
async function isIdle(email: string): Promise<boolean> {
  const rows = await fixture.service.context.db.select().from(mails).where(eq(mails.recipient, email))
  return rows.every(({ leasedUntil }) => leasedUntil === null)
}

/** Advances the clock until no mail to an address is pending. @returns the statuses by kind. */
async function finalStatuses(email: string, count: number): Promise<Record<string, string>> {
  const all = await eventually(async () => {
    const found = await mailsTo(email)
    if (found.length === count && found.every(({ status }) => status !== 'pending')) return found
    // The first two retries are due within that time.
    if (await isIdle(email)) fixture.advanceTime({ seconds: 31 })
    return undefined
  }, 30_000)
  return Object.fromEntries(all.map(({ kind, status }) => [kind, status]))
}

const subjectsTo = (email: string) => fixture.smtp.to(email).map(({ parsed }) => parsed.subject)

/** Waits until an attempt has failed because the server is down: a mail claimed before that could overtake others. */
const attemptFailed = (email: string) =>
  eventually(async () => {
    const pending = (await mailsTo(email)).filter(({ status }) => status === 'pending')
    const isTried = pending.some(({ lastError }) => lastError?.includes('ECONNREFUSED'))
    return (pending.length === 0 || isTried) && isIdle(email)
  })

/** Delivers events, in the order given, while the mail server is down, then starts it. @returns the statuses by kind. */
async function deliverWhileDown(
  email: string,
  events: CloudEvent[],
  count = events.length,
): Promise<Record<string, string>> {
  await fixture.smtp.close()
  try {
    await deliver(...events)
    await enqueued(email, count)
    await attemptFailed(email)
  } finally {
    await fixture.smtp.open()
  }
  return finalStatuses(email, count)
}

function member(plan: 'monthly' | 'yearly' = 'monthly') {
  const attemptId = randomUUIDv7()
  const amount = plan === 'monthly' ? 700 : 6_000
  return { attemptId, email: `maren.${attemptId}@example.com`, plan, amount, currency: 'usd' as const }
}
const later = '2099-01-09T04:00:00.000Z'

function seated(facts: ReturnType<typeof member>): CloudEvent {
  return nextEvent(memberSeated, facts.attemptId, {
    ...facts,
    classSessionId: randomUUIDv7(),
    classDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
    receiptNumber: 'RK-000009',
    renewsAt: later,
  })
}

function paidOrder() {
  const orderId = randomUUIDv7()
  const facts = {
    orderId,
    lines: [
      {
        sku: 'product:robot-spider',
        name: 'Robot Spider',
        state: 'available' as const,
        quantity: 1,
        unitAmount: 30_000,
      },
    ],
    email: `maren.${orderId}@example.com`,
    shipTo: null,
  }
  const paymentId = randomUUIDv7()
  const money = { amount: 30_000, currency: 'usd' as const }
  return {
    ...facts,
    paid: nextEvent(orderPaid, orderId, {
      ...facts,
      ...money,
      attemptId: randomUUIDv7(),
      paymentId,
      receiptNumber: 'RK-000041',
      paidAt: '2026-11-28T00:04:59Z',
    }),
    shippedEvent: () =>
      nextEvent(orderShipped, orderId, { ...facts, trackingNumber: '9400 1000', shippedAt: '2026-11-29T00:00:00Z' }),
    refunded: (changes: { amount?: number; refundedTotal?: number; shipped?: boolean } = {}) =>
      nextEvent(orderRefunded, orderId, {
        ...facts,
        ...money,
        paymentId,
        refundId: randomUUIDv7(),
        reason: 'requested',
        refundedTotal: 30_000,
        paidAmount: 30_000,
        ...changes,
      }),
  }
}

describe('after the mail server was down', () => {
  it('a membership that was cancelled and resumed gets only the mail about the latter', async () => {
    const facts = member()
    const cancelled = nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const resumed = nextEvent(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    expect(await deliverWhileDown(facts.email, [cancelled, resumed])).toEqual({
      membership_cancelled: 'dropped',
      membership_resumed: 'sent',
    })
    expect(subjectsTo(facts.email)).toEqual(['Your membership continues'])
    const dropped = (await mailsTo(facts.email)).find(({ status }) => status === 'dropped')
    expect(dropped?.lastError).toBe('The membership was resumed before this could be sent.')
    const published = [mailDelivered, mailFailed].flatMap((event) =>
      fixture.bed.bus.all(event, ({ mailId }) => mailId === dropped?.mailId),
    )
    expect(published).toEqual([])
  })

  it('events delivered out of order result in the mail about the latest one', async () => {
    const facts = member()
    const cancelled = nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const resumed = nextEvent(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    expect(await deliverWhileDown(facts.email, [resumed, cancelled])).toEqual({
      membership_cancelled: 'dropped',
      membership_resumed: 'sent',
    })
  })

  it('a signed registration that was refunded gets only the refund mail', async () => {
    const facts = registration()
    const confirmation = confirmed(facts)
    const id = facts.registrationId
    const events = [
      nextEvent(registrationConfirmed, id, confirmation),
      nextEvent(waiverSigned, id, signed(facts)),
      nextEvent(
        paymentRefunded,
        id,
        refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId }),
      ),
    ]
    expect(await deliverWhileDown(facts.email, events)).toEqual({
      registration_confirmed: 'dropped',
      waiver_signed: 'dropped',
      payment_refunded: 'sent',
    })
    expect(subjectsTo(facts.email)).toEqual(['Refund of $400.00: Level 1 Foundations, Friday, January 8, 2027'])
  })

  it('a waiver whose signed PDF was created after the refund is not announced', async () => {
    const facts = registration()
    const id = facts.registrationId
    const refund = nextEvent(paymentRefunded, id, refunded(facts, { reason: 'requested', whole: true }))
    const waiver = nextEvent(waiverSigned, id, signed(facts))
    expect(await deliverWhileDown(facts.email, [waiver, refund])).toEqual({
      waiver_signed: 'dropped',
      payment_refunded: 'sent',
    })
  })

  it('partial refunds are announced in order, and the first mail does not say that the registration is kept', async () => {
    const facts = registration()
    const id = facts.registrationId
    const part = refunded(facts, { reason: 'requested', amount: 10_000, refundedTotal: 10_000, whole: false })
    const rest = refunded(facts, {
      ...part,
      refundId: randomUUIDv7(),
      amount: 30_000,
      refundedTotal: 40_000,
      whole: true,
    })
    const [first, second] = [nextEvent(paymentRefunded, id, part), nextEvent(paymentRefunded, id, rest)]
    await deliverWhileDown(facts.email, [second, first])
    const texts = fixture.smtp.to(facts.email).map(({ parsed }) => parsed.text)
    expect(texts).toHaveLength(2)
    expect(texts[0]).toContain('We refunded $100.00 of $400.00')
    expect(texts[0]).not.toContain('stays the same')
    expect(texts[1]).toContain('This registration is canceled')
    expect(texts[1]).toContain('Total refunded:\n  $400.00')
  })

  it('a refunded order gets only the refund mail', async () => {
    const order = paidOrder()
    expect(await deliverWhileDown(order.email, [order.paid, order.refunded()])).toEqual({
      order_paid: 'dropped',
      order_refunded: 'sent',
    })
  })

  it('an order that was shipped and then refunded gets both mails in this order', async () => {
    const order = paidOrder()
    const events = [order.paid, order.shippedEvent(), order.refunded({ shipped: true })]
    await deliverWhileDown(order.email, events.toReversed())
    expect(subjectsTo(order.email)).toEqual([
      'Shipped before your refund: Robot Spider',
      'Refund of $300.00: Robot Spider',
    ])
    expect(fixture.smtp.to(order.email)[1]?.parsed.text).toContain('your order is returned')
  })

  it('a payment that failed and then succeeded gets only the receipt', async () => {
    const facts = member()
    const id = facts.attemptId
    const due = { ...facts, invoiceId: 'in_1', amountDue: 700, nextTryAt: later }
    const renewal = {
      receiptNumber: 'RK-000008',
      paidAt: later,
      paidAmount: 700,
      periodEnd: later,
      paymentId: randomUUIDv7(),
    }
    const events = [
      nextEvent(subscriptionPastDue, id, { ...due, attempt: 1 }),
      nextEvent(subscriptionPastDue, id, { ...due, attempt: 2 }),
      nextEvent(subscriptionRenewed, id, { ...facts, ...renewal, reason: 'renewal' }),
    ]
    await deliverWhileDown(facts.email, events)
    expect(subjectsTo(facts.email)).toEqual(['Receipt RK-000008: $7.00 for your membership'])
  })

  it.each([
    [
      'cancelled',
      (facts: ReturnType<typeof member>) =>
        nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }),
    ],
    [
      'ended',
      (facts: ReturnType<typeof member>) =>
        nextEvent(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' }),
    ],
    [
      'switched',
      (facts: ReturnType<typeof member>) =>
        nextEvent(subscriptionSwitched, facts.attemptId, { ...facts, previousPlan: 'yearly', from: later }),
    ],
  ] as const)('no renewal is announced if the membership was %s', async (_, next) => {
    const facts = member()
    const reminder = nextEvent(subscriptionReminder, facts.attemptId, { ...facts, renewsAt: later })
    expect(await deliverWhileDown(facts.email, [reminder, next(facts)])).toMatchObject({
      membership_reminder: 'dropped',
    })
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('no membership is confirmed that ended before its seat was confirmed', async () => {
    const facts = member()
    const ended = nextEvent(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' })
    await deliverWhileDown(facts.email, [ended, seated(facts)])
    expect(subjectsTo(facts.email)).toEqual(['Your membership has ended'])
  })

  it('a failed refund that was replaced is reported neither to the buyer nor to the operator', async () => {
    const facts = registration()
    const id = facts.registrationId
    const first = refunded(facts, { reason: 'requested', whole: true })
    const again = { ...first, refundId: randomUUIDv7(), again: true }
    await deliver(nextEvent(paymentRefunded, id, first))
    await fixture.smtp.mailTo(facts.email)
    await deliverWhileDown(
      facts.email,
      [nextEvent(refundFailed, id, failedRefund(first)), nextEvent(paymentRefunded, id, again)],
      3,
    )
    expect(subjectsTo(facts.email)).toEqual([
      'Refund of $400.00: Level 1 Foundations, Friday, January 8, 2027',
      'We sent your refund again: Level 1 Foundations, Friday, January 8, 2027',
    ])
    const [owed] = await fixture.service.context.db
      .select()
      .from(mails)
      .where(eq(mails.fact, `refund_owed:${first.refundId}`))
    expect(owed).toMatchObject({ status: 'dropped' })
  })

  it('changes of a deleted account are sent only to its previous address', async () => {
    const data = account()
    const email = data.email ?? ''
    const previousEmail = `previous.${data.userId}@example.com`
    const events = [
      nextEvent(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail }),
      nextEvent(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null }),
      nextEvent(userDeleted, data.userId, data),
    ]
    expect(await deliverWhileDown(email, events)).toEqual({
      user_updated: 'dropped',
      sign_in_locked: 'dropped',
      user_deleted: 'sent',
    })
    // The deletion mail is not sent to this address.
    expect(await finalStatuses(previousEmail, 1)).toEqual({ user_updated: 'sent' })
  })

  it('a code waits for no other mail', async () => {
    const data = account()
    await fixture.smtp.close()
    await deliver(nextEvent(userUpdated, data.userId, { ...data, changed: ['password'], previousEmail: null }))
    await eventually(async () => (await fixture.mailsTo(data.userId))[0]?.lastError)
    await fixture.smtp.open()
    const code = issued(fixture.service.context.clock.now(), '907314', {
      userId: data.userId,
      destination: data.email ?? '',
    })
    await fixture.bed.bus.publish(codeIssued, data.userId, code)
    await fixture.smtp.mailTo(data.email ?? '')
    expect(subjectsTo(data.email ?? '')).toEqual(['Your code to confirm your Robo Kids Learning account'])
    await finalStatuses(data.email ?? '', 2)
  })
})

describe('a mail about a subject', () => {
  it('triggers an immediate retry of the earlier one and is sent right after it', async () => {
    const facts = member()
    await fixture.smtp.close()
    await deliver(
      nextEvent(subscriptionSwitched, facts.attemptId, {
        ...facts,
        previousPlan: 'yearly',
        from: '2026-11-28T00:00:00Z',
      }),
    )
    for (let tries = 1; tries <= 9; tries += 1) {
      await eventually(
        async () => ((await mailsTo(facts.email))[0]?.attempts ?? 0) >= tries && (await isIdle(facts.email)),
      )
      if (tries < 9) fixture.advanceTime({ hours: 8, seconds: 1 })
    }
    await fixture.smtp.open()
    await deliver(nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }))
    await fixture.smtp.mailTo(facts.email, 2)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
  })

  it('waits at most a day for an earlier one that fails for its own reason', async () => {
    const facts = registration()
    const id = facts.registrationId
    fixture.waivers.failNext(1_000)
    await deliver(nextEvent(waiverSigned, id, signed(facts)))
    await enqueued(facts.email, 1)
    await deliver(nextEvent(kitShipped, id, { ...facts, carrier: 'UPS', trackingNumber: '1Z 999' }))
    await enqueued(facts.email, 2)
    const hasFailed = async () =>
      (await fixture.mailsOf(id)).some(({ attempts, lastError }) => attempts > 0 && lastError?.includes('503')) &&
      (await isIdle(facts.email))
    await eventually(hasFailed)
    const { requestCount } = fixture.waivers
    fixture.advanceTime({ hours: 23 })
    await eventually(() => fixture.waivers.requestCount > requestCount)
    await eventually(hasFailed)
    expect(subjectsTo(facts.email)).toEqual([])
    fixture.advanceTime({ hours: 2 })
    await fixture.smtp.mailTo(facts.email)
    expect(subjectsTo(facts.email)).toEqual(['On its way: your kit for Level 1 Foundations'])
    fixture.waivers.failNext(0)
    await finalStatuses(facts.email, 2)
    expect(fixture.smtp.to(facts.email)).toHaveLength(2)
  })

  it('does not wait for one to another address or one that was given up', async () => {
    const facts = member()
    const elsewhere = { ...facts, email: `moved.${facts.email}` }
    fixture.smtp.plan(facts.email, 'greylist', 'refuse')
    const event = (data: typeof facts) =>
      nextEvent(subscriptionSwitched, facts.attemptId, {
        ...data,
        previousPlan: 'yearly',
        from: '2026-11-28T00:00:00Z',
      })
    await deliver(event(facts))
    await eventually(async () => (await mailsTo(facts.email))[0]?.lastError)
    await deliver(nextEvent(subscriptionCancelled, facts.attemptId, { ...elsewhere, endsAt: later }))
    await fixture.smtp.mailTo(elsewhere.email)
    expect(await mailsTo(facts.email)).toMatchObject([{ status: 'pending' }])
    await deliver(nextEvent(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later }))
    await fixture.smtp.mailTo(facts.email)
    expect(await finalStatuses(facts.email, 2)).toEqual({ membership_switched: 'failed', membership_resumed: 'sent' })
  })

  it('is dropped if a later event has superseded it, and sent late if not', async () => {
    const facts = member()
    const cancelled = nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const renewal = {
      receiptNumber: 'RK-000008',
      paidAt: later,
      paidAmount: 700,
      periodEnd: later,
      paymentId: randomUUIDv7(),
    }
    const receipt = nextEvent(subscriptionRenewed, facts.attemptId, { ...facts, ...renewal, reason: 'renewal' })
    const resumed = nextEvent(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    await deliver(resumed)
    await fixture.smtp.mailTo(facts.email)
    await deliver(cancelled, receipt)
    expect(await finalStatuses(facts.email, 3)).toEqual({
      membership_cancelled: 'dropped',
      membership_renewed: 'sent',
      membership_resumed: 'sent',
    })
  })

  it.each([
    [
      'has ended',
      (facts: ReturnType<typeof member>) =>
        nextEvent(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' }),
    ],
    [
      'is canceled',
      (facts: ReturnType<typeof member>) =>
        nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }),
    ],
  ] as const)('contains only the receipt if the membership %s', async (_, end) => {
    const facts = member()
    const renewal = {
      receiptNumber: 'RK-000009',
      paidAt: later,
      paidAmount: 700,
      periodEnd: later,
      paymentId: randomUUIDv7(),
      reason: 'renewal' as const,
    }
    const receipt = nextEvent(subscriptionRenewed, facts.attemptId, { ...facts, ...renewal })
    await deliver(end(facts))
    await fixture.smtp.mailTo(facts.email)
    await deliver(receipt)
    const { parsed } = await fixture.smtp.mailTo(facts.email, 2)
    expect(parsed.subject).toBe('Receipt RK-000009: $7.00 for your membership')
    expect(parsed.text).toContain('a payment made before your membership was canceled')
    expect(parsed.text).not.toMatch(/renewed|thank you for staying|paid until|profile page/i)
  })

  it('announces no next payment to a new member who has cancelled already', async () => {
    const facts = member()
    await deliver(nextEvent(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }))
    await fixture.smtp.mailTo(facts.email)
    await deliver(seated(facts))
    const { parsed } = await fixture.smtp.mailTo(facts.email, 2)
    expect(parsed.subject).toBe('You’re now a member of Robo Kids Learning')
    expect(parsed.text).toContain('You canceled this membership, so it won’t renew.')
    expect(parsed.text).not.toMatch(/next payment|cancel online|what you agreed to/i)
  })

  it('says that the parcel was shipped before the refund if the order is refunded', async () => {
    const order = paidOrder()
    const shipped = order.shippedEvent()
    await deliver(order.refunded({ shipped: true }))
    await fixture.smtp.mailTo(order.email)
    await deliver(shipped)
    const { parsed } = await fixture.smtp.mailTo(order.email, 2)
    expect(parsed.subject).toBe('Shipped before your refund: Robot Spider')
    expect(parsed.text).toContain('Your package had shipped before that')
    expect(parsed.text).not.toContain('today')
  })

  it('can be resent by an administrator after it was dropped, and then delays no others', async () => {
    const facts = member()
    const id = facts.attemptId
    await deliverWhileDown(facts.email, [
      nextEvent(subscriptionCancelled, id, { ...facts, endsAt: later }),
      nextEvent(subscriptionResumed, id, { ...facts, renewsAt: later }),
    ])
    const dropped = (await mailsTo(facts.email)).find(({ status }) => status === 'dropped')
    fixture.smtp.plan(facts.email, 'greylist')
    await fixture.resend(dropped?.mailId ?? '')
    await eventually(async () =>
      (await mailsTo(facts.email)).some(({ lastError }) => lastError?.includes('Greylisted')),
    )
    await deliver(nextEvent(subscriptionSwitched, id, { ...facts, previousPlan: 'yearly', from: later }))
    await fixture.smtp.mailTo(facts.email, 2)
    fixture.advanceTime({ seconds: 6 })
    await fixture.smtp.mailTo(facts.email, 3)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership continues',
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
  })

  describe('from the previous version', () => {
    function row<Kind extends keyof MailData>(kind: Kind, data: MailData[Kind], changes: Partial<MailRow> = {}) {
      const id = randomUUIDv7()
      const now = fixture.service.context.clock.now()
      const common = { recipient: `maren.${id}@example.com`, messageId: `<${id}>`, nextTryAt: now, createdAt: now }
      return { ...common, ...changes, id, fact: `${kind}:${id}`, kind, data }
    }

    it('has no subject and is sent in any order', async () => {
      const facts = member()
      const { email: recipient } = facts
      await fixture.service.context.db
        .insert(mails)
        .values([
          row('membership_cancelled', { ...facts, endsAt: later }, { recipient }),
          row('membership_resumed', { ...facts, renewsAt: later }, { recipient }),
        ])
      fixture.service.wakeAll()
      await fixture.smtp.mailTo(recipient, 2)
      expect(fixture.smtp.to(recipient)).toHaveLength(2)
    })

    it('gets its subject from the migration', async () => {
      const { db, clock } = fixture.service.context
      const [facts, seat, order, userId] = [registration(), member(), randomUUIDv7(), randomUUIDv7()]
      const { registrationId } = facts
      // Must not be sent during the test.
      const notYet = { nextTryAt: clock.now().add({ hours: 24 * 365 }) }
      const paid = { orderId: order } as MailData['order_paid']
      const membersWaiver = { ...signed(facts), classType: 'membership' as const }
      const dispute = { disputeId: 'dp_1' } as MailData['payment_disputed']
      const placed = [
        [
          row('registration_confirmed', confirmed(facts), { ...notYet, registrationId }),
          `registration:${registrationId}`,
        ],
        [row('waiver_signed', signed(facts), { ...notYet, registrationId }), `registration:${registrationId}`],
        [row('waiver_signed', membersWaiver, { ...notYet, registrationId }), `membership:${registrationId}`],
        [row('membership_cancelled', { ...seat, endsAt: later }, notYet), `membership:${seat.attemptId}`],
        [row('order_paid', paid, notYet), `order:${order}`],
        [row('payment_disputed', dispute, notYet), 'dispute:dp_1'],
        [row('user_deleted', { givenName: '' }, { ...notYet, userId }), `account:${userId}`],
        [row('notice_asked', { noticeId: order, productName: 'Robot Spider' }, notYet), null],
        [
          row('code_issued', { givenName: '', codeId: order, purpose: 'sign_in', username: '' }, { ...notYet, userId }),
          null,
        ],
      ] as const
      await db.insert(mails).values(placed.map(([one]) => one))
      const file = new URL('../migrations/0004_mails-in-order.sql', import.meta.url)
      const [update = ''] = (await readFile(file, 'utf8')).split('--> statement-breakpoint').slice(-1)
      await db.execute(sql.raw(update))
      for (const [{ id }, subject] of placed) {
        const [found] = await db.select().from(mails).where(eq(mails.id, id))
        expect([found?.kind, found?.subject]).toEqual([found?.kind, subject])
        await db.delete(mails).where(eq(mails.id, id))
      }
    })
  })

  it('is sent in order if two processes share the work', async () => {
    const facts = member()
    const id = facts.attemptId
    fixture.smtp.plan(facts.email, 'hold')
    const switched = { ...facts, previousPlan: 'yearly' as const, from: '2026-11-28T00:00:00Z' }
    await deliver(nextEvent(subscriptionSwitched, id, switched))
    await fixture.smtp.mailTo(facts.email)
    const second = await fixture.bed.start(notifications, { ...fixture.env, DATABASE_URL: fixture.service.databaseUrl })
    const { clock } = second.context
    clock.advance(clock.now().until(fixture.service.context.clock.now()))
    await deliver(nextEvent(subscriptionCancelled, id, { ...facts, endsAt: later }))
    await enqueued(facts.email, 2)
    second.wakeAll()
    // Other mails are sent meanwhile.
    const other = member()
    await deliver(nextEvent(subscriptionCancelled, other.attemptId, { ...other, endsAt: later }))
    await fixture.smtp.mailTo(other.email)
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
    fixture.smtp.release(facts.email)
    await finalStatuses(facts.email, 2)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
    await second.stop()
  })
})

describe('any sequence of events, delivered in any order, some while the mail server is down', () => {
  interface Step {
    kind: string
    event: CloudEvent
  }
  interface Story {
    email: string
    steps: Step[]
  }

  const membershipSteps = ['cancelled', 'resumed', 'past_due', 'renewed', 'switched', 'reminder', 'ended'] as const
  function membershipStory(kinds: readonly (typeof membershipSteps)[number][]): Story {
    const facts = member()
    const id = facts.attemptId
    const make = {
      cancelled: () => nextEvent(subscriptionCancelled, id, { ...facts, endsAt: later }),
      resumed: () => nextEvent(subscriptionResumed, id, { ...facts, renewsAt: later }),
      past_due: () =>
        nextEvent(subscriptionPastDue, id, {
          ...facts,
          invoiceId: 'in_1',
          amountDue: 700,
          attempt: 1,
          nextTryAt: later,
        }),
      renewed: () =>
        nextEvent(subscriptionRenewed, id, {
          ...facts,
          paymentId: randomUUIDv7(),
          receiptNumber: 'RK-000008',
          paidAt: later,
          paidAmount: 700,
          reason: 'renewal',
          periodEnd: later,
        }),
      switched: () => nextEvent(subscriptionSwitched, id, { ...facts, previousPlan: 'yearly', from: later }),
      reminder: () => nextEvent(subscriptionReminder, id, { ...facts, renewsAt: later }),
      ended: () => nextEvent(subscriptionEnded, id, { ...facts, endedAt: later, reason: 'cancelled' }),
    }
    // No event follows the end.
    const end = kinds.indexOf('ended')
    const untilEnd = end === -1 ? kinds : kinds.slice(0, end + 1)
    return { email: facts.email, steps: untilEnd.map((kind) => ({ kind: `membership_${kind}`, event: make[kind]() })) }
  }

  const registrationSteps = ['waiver_signed', 'kit_shipped', 'part', 'rest'] as const
  function registrationStory(kinds: readonly (typeof registrationSteps)[number][]): Story {
    const facts = registration()
    const id = facts.registrationId
    const confirmation = confirmed(facts)
    const { paymentId } = confirmation.payment
    let total = 0
    const refund = (amount: number) => {
      total += amount
      const whole = total === confirmation.payment.amount
      return nextEvent(
        paymentRefunded,
        id,
        refunded(facts, { paymentId, reason: 'requested', amount, refundedTotal: total, whole }),
      )
    }
    const steps: Step[] = [
      { kind: 'registration_confirmed', event: nextEvent(registrationConfirmed, id, confirmation) },
    ]
    for (const kind of kinds) {
      if (total === confirmation.payment.amount) break
      if (kind === 'waiver_signed' || kind === 'kit_shipped') {
        if (steps.some((step) => step.kind === kind)) continue
        const event =
          kind === 'waiver_signed'
            ? nextEvent(waiverSigned, id, signed(facts))
            : nextEvent(kitShipped, id, { ...facts, carrier: 'UPS', trackingNumber: '1Z 999' })
        steps.push({ kind, event })
      } else {
        const left = confirmation.payment.amount - total
        const amount = kind === 'part' && left > 10_000 ? 10_000 : left
        steps.push({ kind: 'payment_refunded', event: refund(amount) })
      }
    }
    return { email: facts.email, steps }
  }

  function orderStory(kinds: readonly ('shipped' | 'refunded')[]): Story {
    const order = paidOrder()
    const steps: Step[] = [{ kind: 'order_paid', event: order.paid }]
    for (const kind of new Set(kinds)) {
      const event = kind === 'shipped' ? order.shippedEvent() : order.refunded()
      steps.push({ kind: `order_${kind}`, event })
    }
    return { email: order.email, steps }
  }

  /** The later events that outdate each mail. */
  const outdatedBy: Record<string, string[]> = {
    membership_cancelled: ['membership_cancelled', 'membership_resumed', 'membership_ended'],
    membership_resumed: ['membership_resumed', 'membership_cancelled', 'membership_ended'],
    membership_past_due: ['membership_past_due', 'membership_renewed', 'membership_cancelled', 'membership_ended'],
    membership_reminder: ['membership_renewed', 'membership_switched', 'membership_cancelled', 'membership_ended'],
    membership_switched: ['membership_switched', 'membership_cancelled', 'membership_ended'],
    registration_confirmed: ['end of registration'],
    waiver_signed: ['end of registration'],
    order_paid: ['order_refunded'],
  }
  const isOutdated = (step: Step, steps: Step[]) =>
    steps.some(
      (other) =>
        other.event.time > step.event.time &&
        outdatedBy[step.kind]?.includes(
          other.kind === 'payment_refunded' && (other.event.data as { whole?: boolean }).whole
            ? 'end of registration'
            : other.kind,
        ),
    )

  const anyStory = fc.oneof(
    fc
      .array(fc.constantFrom(...membershipSteps), { minLength: 2, maxLength: 6 })
      .map((kinds) => () => membershipStory(kinds)),
    fc
      .array(fc.constantFrom(...registrationSteps), { minLength: 1, maxLength: 5 })
      .map((kinds) => () => registrationStory(kinds)),
    fc
      .array(fc.constantFrom('shipped' as const, 'refunded' as const), { minLength: 1, maxLength: 2 })
      .map((kinds) => () => orderStory(kinds)),
  )

  it('results in mails in order, without outdated ones and at most one per fact', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyStory,
        // The position of each event in the order of delivery, and how many are delivered before the server goes down.
        fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 8, maxLength: 8 }),
        fc.integer({ min: 0, max: 3 }),
        async (createStory, positions, before) => {
          const { email, steps } = createStory()
          const arrival = steps
            .map((step, index) => ({ step, position: positions[index] ?? 0 }))
            .toSorted((one, other) => one.position - other.position)
            .map(({ step }) => step)
          const early = arrival.slice(0, before)
          for (const { event } of early) {
            await deliver(event, event)
          }
          if (early.length > 0) await finalStatuses(email, early.length)
          const sentBefore = fixture.smtp.to(email).length
          await fixture.smtp.close()
          try {
            await deliver(...arrival.slice(before).map(({ event }) => event))
            await enqueued(email, steps.length)
            await attemptFailed(email)
          } finally {
            await fixture.smtp.open()
          }
          await finalStatuses(email, steps.length)
          const rows = await fixture.service.context.db.select().from(mails).where(eq(mails.recipient, email))
          const received = fixture.smtp.to(email).map(({ parsed }) => {
            const row = rows.find(({ messageId }) => messageId === parsed.messageId)
            if (!row?.happenedAt) throw new Error('There is no row for this mail.')
            return { kind: row.kind, fact: row.fact, at: row.happenedAt.epochMilliseconds }
          })
          expect(new Set(received.map(({ fact }) => fact)).size).toBe(received.length)
          expect(received).toHaveLength(rows.filter(({ status }) => status === 'sent').length)
          const waiting = received.slice(sentBefore).map(({ at }) => at)
          expect(waiting).toEqual(waiting.toSorted((one, other) => one - other))
          const statusOf = ({ event }: Step) =>
            rows.find(({ happenedAt }) => happenedAt?.epochMilliseconds === Date.parse(event.time))?.status
          for (const step of arrival.slice(before))
            expect(statusOf(step)).toBe(isOutdated(step, steps) ? 'dropped' : 'sent')
          for (const step of early) if (!isOutdated(step, early)) expect(statusOf(step)).toBe('sent')
        },
      ),
      { numRuns: 15 },
    )
  }, 180_000)
})

describe('a process that is killed while it sends', () => {
  it('leaves mails that are sent in order, without outdated ones', async () => {
    const own = await startNotifications()
    const { databaseUrl } = own.service
    await own.service.stop()
    const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
      env: {
        ...process.env,
        APP_ENV: 'local',
        LOG_LEVEL: 'silent',
        NATS_URL: own.bed.nats.url,
        DATABASE_URL: databaseUrl,
        ...own.env,
        SMTP_TIMEOUT_MS: '60000',
      },
      stdio: 'ignore',
    })
    try {
      const [switched, cancelled] = [member(), member()]
      for (const { email } of [switched, cancelled]) own.smtp.plan(email, 'hang')
      const plan = { ...switched, previousPlan: 'yearly' as const, from: '2026-11-28T00:00:00Z' }
      await own.bed.bus.republish(nextEvent(subscriptionSwitched, switched.attemptId, plan))
      await own.bed.bus.republish(
        nextEvent(subscriptionCancelled, cancelled.attemptId, { ...cancelled, endsAt: later }),
      )
      for (const { email } of [switched, cancelled]) await own.smtp.mailTo(email)
      await own.bed.bus.republish(nextEvent(subscriptionCancelled, switched.attemptId, { ...switched, endsAt: later }))
      await own.bed.bus.republish(
        nextEvent(subscriptionResumed, cancelled.attemptId, { ...cancelled, renewsAt: later }),
      )
      child.kill('SIGKILL')
      const again = await own.bed.start(notifications, { ...own.env, DATABASE_URL: databaseUrl })
      await eventually(async () => (await again.context.db.$count(mails)) === 4)
      again.context.clock.advance({ minutes: 5, seconds: 1 })
      again.wakeAll()
      await own.smtp.mailTo(switched.email, 3)
      await own.smtp.mailTo(cancelled.email, 2)
      const subjects = (email: string) => own.smtp.to(email).map(({ parsed }) => parsed.subject)
      const [plain, end] = ['Your membership: $7.00 a month', 'Your membership ends on Thursday, January 8, 2099']
      expect(subjects(switched.email)).toEqual([plain, plain, end])
      expect(subjects(cancelled.email)).toEqual([end, 'Your membership continues'])
    } finally {
      child.kill('SIGKILL')
      await own.close()
    }
  }, 60_000)
})

describe('refund.declined', () => {
  it('is reported only to the operator, with the payment and the refund command', async () => {
    const paymentId = randomUUIDv7()
    const data = {
      refundId: randomUUIDv7(),
      paymentId,
      registrationId: randomUUIDv7(),
      orderId: null,
      membershipId: null,
      amount: 40_000,
      currency: 'usd' as const,
      reason: 'requested' as const,
      underWayTotal: 0,
      paidAmount: 40_000,
    }
    for (let n = 0; n < 2; n += 1) await fixture.bed.bus.publish(refundDeclined, paymentId, data)
    const mail = await eventually(() =>
      fixture.smtp.to('operator@robokidslearning.example').find(({ parsed }) => parsed.text?.includes(paymentId)),
    )
    expect(mail.parsed.subject).toBe('Refund failed: $400.00 is owed')
    expect(mail.parsed.text).toContain(`npm run admin -- refund --payment ${paymentId}`)
    expect(mail.parsed.text).toContain(`Registration ${data.registrationId}`)
  })
})
