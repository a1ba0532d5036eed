import { randomUUIDv7 } from 'node:crypto'
import { paymentRefunded, refundDeclined, refundFailed } from '@robokids/contracts/billing'
import {
  kitShipped,
  registrationAskedAgain,
  registrationConfirmed,
  registrationRejected,
  smallClassesFound,
  waiverSigned,
  type RegistrationFacts,
} from '@robokids/contracts/enrollment'
import { mailDelivered } from '@robokids/contracts/notifications'
import { waitlistEnded, waitlistJoined, waitlistOffered, type WaitlistFacts } from '@robokids/contracts/waitlist'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mails, rejections } from '../src/schema.ts'
import { calendarOf } from './calendar-of.ts'
import { confirmed, refunded, failedRefund, registration, signed } from './events.ts'
import { adminHeaders, startNotifications, siteUrl, waiverAt, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

const unusualNames = [
  '张伟',
  'Nguyễn Thị Ánh',
  'Αλέξης Παπάς',
  'עדי לוי',
  'محمد',
  '한글 이름',
  'Ivo 🤖',
  "D'Arcy & Jo <3",
  'Zoë Ångström-Łukasiewicz',
  'Ada "Bug" Lind; Jr., \\o/',
]

/** Removes the invisible isolates around right-to-left names. */
function withoutIsolates(text: string | undefined): string {
  return (text ?? '').replaceAll(/[\u2068\u2069]/g, '')
}

function htmlText(html: string | false | undefined): string {
  const text = (html || '').replaceAll(/<br>/g, '\n').replaceAll(/<[^>]*>/g, '')
  const named: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
  return text.replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => named[entity] ?? entity)
}

