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
import { account, confirmed, issued, refunded, refundInVain, registration, signed } from './events.ts'
import { adminHeaders, openOffice, type NotificationsFixture } from './fixture.ts'

// Mail servers are away here, and time passes: an office of its own, for one test after the other.
let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

let times = Date.now() + 60_000
/** An event that happened a second after the one that was made before. */
function then<Data>(definition: EventDefinition<string, Data>, subject: string, data: NoInfer<Data>): CloudEvent {
  times += 1_000
  return { ...newEvent(definition, subject, data), time: new Date(times).toISOString() }
}

async function arrive(...events: CloudEvent[]): Promise<void> {
  for (const event of events) await office.bed.bus.republish(event)
}

async function mailsTo(email: string): Promise<Mail[]> {
  const query = new URLSearchParams({ email })
  const answer = await fetch(`${office.service.url}/mails?${query}`, { headers: adminHeaders })
  return mailsSchema.parse(await answer.json()).mails
}

/** Waits until the mails about that many facts are ordered. */
const ordered = (email: string, count: number) => eventually(async () => (await mailsTo(email)).length === count)

/** Whether none of the mails to an address is being sent: time that passes meanwhile would end its lease. */
async function isIdle(email: string): Promise<boolean> {
  const rows = await office.service.context.db.select().from(mails).where(eq(mails.recipient, email))
  return rows.every(({ leasedUntil }) => leasedUntil === null)
}

/** Lets the time pass until nothing to an address waits any more. @returns what became of its mails, by kind. */
async function settled(email: string, count: number): Promise<Record<string, string>> {
  const all = await eventually(async () => {
    const found = await mailsTo(email)
    if (found.length === count && found.every(({ status }) => status !== 'pending')) return found
    // The first two tries come within that time.
    if (await isIdle(email)) office.passTime({ seconds: 31 })
    return undefined
  }, 30_000)
  return Object.fromEntries(all.map(({ kind, status }) => [kind, status]))
}

const subjectsTo = (email: string) => office.post.to(email).map(({ parsed }) => parsed.subject)

/** Waits until a mail was tried that the server, being away, did not take: what is taken before then may overtake others. */
const triedInVain = (email: string) =>
  eventually(async () => {
    const pending = (await mailsTo(email)).filter(({ status }) => status === 'pending')
    const isTried = pending.some(({ lastError }) => lastError?.includes('ECONNREFUSED'))
    return (pending.length === 0 || isTried) && isIdle(email)
  })

/** Has events arrive while the mail server is away, in the order given, and the server come back. */
async function whileAway(email: string, events: CloudEvent[], count = events.length): Promise<Record<string, string>> {
  await office.post.close()
  try {
    await arrive(...events)
    await ordered(email, count)
    await triedInVain(email)
  } finally {
    await office.post.open()
  }
  return settled(email, count)
}

function member(plan: 'monthly' | 'yearly' = 'monthly') {
  const attemptId = randomUUIDv7()
  const amount = plan === 'monthly' ? 700 : 6_000
  return { attemptId, email: `maren.${attemptId}@example.com`, plan, amount, currency: 'usd' as const }
}
const later = '2099-01-09T04:00:00.000Z'