describe('registration.confirmed', () => {
  it('sends one mail with all booking details, the same in text and HTML', async () => {
    const facts = registration({
      children: [
        { childName: 'Ivo', childAge: 8 },
        { childName: 'Mia', childAge: 11 },
      ],
    })
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { parsed } = await fixture.smtp.mailTo(facts.email)

    expect(parsed.subject).toBe("You're registered: Ivo and Mia, Level 1 Foundations, Friday, January 8, 2027")
    expect(parsed.from?.value).toEqual([{ name: 'Robo Kids Learning', address: 'hello@robokidslearning.example' }])
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      for (const fact of [
        'Hello Maren Holt,',
        'Level 1 Foundations',
        'Friday, January 8, 2027',
        '4:00 PM Pacific Time',
        '60 minutes',
        'Ivo, age 8',
        'Mia, age 11',
        '$400.00',
        'Receipt 2026-000123',
        '12 Harbor Way',
        'Apt 4',
        'Cambridge, MA 02139',
        'read and sign the waiver',
      ]) {
        expect(part).toContain(fact)
      }
    }
    const link = `${siteUrl}/robokids/waiver?reference=${facts.registrationId}`
    expect(parsed.text).toContain(link)
    expect(parsed.html).toContain(`href="${link}"`)
  })

  it.each([
    ['basic', 'The green rover robot of Level 1'],
    ['intermediate', 'The blue robot arm of Level 2'],
    ['advanced', 'The violet walking robot of Level 3'],
    ['custom', 'The orange shape-shifting robot of Level X'],
  ] as const)('embeds the robot of a %s class and loads nothing remote', async (classType, alt) => {
    const facts = registration({ classType })
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)
    const html = parsed.html || ''
    expect([...html.matchAll(/ alt="([^"]*)"/g)].map(([, words]) => words)).toEqual(['', alt])
    const shown = [...html.matchAll(/ src="cid:([^"]*)"/g)].map(([, cid]) => cid)
    expect(html).not.toMatch(/url\(|@import|<link| src="(?!cid:)/)
    const pictures = parsed.attachments.filter(({ related }) => related)
    expect(pictures.map(({ cid }) => cid)).toEqual(shown)
    for (const { contentType, contentDisposition, content } of pictures) {
      expect([contentType, contentDisposition]).toEqual(['image/png', 'inline'])
      expect(content.subarray(1, 4).toString()).toBe('PNG')
      expect(content.length).toBeLessThan(30_000)
    }
    expect(files.map(({ filename }) => filename)).toEqual(['robo-kids-class.ics'])
  })

  it('attaches the class as a calendar entry in its own time zone', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { source, event, parsed } = calendarOf(await fixture.smtp.mailTo(facts.email))

    expect(event.start.toISOString()).toBe('2027-01-09T00:00:00.000Z')
    expect(event.end?.toISOString()).toBe('2027-01-09T01:00:00.000Z')
    expect(event.summary).toBe('Robo Kids Learning: Level 1 Foundations (Ivo)')
    expect(event.status).toBe('CONFIRMED')
    expect(Number(event.sequence)).toBe(0)
    expect(source).toContain('SEQUENCE:0\r\n')
    expect(parsed.vcalendar?.method).toBe('PUBLISH')
    expect(source.match(/BEGIN:VTIMEZONE/g)).toHaveLength(1)
    expect(source).toContain('DTSTART;TZID=America/Los_Angeles:20270108T160000')
  })

  it('states the method of the calendar file in its content type', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { files } = await fixture.smtp.mailTo(facts.email)
    const file = files.find(({ filename }) => filename === 'robo-kids-class.ics')
    expect(file?.headers.get('content-type')).toMatchObject({
      value: 'text/calendar',
      params: { charset: 'utf-8', method: 'PUBLISH' },
    })
  })

  it.each(unusualNames)('keeps the name %s unchanged in subject, text, HTML, calendar and recipient', async (name) => {
    const facts = registration({ guardianName: name, children: [{ childName: name, childAge: 8 }] })
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const mail = await fixture.smtp.mailTo(facts.email)
    const { parsed, raw } = mail

    expect(withoutIsolates(parsed.subject)).toBe(
      `You're registered: ${name}, Level 1 Foundations, Friday, January 8, 2027`,
    )
    expect(withoutIsolates(parsed.text)).toContain(`Hello ${name},`)
    expect(withoutIsolates(parsed.text)).toContain(`${name}, age 8`)
    expect(htmlText(parsed.html)).toContain(`Hello ${name},`)
    expect(htmlText(parsed.html)).toContain(`${name}, age 8`)
    expect(parsed.html).not.toMatch(/&#39;|&amp;(?:amp|lt|gt|quot);/)
    expect(parsed.subject).not.toMatch(/&\w+;/)
    expect(parsed.text).not.toMatch(/&\w+;/)
    expect(calendarOf(mail).event.summary).toBe(`Robo Kids Learning: Level 1 Foundations (${name})`)
    const to = Array.isArray(parsed.to) ? parsed.to[0] : parsed.to
    expect(to?.value).toEqual([{ name, address: facts.email }])

    const headers = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(headers).toMatch(/^[\t\r\n\x20-\x7e]*$/)
  })

  it('isolates right-to-left names from the sentence around them', async () => {
    const facts = registration({ children: [{ childName: 'עדי לוי', childAge: 8 }] })
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toContain('\u2068עדי לוי\u2069')
    expect(parsed.text).toContain('\u2068עדי לוי\u2069, age 8')
    expect(parsed.html).toContain('<bdi>עדי לוי</bdi>, age 8')
  })

  it.each([
    ['wide', '玛丽亚'.repeat(33)],
    ['accented', 'é'.repeat(100)],
    ['astral', '🤖'.repeat(100)],
    ['unbroken', 'x'.repeat(100)],
  ])('keeps the line length limits of mail and calendar for ten %s names of maximum length', async (_kind, name) => {
    const children = Array.from({ length: 10 }, (_, index) => ({ childName: name, childAge: 6 + index }))
    const facts = registration({ guardianName: name, children })
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const mail = await fixture.smtp.mailTo(facts.email)

    const lines = mail.raw.split('\r\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998)
    expect(mail.raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    for (const word of mail.raw.match(/=\?[^?]+\?[BQ]\?[^?]*\?=/gi) ?? []) expect(word.length).toBeLessThanOrEqual(75)
    const { source, event } = calendarOf(mail)
    for (const line of source.split('\r\n')) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
      expect(line.isWellFormed()).toBe(true)
    }
    expect(source.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(event.summary).toBe(`Robo Kids Learning: Level 1 Foundations (${Array(10).fill(name).join(', ')})`)
    expect(`${mail.parsed.subject}${mail.parsed.text}${mail.parsed.html}${source}`).not.toContain('\ufffd')
    expect(mail.parsed.subject).toContain(`${name}, ${name} and 8 more`)
  })

  it('sends one mail, however often the event and the fact are published', async () => {
    const facts = registration()
    const data = confirmed(facts)
    const event = await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, data)
    await fixture.bed.bus.republish(event)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, data)
    await fixture.bed.bus.republish(event)
    // Published after the duplicates: when its mail arrives, they have been handled.
    const last = registration()
    await fixture.bed.bus.publish(registrationConfirmed, last.registrationId, confirmed(last))
    await fixture.smtp.mailTo(last.email)

    const [mail, ...more] = await eventually(async () => {
      const all = await fixture.mailsOf(facts.registrationId)
      return all[0]?.status === 'sent' ? all : undefined
    })
    expect(more).toEqual([])
    expect(mail).toMatchObject({ fact: `registration_confirmed:${facts.registrationId}`, attempts: 1, lastError: null })
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
    await fixture.bed.bus.seen(mailDelivered, ({ mailId }) => mailId === mail?.mailId)
    expect(fixture.bed.bus.all(mailDelivered, ({ mailId }) => mailId === mail?.mailId)).toHaveLength(1)
  })

  it('adds no header or recipient for line breaks in a name or an address', async () => {
    const named = registration({ guardianName: 'Maren\r\nBcc: spy@example.net' })
    const spied = registration({ children: [{ childName: 'Ivo\r\nBcc: spy@example.net\r\n', childAge: 8 }] })
    const addressed = registration({ email: `maren.${randomUUIDv7()}@example.com\r\nRCPT TO:<spy@example.net>` })
    for (const facts of [addressed, named, spied]) {
      await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    }
    for (const { email } of [named, spied]) {
      const { raw, envelope } = await fixture.smtp.mailTo(email)
      const headers = raw.slice(0, raw.indexOf('\r\n\r\n'))
      expect(headers).not.toMatch(/^bcc:/im)
      expect(headers.match(/^subject:/gim)).toHaveLength(1)
      expect(envelope.to).toEqual([email])
    }
    await eventually(async () => ((await fixture.mailsOf(addressed.registrationId))[0]?.attempts ?? 0) > 0)
    expect(fixture.smtp.all().filter(({ envelope }) => envelope.to.some((to) => /spy/.test(to)))).toEqual([])
  })
})

describe('waiver.signed', () => {
  it('sends a mail with the unchanged signed PDF', async () => {
    const facts = registration({ familyTimeZone: 'America/New_York' })
    const data = signed(facts)
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, data)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)

    expect(parsed.subject).toBe('Your signed waiver: Ivo, Level 1 Foundations')
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain('Friday, November 27, 2026 at 7:15 PM Pacific')
      expect(part).toContain('Friday, November 27, 2026 at 10:15 PM your time (Eastern Time)')
      expect(part).toContain('Friday, January 8, 2027')
      expect(part).toContain('Cambridge, MA 02139')
    }
    const [file] = files
    expect(file).toMatchObject({ filename: 'signed-waiver.pdf', contentType: 'application/pdf' })
    expect(file?.content.equals(waiverAt(data.signedPdfPath))).toBe(true)
  })

  it.each(unusualNames)('keeps the name %s unchanged', async (name) => {
    const facts = registration({ guardianName: name, children: [{ childName: name, childAge: 8 }] })
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, signed(facts))
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(withoutIsolates(parsed.subject)).toBe(`Your signed waiver: ${name}, Level 1 Foundations`)
    expect(withoutIsolates(parsed.text)).toContain(`Hello ${name},`)
    expect(htmlText(parsed.html)).toContain(`Hello ${name},`)
  })
})

describe('kit.shipped', () => {
  const shipment = { carrier: 'UPS', trackingNumber: '1Z 999 AA1' }

  it('sends one mail with carrier, tracking number and address', async () => {
    const facts = registration()
    for (let n = 0; n < 2; n += 1) {
      await fixture.bed.bus.publish(kitShipped, facts.registrationId, { ...facts, ...shipment })
    }
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('On its way: your kit for Level 1 Foundations')
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      for (const fact of ['UPS', '1Z 999 AA1', '12 Harbor Way', 'We’ll email you the class link']) {
        expect(part).toContain(fact)
      }
    }
    await eventually(async () => (await fixture.mailsOf(facts.registrationId))[0]?.status === 'sent')
    expect(await fixture.mailsOf(facts.registrationId)).toMatchObject([
      { kind: 'kit_shipped', fact: `kit_shipped:${facts.registrationId}` },
    ])
  })

  it('announces no class if the registration is cancelled, whichever event arrives first', async () => {
    const [shippedFirst, refundedFirst] = [registration(), registration()]
    const refund = (facts: typeof shippedFirst) => refunded(facts, { reason: 'requested', whole: true })
    const ship = (facts: typeof shippedFirst) =>
      fixture.bed.bus.publish(kitShipped, facts.registrationId, { ...facts, ...shipment })
    await ship(shippedFirst)
    await fixture.smtp.mailTo(shippedFirst.email)
    await fixture.bed.bus.publish(paymentRefunded, shippedFirst.registrationId, refund(shippedFirst))
    await fixture.bed.bus.publish(paymentRefunded, refundedFirst.registrationId, refund(refundedFirst))
    await fixture.smtp.mailTo(refundedFirst.email)
    await ship(refundedFirst)
    for (const { email } of [shippedFirst, refundedFirst]) {
      const { parsed } = await fixture.smtp.mailTo(email, 2)
      expect(parsed.text).toMatch(/registration is canceled/)
      expect(parsed.text).toContain('Your kit is already on its way to you.')
      expect(parsed.text).not.toContain('class link')
    }
  })
})

describe('a confirmation that arrives after the waiver was signed', () => {
  it('does not ask for the waiver again', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(waiverSigned, facts.registrationId, signed(facts))
    await fixture.smtp.mailTo(facts.email)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const { parsed } = await fixture.smtp.mailTo(facts.email, 2)
    expect(parsed.subject).toContain("You're registered")
    expect(parsed.text).not.toContain('/robokids/waiver')
  })
})