function seated(facts: ReturnType<typeof member>): CloudEvent {
  return then(memberSeated, facts.attemptId, {
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
    paid: then(orderPaid, orderId, {
      ...facts,
      ...money,
      attemptId: randomUUIDv7(),
      paymentId,
      receiptNumber: 'RK-000041',
      paidAt: '2026-11-28T00:04:59Z',
    }),
    shippedEvent: () =>
      then(orderShipped, orderId, { ...facts, trackingNumber: '9400 1000', shippedAt: '2026-11-29T00:00:00Z' }),
    refunded: (changes: { amount?: number; refundedTotal?: number; shipped?: boolean } = {}) =>
      then(orderRefunded, orderId, {
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

describe('while the mail server is away', () => {
  it('a cancelled membership that is resumed is told to go on, and nothing after that', async () => {
    const facts = member()
    const cancelled = then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const resumed = then(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    expect(await whileAway(facts.email, [cancelled, resumed])).toEqual({
      membership_cancelled: 'dropped',
      membership_resumed: 'sent',
    })
    expect(subjectsTo(facts.email)).toEqual(['Your membership goes on'])
    const dropped = (await mailsTo(facts.email)).find(({ status }) => status === 'dropped')
    expect(dropped?.lastError).toBe('The membership was resumed before this could be sent.')
    const published = [mailDelivered, mailFailed].flatMap((event) =>
      office.bed.bus.all(event, ({ mailId }) => mailId === dropped?.mailId),
    )
    expect(published).toEqual([])
  })

  it('what arrives in another order than it happened is told by what happened last', async () => {
    const facts = member()
    const cancelled = then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const resumed = then(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    expect(await whileAway(facts.email, [resumed, cancelled])).toEqual({
      membership_cancelled: 'dropped',
      membership_resumed: 'sent',
    })
  })

  it('a signed registration that is refunded is told of its end alone', async () => {
    const facts = registration()
    const booked = confirmed(facts)
    const id = facts.registrationId
    const events = [
      then(registrationConfirmed, id, booked),
      then(waiverSigned, id, signed(facts)),
      then(paymentRefunded, id, refunded(facts, { reason: 'requested', paymentId: booked.payment.paymentId })),
    ]
    expect(await whileAway(facts.email, events)).toEqual({
      registration_confirmed: 'dropped',
      waiver_signed: 'dropped',
      payment_refunded: 'sent',
    })
    expect(subjectsTo(facts.email)).toEqual(['Refund of $400.00: Level 1 Foundations, Friday, January 8, 2027'])
  })

  it('a waiver whose signed PDF was made after the refund is not told as a success', async () => {
    const facts = registration()
    const id = facts.registrationId
    const refund = then(paymentRefunded, id, refunded(facts, { reason: 'requested', whole: true }))
    const waiver = then(waiverSigned, id, signed(facts))
    expect(await whileAway(facts.email, [waiver, refund])).toEqual({
      waiver_signed: 'dropped',
      payment_refunded: 'sent',
    })
  })

  it('a part of a payment and then its rest are told in this order, and the first does not say that the registration stays', async () => {
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
    const [first, second] = [then(paymentRefunded, id, part), then(paymentRefunded, id, rest)]
    await whileAway(facts.email, [second, first])
    const texts = office.post.to(facts.email).map(({ parsed }) => parsed.text)
    expect(texts).toHaveLength(2)
    expect(texts[0]).toContain('We refunded $100.00 of $400.00')
    expect(texts[0]).not.toContain('stays as it is')
    expect(texts[1]).toContain('This registration is cancelled')
    expect(texts[1]).toContain('Refunded in all:\n  $400.00')
  })

  it('an order that is refunded is told of its refund alone', async () => {
    const order = paidOrder()
    expect(await whileAway(order.email, [order.paid, order.refunded()])).toEqual({
      order_paid: 'dropped',
      order_refunded: 'sent',
    })
  })

  it('an order that is shipped and then refunded is told of both, in this order', async () => {
    const order = paidOrder()
    const events = [order.paid, order.shippedEvent(), order.refunded({ shipped: true })]
    await whileAway(order.email, events.toReversed())
    expect(subjectsTo(order.email)).toEqual([
      'Shipped before your refund: Robot Spider',
      'Refund of $300.00: Robot Spider',
    ])
    expect(office.post.to(order.email)[1]?.parsed.text).toContain('your order is returned')
  })

  it('a payment that failed and then went through is told as paid', async () => {
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
      then(subscriptionPastDue, id, { ...due, attempt: 1 }),
      then(subscriptionPastDue, id, { ...due, attempt: 2 }),
      then(subscriptionRenewed, id, { ...facts, ...renewal, reason: 'renewal' }),
    ]
    await whileAway(facts.email, events)
    expect(subjectsTo(facts.email)).toEqual(['Receipt RK-000008: $7.00 for your membership'])
  })

  it.each([
    [
      'cancelled',
      (facts: ReturnType<typeof member>) => then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }),
    ],
    [
      'over',
      (facts: ReturnType<typeof member>) =>
        then(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' }),
    ],
    [
      'switched',
      (facts: ReturnType<typeof member>) =>
        then(subscriptionSwitched, facts.attemptId, { ...facts, previousPlan: 'yearly', from: later }),
    ],
  ] as const)('no renewal is announced of a membership that is %s', async (_, next) => {
    const facts = member()
    const reminder = then(subscriptionReminder, facts.attemptId, { ...facts, renewsAt: later })
    expect(await whileAway(facts.email, [reminder, next(facts)])).toMatchObject({ membership_reminder: 'dropped' })
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it('nobody is called a member whose membership was over before its seat was confirmed', async () => {
    const facts = member()
    const ended = then(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' })
    await whileAway(facts.email, [ended, seated(facts)])
    expect(subjectsTo(facts.email)).toEqual(['Your membership has ended'])
  })

  it('no refund is called failed, to buyer or operator, that was made good', async () => {
    const facts = registration()
    const id = facts.registrationId
    const first = refunded(facts, { reason: 'requested', whole: true })
    const again = { ...first, refundId: randomUUIDv7(), again: true }
    await arrive(then(paymentRefunded, id, first))
    await office.post.mailTo(facts.email)
    await whileAway(facts.email, [then(refundFailed, id, refundInVain(first)), then(paymentRefunded, id, again)], 3)
    expect(subjectsTo(facts.email)).toEqual([
      'Refund of $400.00: Level 1 Foundations, Friday, January 8, 2027',
      'We sent your refund again: Level 1 Foundations, Friday, January 8, 2027',
    ])
    const [owed] = await office.service.context.db
      .select()
      .from(mails)
      .where(eq(mails.fact, `refund_owed:${first.refundId}`))
    expect(owed).toMatchObject({ status: 'dropped' })
  })

  it('changes of an account that is deleted are not told to whom they cannot help any more', async () => {
    const data = account()
    const email = data.email ?? ''
    const previousEmail = `previous.${data.userId}@example.com`
    const events = [
      then(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail }),
      then(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null }),
      then(userDeleted, data.userId, data),
    ]
    expect(await whileAway(email, events)).toEqual({
      user_updated: 'dropped',
      sign_in_locked: 'dropped',
      user_deleted: 'sent',
    })
    // This address cannot see that the account is deleted.
    expect(await settled(previousEmail, 1)).toEqual({ user_updated: 'sent' })
  })

  it('no code waits for anything', async () => {
    const data = account()
    await office.post.close()
    await arrive(then(userUpdated, data.userId, { ...data, changed: ['password'], previousEmail: null }))
    await eventually(async () => (await office.mailsTo(data.userId))[0]?.lastError)
    await office.post.open()
    const code = issued(office.service.context.clock.now(), '907314', {
      userId: data.userId,
      destination: data.email ?? '',
    })
    await office.bed.bus.publish(codeIssued, data.userId, code)
    await office.post.mailTo(data.email ?? '')
    expect(subjectsTo(data.email ?? '')).toEqual(['Your code to confirm your Robo Kids Learning account'])
    await settled(data.email ?? '', 2)
  })
})

describe('a mail about a subject', () => {
  it('has the one before it tried at once, and goes right after it, however long that was put off', async () => {
    const facts = member()
    await office.post.close()
    await arrive(
      then(subscriptionSwitched, facts.attemptId, { ...facts, previousPlan: 'yearly', from: '2026-11-28T00:00:00Z' }),
    )
    for (let tries = 1; tries <= 9; tries += 1) {
      await eventually(
        async () => ((await mailsTo(facts.email))[0]?.attempts ?? 0) >= tries && (await isIdle(facts.email)),
      )
      if (tries < 9) office.passTime({ hours: 8, seconds: 1 })
    }
    await office.post.open()
    await arrive(then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }))
    await office.post.mailTo(facts.email, 2)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
  })

  it('waits a day at most for one that something of its own keeps back', async () => {
    const facts = registration()
    const id = facts.registrationId
    office.shelf.failNext(1_000)
    await arrive(then(waiverSigned, id, signed(facts)))
    await ordered(facts.email, 1)
    await arrive(then(kitShipped, id, { ...facts, carrier: 'UPS', trackingNumber: '1Z 999' }))
    await ordered(facts.email, 2)
    const isTried = async () =>
      (await office.mailsOf(id)).some(({ attempts, lastError }) => attempts > 0 && lastError?.includes('503')) &&
      (await isIdle(facts.email))
    await eventually(isTried)
    const { asked } = office.shelf
    office.passTime({ hours: 23 })
    await eventually(() => office.shelf.asked > asked)
    await eventually(isTried)
    expect(subjectsTo(facts.email)).toEqual([])
    office.passTime({ hours: 2 })
    await office.post.mailTo(facts.email)
    expect(subjectsTo(facts.email)).toEqual(['On its way: your kit for Level 1 Foundations'])
    office.shelf.failNext(0)
    await settled(facts.email, 2)
    expect(office.post.to(facts.email)).toHaveLength(2)
  })

  it('does not wait for one to another address, or for one that was given up', async () => {
    const facts = member()
    const elsewhere = { ...facts, email: `moved.${facts.email}` }
    office.post.plan(facts.email, 'greylist', 'refuse')
    const event = (data: typeof facts) =>
      then(subscriptionSwitched, facts.attemptId, { ...data, previousPlan: 'yearly', from: '2026-11-28T00:00:00Z' })
    await arrive(event(facts))
    await eventually(async () => (await mailsTo(facts.email))[0]?.lastError)
    await arrive(then(subscriptionCancelled, facts.attemptId, { ...elsewhere, endsAt: later }))
    await office.post.mailTo(elsewhere.email)
    expect(await mailsTo(facts.email)).toMatchObject([{ status: 'pending' }])
    await arrive(then(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later }))
    await office.post.mailTo(facts.email)
    expect(await settled(facts.email, 2)).toEqual({ membership_switched: 'failed', membership_resumed: 'sent' })
  })

  it('that comes late is dropped where a later one was sent, and sent where it is still true', async () => {
    const facts = member()
    const cancelled = then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later })
    const renewal = {
      receiptNumber: 'RK-000008',
      paidAt: later,
      paidAmount: 700,
      periodEnd: later,
      paymentId: randomUUIDv7(),
    }
    const receipt = then(subscriptionRenewed, facts.attemptId, { ...facts, ...renewal, reason: 'renewal' })
    const resumed = then(subscriptionResumed, facts.attemptId, { ...facts, renewsAt: later })
    await arrive(resumed)
    await office.post.mailTo(facts.email)
    await arrive(cancelled, receipt)
    expect(await settled(facts.email, 3)).toEqual({
      membership_cancelled: 'dropped',
      membership_renewed: 'sent',
      membership_resumed: 'sent',
    })
  })

  it.each([
    [
      'has ended',
      (facts: ReturnType<typeof member>) =>
        then(subscriptionEnded, facts.attemptId, { ...facts, endedAt: later, reason: 'cancelled' }),
    ],
    [
      'is cancelled',
      (facts: ReturnType<typeof member>) => then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }),
    ],
  ] as const)('that is a receipt of a membership that %s is a receipt alone', async (_, end) => {
    const facts = member()
    const renewal = {
      receiptNumber: 'RK-000009',
      paidAt: later,
      paidAmount: 700,
      periodEnd: later,
      paymentId: randomUUIDv7(),
      reason: 'renewal' as const,
    }
    const receipt = then(subscriptionRenewed, facts.attemptId, { ...facts, ...renewal })
    await arrive(end(facts))
    await office.post.mailTo(facts.email)
    await arrive(receipt)
    const { parsed } = await office.post.mailTo(facts.email, 2)
    expect(parsed.subject).toBe('Receipt RK-000009: $7.00 for your membership')
    expect(parsed.text).toContain('a payment that we took before your membership was cancelled')
    expect(parsed.text).not.toMatch(/renewed|thank you for staying|paid until|profile page/i)
  })

  it('that welcomes a member who has cancelled already announces no next payment', async () => {
    const facts = member()
    await arrive(then(subscriptionCancelled, facts.attemptId, { ...facts, endsAt: later }))
    await office.post.mailTo(facts.email)
    await arrive(seated(facts))
    const { parsed } = await office.post.mailTo(facts.email, 2)
    expect(parsed.subject).toBe('You are a member of Robo Kids Learning')
    expect(parsed.text).toContain('You have cancelled this membership, so it is not renewed.')
    expect(parsed.text).not.toMatch(/next payment|cancel online|what you agreed to/i)
  })

  it('that tells of a parcel does not look forward to it where the order is refunded', async () => {
    const order = paidOrder()
    const shipped = order.shippedEvent()
    await arrive(order.refunded({ shipped: true }))
    await office.post.mailTo(order.email)
    await arrive(shipped)
    const { parsed } = await office.post.mailTo(order.email, 2)
    expect(parsed.subject).toBe('Shipped before your refund: Robot Spider')
    expect(parsed.text).toContain('We had handed your parcel over before that')
    expect(parsed.text).not.toContain('today')
  })

  it('that was dropped is sent by an administrator’s explicit wish, and keeps nothing waiting', async () => {
    const facts = member()
    const id = facts.attemptId
    await whileAway(facts.email, [
      then(subscriptionCancelled, id, { ...facts, endsAt: later }),
      then(subscriptionResumed, id, { ...facts, renewsAt: later }),
    ])
    const dropped = (await mailsTo(facts.email)).find(({ status }) => status === 'dropped')
    office.post.plan(facts.email, 'greylist')
    await office.resend(dropped?.mailId ?? '')
    await eventually(async () =>
      (await mailsTo(facts.email)).some(({ lastError }) => lastError?.includes('Greylisted')),
    )
    await arrive(then(subscriptionSwitched, id, { ...facts, previousPlan: 'yearly', from: later }))
    await office.post.mailTo(facts.email, 2)
    office.passTime({ seconds: 6 })
    await office.post.mailTo(facts.email, 3)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership goes on',
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
  })

  describe('of the version before', () => {
    function row<Kind extends keyof MailData>(kind: Kind, data: MailData[Kind], changes: Partial<MailRow> = {}) {
      const id = randomUUIDv7()
      const now = office.service.context.clock.now()
      const common = { recipient: `maren.${id}@example.com`, messageId: `<${id}>`, nextTryAt: now, createdAt: now }
      return { ...common, ...changes, id, fact: `${kind}:${id}`, kind, data }
    }

    it('has no subject, and goes out by itself', async () => {
      const facts = member()
      const { email: recipient } = facts
      await office.service.context.db
        .insert(mails)
        .values([
          row('membership_cancelled', { ...facts, endsAt: later }, { recipient }),
          row('membership_resumed', { ...facts, renewsAt: later }, { recipient }),
        ])
      office.service.wakeAll()
      await office.post.mailTo(recipient, 2)
      expect(office.post.to(recipient)).toHaveLength(2)
    })

    it('gets its place by the migration', async () => {
      const { db, clock } = office.service.context
      const [facts, seat, order, userId] = [registration(), member(), randomUUIDv7(), randomUUIDv7()]
      const { registrationId } = facts
      // Not to be sent while this looks at it.
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

  it('is in order where two processes share the work', async () => {
    const facts = member()
    const id = facts.attemptId
    office.post.plan(facts.email, 'hold')
    const switched = { ...facts, previousPlan: 'yearly' as const, from: '2026-11-28T00:00:00Z' }
    await arrive(then(subscriptionSwitched, id, switched))
    await office.post.mailTo(facts.email)
    const second = await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    const { clock } = second.context
    clock.advance(clock.now().until(office.service.context.clock.now()))
    await arrive(then(subscriptionCancelled, id, { ...facts, endsAt: later }))
    await ordered(facts.email, 2)
    second.wakeAll()
    // The work of others goes on meanwhile.
    const other = member()
    await arrive(then(subscriptionCancelled, other.attemptId, { ...other, endsAt: later }))
    await office.post.mailTo(other.email)
    expect(office.post.to(facts.email)).toHaveLength(1)
    office.post.release(facts.email)
    await settled(facts.email, 2)
    expect(subjectsTo(facts.email)).toEqual([
      'Your membership: $7.00 a month',
      'Your membership ends on Thursday, January 8, 2099',
    ])
    await second.stop()
  })
})

describe('of any sequence of events, in whatever order they arrive and for whichever the mail server is away', () => {
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
      cancelled: () => then(subscriptionCancelled, id, { ...facts, endsAt: later }),
      resumed: () => then(subscriptionResumed, id, { ...facts, renewsAt: later }),
      past_due: () =>
        then(subscriptionPastDue, id, { ...facts, invoiceId: 'in_1', amountDue: 700, attempt: 1, nextTryAt: later }),
      renewed: () =>
        then(subscriptionRenewed, id, {
          ...facts,
          paymentId: randomUUIDv7(),
          receiptNumber: 'RK-000008',
          paidAt: later,
          paidAmount: 700,
          reason: 'renewal',
          periodEnd: later,
        }),
      switched: () => then(subscriptionSwitched, id, { ...facts, previousPlan: 'yearly', from: later }),
      reminder: () => then(subscriptionReminder, id, { ...facts, renewsAt: later }),
      ended: () => then(subscriptionEnded, id, { ...facts, endedAt: later, reason: 'cancelled' }),
    }
    // Nothing follows an end.
    const end = kinds.indexOf('ended')
    const told = end === -1 ? kinds : kinds.slice(0, end + 1)
    return { email: facts.email, steps: told.map((kind) => ({ kind: `membership_${kind}`, event: make[kind]() })) }
  }

  const registrationSteps = ['waiver_signed', 'kit_shipped', 'part', 'rest'] as const
  function registrationStory(kinds: readonly (typeof registrationSteps)[number][]): Story {
    const facts = registration()
    const id = facts.registrationId
    const booked = confirmed(facts)
    const { paymentId } = booked.payment
    let total = 0
    const refund = (amount: number) => {
      total += amount
      const whole = total === booked.payment.amount
      return then(
        paymentRefunded,
        id,
        refunded(facts, { paymentId, reason: 'requested', amount, refundedTotal: total, whole }),
      )
    }
    const steps: Step[] = [{ kind: 'registration_confirmed', event: then(registrationConfirmed, id, booked) }]
    for (const kind of kinds) {
      if (total === booked.payment.amount) break
      if (kind === 'waiver_signed' || kind === 'kit_shipped') {
        if (steps.some((step) => step.kind === kind)) continue
        const event =
          kind === 'waiver_signed'
            ? then(waiverSigned, id, signed(facts))
            : then(kitShipped, id, { ...facts, carrier: 'UPS', trackingNumber: '1Z 999' })
        steps.push({ kind, event })
      } else {
        const left = booked.payment.amount - total
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

  /** By what each mail is not true any more, or not the latest. */
  const untrueAfter: Record<string, string[]> = {
    membership_cancelled: ['membership_cancelled', 'membership_resumed', 'membership_ended'],
    membership_resumed: ['membership_resumed', 'membership_cancelled', 'membership_ended'],
    membership_past_due: ['membership_past_due', 'membership_renewed', 'membership_cancelled', 'membership_ended'],
    membership_reminder: ['membership_renewed', 'membership_switched', 'membership_cancelled', 'membership_ended'],
    membership_switched: ['membership_switched', 'membership_cancelled', 'membership_ended'],
    registration_confirmed: ['end of registration'],
    waiver_signed: ['end of registration'],
    order_paid: ['order_refunded'],
  }
  const isUntrue = (step: Step, steps: Step[]) =>
    steps.some(
      (other) =>
        other.event.time > step.event.time &&
        untrueAfter[step.kind]?.includes(
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

  it('what waited goes out in order as far as it is still true, and each fact is told once at most', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyStory,
        // Where each stands in the order of arrival, and how many of them arrive before the server goes away.
        fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 8, maxLength: 8 }),
        fc.integer({ min: 0, max: 3 }),
        async (tell, places, before) => {
          const { email, steps } = tell()
          const arrival = steps
            .map((step, index) => ({ step, place: places[index] ?? 0 }))
            .toSorted((one, other) => one.place - other.place)
            .map(({ step }) => step)
          const early = arrival.slice(0, before)
          for (const { event } of early) {
            await arrive(event, event)
          }
          if (early.length > 0) await settled(email, early.length)
          const sentBefore = office.post.to(email).length
          await office.post.close()
          try {
            await arrive(...arrival.slice(before).map(({ event }) => event))
            await ordered(email, steps.length)
            await triedInVain(email)
          } finally {
            await office.post.open()
          }
          await settled(email, steps.length)
          const rows = await office.service.context.db.select().from(mails).where(eq(mails.recipient, email))
          const received = office.post.to(email).map(({ parsed }) => {
            const row = rows.find(({ messageId }) => messageId === parsed.messageId)
            if (!row?.happenedAt) throw new Error('A mail that nobody ordered.')
            return { kind: row.kind, fact: row.fact, at: row.happenedAt.epochMilliseconds }
          })
          expect(new Set(received.map(({ fact }) => fact)).size).toBe(received.length)
          expect(received).toHaveLength(rows.filter(({ status }) => status === 'sent').length)
          const waiting = received.slice(sentBefore).map(({ at }) => at)
          expect(waiting).toEqual(waiting.toSorted((one, other) => one - other))
          const statusOf = ({ event }: Step) =>
            rows.find(({ happenedAt }) => happenedAt?.epochMilliseconds === Date.parse(event.time))?.status
          for (const step of arrival.slice(before))
            expect(statusOf(step)).toBe(isUntrue(step, steps) ? 'dropped' : 'sent')
          for (const step of early) if (!isUntrue(step, early)) expect(statusOf(step)).toBe('sent')
        },
      ),
      { numRuns: 15 },
    )
  }, 180_000)
})

describe('a process that is killed while it sends', () => {
  it('leaves mails that go out in order, and none that is not true any more', async () => {
    const own = await openOffice()
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
      for (const { email } of [switched, cancelled]) own.post.plan(email, 'hang')
      const plan = { ...switched, previousPlan: 'yearly' as const, from: '2026-11-28T00:00:00Z' }
      await own.bed.bus.republish(then(subscriptionSwitched, switched.attemptId, plan))
      await own.bed.bus.republish(then(subscriptionCancelled, cancelled.attemptId, { ...cancelled, endsAt: later }))
      for (const { email } of [switched, cancelled]) await own.post.mailTo(email)
      await own.bed.bus.republish(then(subscriptionCancelled, switched.attemptId, { ...switched, endsAt: later }))
      await own.bed.bus.republish(then(subscriptionResumed, cancelled.attemptId, { ...cancelled, renewsAt: later }))
      child.kill('SIGKILL')
      const again = await own.bed.start(notifications, { ...own.env, DATABASE_URL: databaseUrl })
      await eventually(async () => (await again.context.db.$count(mails)) === 4)
      again.context.clock.advance({ minutes: 5, seconds: 1 })
      again.wakeAll()
      await own.post.mailTo(switched.email, 3)
      await own.post.mailTo(cancelled.email, 2)
      const subjects = (email: string) => own.post.to(email).map(({ parsed }) => parsed.subject)
      const [plain, end] = ['Your membership: $7.00 a month', 'Your membership ends on Thursday, January 8, 2099']
      expect(subjects(switched.email)).toEqual([plain, plain, end])
      expect(subjects(cancelled.email)).toEqual([end, 'Your membership goes on'])
    } finally {
      child.kill('SIGKILL')
      await own.close()
    }
  }, 60_000)
})

describe('refund.declined', () => {
  it('is told to the operator alone, with the payment and the command that gives it back', async () => {
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
    for (let n = 0; n < 2; n += 1) await office.bed.bus.publish(refundDeclined, paymentId, data)
    const mail = await eventually(() =>
      office.post.to('operator@robokidslearning.example').find(({ parsed }) => parsed.text?.includes(paymentId)),
    )
    expect(mail.parsed.subject).toBe('Refund failed: $400.00 is owed')
    expect(mail.parsed.text).toContain(`npm run admin -- refund --payment ${paymentId}`)
    expect(mail.parsed.text).toContain(`Registration ${data.registrationId}`)
  })
})