describe('payment.refunded', () => {
  it.each([
    ['class_full', 'by the time it arrived, the class was full'],
    ['class_started', 'by the time it arrived, the class had already started'],
    ['registration_cancelled', 'by the time it arrived, the registration had been canceled'],
  ] as const)('explains to a parent why there is no seat: %s', async (reason, words) => {
    const facts = registration()
    const { payment } = confirmed(facts)
    await fixture.bed.bus.publish(registrationRejected, facts.registrationId, { ...facts, payment, reason })
    const { db } = fixture.service.context
    await eventually(() => db.$count(rejections, eq(rejections.paymentId, payment.paymentId)))
    const data = refunded(facts, { paymentId: payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe('Refund of $400.00: Level 1 Foundations, Friday, January 8, 2027')
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain(words)
      expect(part).toContain('We refunded $400.00 to the card you paid with.')
    }
    expect(files).toEqual([])
  })

  it('explains a lost seat even if the reason is unknown', async () => {
    const facts = registration()
    const data = refunded(facts)
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain('by the time it arrived, there were no seats left')
  })

  it.each([
    ['duplicate', {}, 'We refunded a second payment of $400.00', 'Only one was due'],
    ['amount_mismatch', {}, 'We refunded your payment of $400.00', 'didn’t match the price of the class'],
    [
      'requested',
      { amount: 5_000, refundedTotal: 5_000 },
      'We refunded $50.00 of $400.00',
      'Your registration stays the same.',
    ],
  ] as const)('explains a refund for the reason %s', async (reason, changes, heading, words) => {
    const facts = registration()
    const data = refunded(facts, { reason, ...changes })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain(heading)
      expect(part).toContain(words)
    }
    expect(files).toEqual([])
  })

  it('cancels the calendar entry after a requested full refund', async () => {
    const facts = registration()
    const confirmation = confirmed(facts)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmation)
    const before = calendarOf(await fixture.smtp.mailTo(facts.email))
    const data = refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const mail = await fixture.smtp.mailTo(facts.email, 2)
    const after = calendarOf(mail)
    expect(mail.parsed.text).toContain('This registration is canceled')
    expect(after.event.uid).toBe(before.event.uid)
    expect(Number(after.event.sequence)).toBe(Number(before.event.sequence) + 1)
    expect(after.event.status).toBe('CANCELLED')
    expect(after.parsed.vcalendar?.method).toBe('CANCEL')
    expect(after.event.start.toISOString()).toBe(before.event.start.toISOString())
  })

  it('drops a confirmation that arrives after a full refund', async () => {
    const facts = registration()
    const confirmation = confirmed(facts)
    const data = refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    await fixture.smtp.mailTo(facts.email)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmation)
    const kept = await eventually(async () =>
      (await fixture.mailsOf(facts.registrationId)).find(({ status }) => status === 'dropped'),
    )
    expect(kept).toMatchObject({ kind: 'registration_confirmed', lastError: expect.stringContaining('canceled') })
    expect(fixture.smtp.to(facts.email)).toHaveLength(1)
  })

  it('reports a refund that failed at the bank once, and announces no success for the next attempt', async () => {
    const facts = registration()
    const first = refunded(facts, { reason: 'requested' })
    await fixture.bed.bus.publish(paymentRefunded, first.refundId, first)
    await fixture.smtp.mailTo(facts.email)
    for (let n = 0; n < 2; n += 1) await fixture.bed.bus.publish(refundFailed, first.refundId, failedRefund(first))
    const failed = await fixture.smtp.mailTo(facts.email, 2)
    expect(failed.parsed.subject).toBe(
      'Your refund of $400.00 did not go through: Level 1 Foundations, Friday, January 8, 2027',
    )
    for (const part of [failed.parsed.text ?? '', htmlText(failed.parsed.html)])
      expect(part).toContain('We still owe you this money.')

    const next = refunded(facts, { reason: 'requested', paymentId: first.paymentId, again: true })
    await fixture.bed.bus.publish(paymentRefunded, next.refundId, next)
    const again = await fixture.smtp.mailTo(facts.email, 3)
    expect(again.parsed.subject).toBe('We sent your refund again: Level 1 Foundations, Friday, January 8, 2027')
    for (const part of [again.parsed.text ?? '', htmlText(again.parsed.html)]) {
      expect(part).toContain('we’ve sent $400.00 to your card again.')
      expect(part).not.toMatch(/we refunded|canceled/i)
    }
    expect(again.files).toEqual([])
    expect(fixture.smtp.to(facts.email)).toHaveLength(3)
  })

  it('announces the end of the registration also when it replaces a failed refund', async () => {
    const facts = registration()
    const data = refunded(facts, { reason: 'requested', amount: 30_000, again: true, whole: true })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const mail = await fixture.smtp.mailTo(facts.email)
    expect(mail.parsed.subject).toBe('We sent your refund again: Level 1 Foundations, Friday, January 8, 2027')
    for (const part of [mail.parsed.text ?? '', htmlText(mail.parsed.html)]) {
      expect(part).toContain('we’ve sent $300.00 to your card again.')
      expect(part).toContain('This registration is canceled')
      expect(part).toMatch(/Total refunded:?\s+\$400.00/)
    }
    expect(calendarOf(mail).event.status).toBe('CANCELLED')
  })

  it('relies on `whole`, not on the sums', async () => {
    const facts = registration()
    const data = refunded(facts, { reason: 'requested', amount: 10_000, whole: false })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { parsed, files } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.text).toContain('Your registration stays the same.')
    expect(files).toEqual([])
  })

  it.each([
    [['Ivo'], 'Your child was registered twice for this class', 'seat_gone'],
    [['Ivo', 'Mia'], 'Your children were registered twice for this class', 'duplicate'],
  ] as const)('explains that %j were registered twice', async (names, words, reason) => {
    const facts = registration({ children: names.map((childName) => ({ childName, childAge: 8 })) })
    const { payment } = confirmed(facts)
    const duplicateOf = randomUUIDv7()
    const rejected = { ...facts, payment, reason: 'registration_cancelled' as const, duplicateOf }
    await fixture.bed.bus.publish(registrationRejected, facts.registrationId, rejected)
    const { db } = fixture.service.context
    await eventually(() => db.$count(rejections, eq(rejections.paymentId, payment.paymentId)))
    const data = refunded(facts, { paymentId: payment.paymentId, reason })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain('We refunded a second payment of $400.00')
      expect(part).toContain(words)
      expect(part).toContain('One of them stays valid, and we’re returning the other payment.')
      expect(part).not.toContain('couldn’t confirm')
    }
  })

  it.each([
    ['seat_gone', undefined, 'by the time it arrived, the class was full, so we couldn’t confirm', '/robokidslanding'],
    ['seat_gone', 'another', 'One of them stays valid, and you owe only one of the payments.', 'the one that stands'],
    ['duplicate', undefined, 'You owe only one of them.', 'its own'],
    ['amount_mismatch', undefined, 'didn’t match the price of the class, so we couldn’t accept it', 'its own'],
  ] as const)(
    'explains why a payment was not kept (%s, %s) if its refund failed before any mail about it',
    async (reason, other, words, leads) => {
      const facts = registration()
      const { payment } = confirmed(facts)
      const duplicateOf = randomUUIDv7()
      const { db } = fixture.service.context
      if (reason === 'seat_gone') {
        const why = other
          ? { reason: 'registration_cancelled' as const, duplicateOf }
          : { reason: 'class_full' as const }
        await fixture.bed.bus.publish(registrationRejected, facts.registrationId, { ...facts, payment, ...why })
        await eventually(() => db.$count(rejections, eq(rejections.paymentId, payment.paymentId)))
      }
      const refund = refunded(facts, { paymentId: payment.paymentId, reason })
      const failed = { ...failedRefund(refund), paidAmount: 40_000, untold: true }
      for (let n = 0; n < 2; n += 1) await fixture.bed.bus.publish(refundFailed, failed.refundId, failed)
      const { parsed } = await fixture.smtp.mailTo(facts.email)
      const link = { 'the one that stands': duplicateOf, 'its own': facts.registrationId, '/robokidslanding': leads }
      for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
        expect(part).toContain('We owe you $400.00')
        expect(part).toContain(words)
        expect(part).toContain(
          'We tried to refund $400.00 to the card you paid with, but the refund did not go through.',
        )
        expect(part).toContain('We still owe you this money.')
        expect(part).not.toMatch(/we told you|canceled/i)
      }
      expect(parsed.text).toContain(link[leads])

      const back = refunded(facts, { paymentId: payment.paymentId, reason, whole: true })
      await fixture.bed.bus.publish(paymentRefunded, back.refundId, back)
      const second = await fixture.smtp.mailTo(facts.email, 2)
      expect(second.parsed.text).toContain('We refunded $400.00 to the card you paid with.')
      expect(fixture.smtp.to(facts.email)).toHaveLength(2)
    },
  )

  it('explains why a disputed payment was not kept, and announces its later refund', async () => {
    const facts = registration()
    const { payment } = confirmed(facts)
    const duplicateOf = randomUUIDv7()
    const why = { reason: 'registration_cancelled' as const, duplicateOf }
    await fixture.bed.bus.publish(registrationRejected, facts.registrationId, { ...facts, payment, ...why })
    const { db } = fixture.service.context
    await eventually(() => db.$count(rejections, eq(rejections.paymentId, payment.paymentId)))
    const refund = refunded(facts, { paymentId: payment.paymentId, reason: 'duplicate' })
    const failed = { ...failedRefund(refund), paidAmount: 40_000, untold: true, disputed: true }
    for (let n = 0; n < 2; n += 1) await fixture.bed.bus.publish(refundFailed, failed.refundId, failed)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toMatch(/^We couldn’t accept your payment of \$400\.00: /)
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain('One of them stays valid, and you owe only one of the payments.')
      expect(part).toContain('We can’t refund it until your bank decides.')
      expect(part).not.toMatch(/we owe you|did not go through|another way|we told you/i)
    }
    const back = refunded(facts, { paymentId: payment.paymentId, reason: 'duplicate', whole: true })
    await fixture.bed.bus.publish(paymentRefunded, back.refundId, back)
    await fixture.smtp.mailTo(facts.email, 2)
    expect(fixture.smtp.to(facts.email)).toHaveLength(2)
  })

  it('reports a failed refund to the operator, with the command to retry it', async () => {
    const facts = registration()
    const failed = failedRefund(refunded(facts, { reason: 'requested' }))
    await fixture.bed.bus.publish(refundFailed, failed.refundId, failed)
    await fixture.smtp.mailTo(facts.email)
    const mail = await eventually(() =>
      fixture.smtp.to('operator@robokidslearning.example').find(({ raw }) => raw.includes(failed.paymentId)),
    )
    expect(mail.parsed.subject).toBe('Refund failed: $400.00 is owed')
    expect(mail.parsed.text).toContain(`npm run admin -- refund --payment ${failed.paymentId}`)
    expect(mail.parsed.text).toContain(`Registration ${facts.registrationId}`)
  })

  it('does not notify the operator of a declined refund that is retried', async () => {
    const operator = 'operator@robokidslearning.example'
    const declined = (facts: RegistrationFacts) => ({
      refundId: randomUUIDv7(),
      paymentId: randomUUIDv7(),
      registrationId: facts.registrationId,
      orderId: null,
      membershipId: null,
      amount: 40_000,
      currency: 'usd' as const,
      reason: 'seat_gone' as const,
      underWayTotal: 10_000,
      paidAmount: 40_000,
    })
    const [retried, given] = [{ ...declined(registration()), retried: true }, declined(registration())]
    for (const data of [retried, given]) await fixture.bed.bus.publish(refundDeclined, data.registrationId, data)
    const about = ({ paymentId }: { paymentId: string }) =>
      fixture.smtp.to(operator).some(({ raw }) => raw.includes(paymentId))
    await eventually(() => about(given))
    expect(about(retried)).toBe(false)
  })

  it('sends one mail per refund of a payment', async () => {
    const facts = registration()
    const first = refunded(facts, { reason: 'requested', amount: 10_000, refundedTotal: 10_000 })
    const second = refunded(facts, { ...first, refundId: randomUUIDv7(), amount: 30_000, refundedTotal: 40_000 })
    for (const data of [first, second, first, second]) {
      await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    }
    await fixture.smtp.mailTo(facts.email, 2)
    const last = registration()
    const marker = refunded(last)
    await fixture.bed.bus.publish(paymentRefunded, marker.refundId, marker)
    await fixture.smtp.mailTo(last.email)
    expect(await fixture.mailsOf(facts.registrationId)).toHaveLength(2)
    expect(fixture.smtp.to(facts.email)).toHaveLength(2)
  })
})

describe('a calendar entry', () => {
  const entriesOf = async (facts: RegistrationFacts) => {
    const confirmation = confirmed(facts)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmation)
    const published = calendarOf(await fixture.smtp.mailTo(facts.email))
    const data = refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    return [published, calendarOf(await fixture.smtp.mailTo(facts.email, 2))]
  }

  it('contains no reference, no link and no address of the family', async () => {
    const facts = registration()
    for (const { source } of await entriesOf(facts)) {
      const unfolded = source.replaceAll('\r\n ', '')
      expect(unfolded).not.toContain(facts.registrationId)
      expect(unfolded).not.toMatch(/https?:|reference/i)
      expect(unfolded).not.toContain(facts.email)
    }
  })

  it('can be downloaded as mailed, from the confirmation until the registration is cancelled', async () => {
    const facts = registration()
    const confirmation = confirmed(facts)
    const read = () => fetch(`${fixture.service.url}/registrations/${facts.registrationId}/calendar.ics`)
    expect((await read()).status).toBe(404)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmation)
    const { source } = calendarOf(await fixture.smtp.mailTo(facts.email))
    const answer = await read()
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8; method=PUBLISH')
    expect(await answer.text()).toBe(source)
    const data = refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    await fixture.smtp.mailTo(facts.email, 2)
    expect(await (await read()).json()).toMatchObject({ code: 'registration_not_found' })
  })

  it('keeps the UID from the previous version, so that a later one replaces it', async () => {
    const facts = registration()
    const confirmation = confirmed(facts)
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmation)
    await fixture.smtp.mailTo(facts.email)
    const { db } = fixture.service.context
    await db
      .update(mails)
      .set({ calendarId: null })
      .where(eq(mails.fact, `registration_confirmed:${facts.registrationId}`))
    const data = refunded(facts, { reason: 'requested', paymentId: confirmation.payment.paymentId })
    await fixture.bed.bus.publish(paymentRefunded, data.refundId, data)
    const { event } = calendarOf(await fixture.smtp.mailTo(facts.email, 2))
    expect(event.uid).toBe(`registration-${facts.registrationId}@robokidslearning`)
  })
})

describe('registration.asked_again', () => {
  const publish = (facts: RegistrationFacts, askedFor: 'seat' | 'waiver', isSigned = false, time?: string) =>
    fixture.bed.bus.republish({
      ...newEvent(registrationAskedAgain, facts.registrationId, { ...facts, askedFor, isSigned }),
      ...(time === undefined ? {} : { time }),
    })

  it.each([
    [
      'seat',
      false,
      'You’re already registered: Ivo, Level 1 Foundations, Friday, January 8, 2027',
      'we’ll refund the second payment automatically',
      '/robokids/success?reference=',
    ],
    [
      'waiver',
      false,
      'Your link to the waiver: Ivo, Level 1 Foundations, Friday, January 8, 2027',
      'Nothing was signed.',
      '/robokids/waiver?reference=',
    ],
    [
      'waiver',
      true,
      'Your waiver is already signed: Ivo, Level 1 Foundations, Friday, January 8, 2027',
      'If it was you, you’re all set.',
      undefined,
    ],
  ] as const)('for a %s (signed: %s) tells the family what it has and what to do', async (...kind) => {
    const [askedFor, isSigned, subject, words, path] = kind
    const facts = registration()
    await publish(facts, askedFor, isSigned)
    const { parsed } = await fixture.smtp.mailTo(facts.email)
    expect(parsed.subject).toBe(subject)
    for (const part of [parsed.text ?? '', htmlText(parsed.html)]) {
      expect(part).toContain('Hello Maren Holt,')
      expect(part).toContain('from a browser we don’t recognize')
      expect(part).toContain(words)
      expect(part).toContain('If it wasn’t you')
      expect(part).toContain('Ivo, age 8')
    }
    const links = (parsed.text ?? '').match(/https?:\S+/g) ?? []
    expect(links).toEqual(path === undefined ? [] : [`${siteUrl}${path}${facts.registrationId}`])
  })

  it('sends at most one mail a day, however often someone else asks', async () => {
    const facts = registration()
    const times = ['2027-01-02T08:00:00.000Z', '2027-01-02T20:00:00.000Z', '2027-01-03T07:59:00.000Z']
    // In California the last one is on the next day.
    for (const time of [...times, '2027-01-03T08:01:00.000Z']) await publish(facts, 'seat', false, time)
    await fixture.smtp.mailTo(facts.email, 2)
    await publish(facts, 'waiver', false, times[0])
    await fixture.smtp.mailTo(facts.email, 3)
    expect((await fixture.mailsOf(facts.registrationId)).map(({ kind }) => kind)).toEqual(
      Array.from({ length: 3 }, () => 'registration_asked_again'),
    )
  })
})

describe('the waitlist', () => {
  const waiting = (changes: Partial<WaitlistFacts> = {}): WaitlistFacts => {
    const { registrationId: entryId, address: _, ...facts } = registration()
    return { ...facts, entryId, familyTimeZone: 'America/New_York', ...changes }
  }
  const two = [
    { childName: 'Ivo', childAge: 8 },
    { childName: 'Mia', childAge: 11 },
  ]
  const offerEndsAt = '2099-01-20T19:00:00.000Z'

  it('mails a family its place, what waiting means and the way out, once', async () => {
    const facts = waiting({ children: two })
    const event = await fixture.bed.bus.publish(waitlistJoined, facts.entryId, {
      ...facts,
      place: 3,
      familiesWaiting: 7,
    })
    await fixture.bed.bus.republish(event)
    const { parsed: mail } = await fixture.smtp.mailTo(facts.email)
    expect(withoutIsolates(mail.subject)).toBe(
      'You’re in line: Ivo and Mia, Level 1 Foundations, Friday, January 8, 2027',
    )
    expect(mail.text).toContain('You are 3rd of 7 families')
    expect(mail.text).toContain('You wait for 2 seats together. We offer seats in order.')
    expect(mail.text).toContain(`${siteUrl}/waitlist?reference=${facts.entryId}`)
    await eventually(async () => (await fixture.mailsToAddress(facts.email)).every(({ status }) => status === 'sent'))
    expect(await fixture.mailsToAddress(facts.email)).toHaveLength(1)
  })

  it('mails an offer with its end in Pacific and the family’s time, and a link to a page', async () => {
    const facts = waiting({ children: two })
    const event = await fixture.bed.bus.publish(waitlistOffered, facts.entryId, { ...facts, offerEndsAt })
    await fixture.bed.bus.republish(event)
    const { parsed: mail } = await fixture.smtp.mailTo(facts.email)
    expect(withoutIsolates(mail.subject)).toBe(
      '2 seats are yours: Ivo and Mia, Level 1 Foundations, Friday, January 8, 2027',
    )
    expect(mail.text).toContain('Tuesday, January 20, 2099 at 11:00 AM Pacific')
    expect(mail.text).toContain('Tuesday, January 20, 2099 at 2:00 PM your time (Eastern Time)')
    expect(mail.text).toContain(`${siteUrl}/waitlist?offer=${facts.entryId}`)
    expect(await fixture.mailsToAddress(facts.email)).toHaveLength(1)
  })

  it.each([
    ['expired', 'The offer ended: Ivo,', 'The offer ended on Tuesday. The seats went to the next family.'],
    ['class_cancelled', 'Class canceled: Ivo,', 'This class was canceled, so the line is closed.'],
    ['class_started', 'No seat became free: Ivo,', 'This class has begun, so the line is closed.'],
  ] as const)('mails once that it ended: %s', async (outcome, subject, words) => {
    const facts = waiting()
    const event = await fixture.bed.bus.publish(waitlistEnded, facts.entryId, { ...facts, outcome, offerEndsAt })
    await fixture.bed.bus.republish(event)
    const { parsed: mail } = await fixture.smtp.mailTo(facts.email)
    expect(withoutIsolates(mail.subject)).toContain(subject)
    expect(mail.text).toContain(words)
    expect(await fixture.mailsToAddress(facts.email)).toHaveLength(1)
  })

  it.each(['accepted', 'declined', 'left', 'registered'] as const)(
    'mails nothing about what the family did itself (%s), and no offer that comes after it',
    async (outcome) => {
      const facts = waiting()
      await fixture.bed.bus.publish(waitlistEnded, facts.entryId, { ...facts, outcome, offerEndsAt })
      await eventually(async () =>
        (await fixture.mailsToAddress(facts.email)).some(({ status }) => status === 'dropped'),
      )
      await fixture.bed.bus.publish(waitlistOffered, facts.entryId, { ...facts, offerEndsAt })
      await eventually(async () => {
        const known = await fixture.mailsToAddress(facts.email)
        return known.length === 2 && known.every(({ status }) => status === 'dropped')
      })
    },
  )

  it('mails no offer that has ended', async () => {
    const facts = waiting()
    await fixture.bed.bus.publish(waitlistOffered, facts.entryId, { ...facts, offerEndsAt: '2026-01-01T00:00:00.000Z' })
    await eventually(async () => (await fixture.mailsToAddress(facts.email)).some(({ status }) => status === 'dropped'))
  })
})

describe('two families in one class', () => {
  it('have separate calendar entries', async () => {
    const one = registration()
    const other = registration({ classSessionId: one.classSessionId })
    for (const facts of [one, other]) {
      await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    }
    const [first, second] = [
      calendarOf(await fixture.smtp.mailTo(one.email)),
      calendarOf(await fixture.smtp.mailTo(other.email)),
    ]
    expect(first.event.uid).not.toBe(second.event.uid)
  })
})

describe('POST /mails/:id/resend', () => {
  it('sends the same text and calendar entry under a new Message-ID', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const first = await fixture.smtp.mailTo(facts.email)
    const mail = await eventually(async () =>
      (await fixture.mailsOf(facts.registrationId)).find(({ status }) => status === 'sent'),
    )
    await fixture.resend(mail.mailId)
    const second = await fixture.smtp.mailTo(facts.email, 2)
    expect(second.parsed.text).toBe(first.parsed.text)
    expect(second.parsed.html).toBe(first.parsed.html)
    expect(second.parsed.messageId).not.toBe(first.parsed.messageId)
    expect(calendarOf(second).source).toBe(calendarOf(first).source)
  })

  it('answers 404 not_found for an unknown mail', async () => {
    const url = `${fixture.service.url}/mails/${randomUUIDv7()}/resend`
    const answer = await fetch(url, { method: 'POST', headers: adminHeaders })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'not_found' })
  })

  it('answers 401 admin_secret_invalid without the admin secret, and sends nothing', async () => {
    const facts = registration()
    await fixture.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    const mail = await eventually(async () =>
      (await fixture.mailsOf(facts.registrationId)).find(({ status }) => status === 'sent'),
    )
    const answer = await fetch(`${fixture.service.url}/mails/${mail.mailId}/resend`, { method: 'POST' })
    expect(answer.status).toBe(401)
    expect((await fixture.mailsOf(facts.registrationId))[0]).toEqual(mail)
  })
})

describe('small_classes.found', () => {
  it('sends the operator one mail per class day, however often the event is delivered', async () => {
    const one = {
      classSessionId: randomUUIDv7(),
      classType: 'basic' as const,
      title: 'Level 1 Foundations',
      startTime: '16:00',
      timeZone: 'America/Los_Angeles',
      paid: 3,
      held: 1,
      capacity: 10,
    }
    const other = { ...one, classType: 'membership' as const, title: 'Members’ session', paid: 0, held: 0 }
    const event = newEvent(smallClassesFound, '2027-01-08', { classDate: '2027-01-08', classes: [one, other] })
    const lonely = newEvent(smallClassesFound, '2027-01-09', { classDate: '2027-01-09', classes: [one] })
    for (const each of [event, event, lonely]) await fixture.bed.bus.republish(each)
    const toOperator = () =>
      fixture.smtp
        .to('operator@robokidslearning.example')
        .filter(({ parsed }) => /small class/.test(parsed.subject ?? ''))
    const received = await eventually(() => toOperator().length >= 2 && toOperator())
    expect(received.map(({ parsed }) => parsed.subject ?? '').toSorted()).toEqual([
      '2 small classes on Friday, January 8, 2027',
      'A small class on Saturday, January 9, 2027',
    ])
    const text = received.find(({ parsed }) => parsed.subject?.startsWith('2'))?.parsed.text ?? ''
    for (const words of [
      '2 classes have fewer than 5 children',
      'Level 1 Foundations',
      '3 of 10 seats paid, 1 held but not paid yet',
      'Members’ session',
      '0 of 10 seats paid',
      '4:00 PM Pacific Time',
      'npm run admin -- registrations --csv',
    ]) {
      expect(text).toContain(words)
    }
  })
})

describe('GET /mails', () => {
  it('answers 401 admin_secret_invalid without the admin secret', async () => {
    const answer = await fetch(`${fixture.service.url}/mails?registrationId=${randomUUIDv7()}`)
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ code: 'admin_secret_invalid' })
  })

  it.each(['', '?registrationId=', '?registrationId=1', '?registrationId=%00'])('answers 400 for %j', async (query) => {
    const answer = await fetch(`${fixture.service.url}/mails${query}`, { headers: adminHeaders })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'validation_failed', issues: [{ path: 'registrationId' }] })
  })

  it('is empty for a registration that nothing was sent about', async () => {
    expect(await fixture.mailsOf(randomUUIDv7())).toEqual([])
  })
})
