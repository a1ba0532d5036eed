import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { registrationViewSchema } from '@robokids/contracts/bff'
import type { Checkout, Refund } from '@robokids/contracts/billing'
import { registrationConfirmed, type Registration } from '@robokids/contracts/enrollment'
import { receiptDetails, receiptNote, receiptTitle } from '@robokids/contracts/receipt'
import { testBed, type TestBed } from '@robokids/test/bed'
import { readTaggedPdf } from '@robokids/test/tagged-pdf'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startBff, StubService } from './fixture.ts'

const money = (amount: number) => ({ amount, currency: 'usd' as const })
/** In summer, late in the evening in California and the next day elsewhere. */
const paidAt = '2026-07-02T05:30:00.000Z'

let bed: TestBed
let registration: Registration
let paid: Checkout
beforeAll(async () => {
  bed = await testBed()
  const sample = new URL('../../contracts/src/samples/registration.confirmed.json', import.meta.url)
  const { data: facts } = registrationConfirmed.schema.parse(JSON.parse(await readFile(sample, 'utf8')))
  const payment = { paymentId: facts.payment.paymentId, receiptNumber: 'RK-000123', ...money(40_000), paidAt }
  registration = {
    ...facts,
    guardianName: 'Ọ̀ṣun Adébáyọ̀',
    children: [
      { childName: 'M̃aria', childAge: 9 },
      { childName: 'Zoë 🤖', childAge: 7 },
      { childName: 'עדי', childAge: 8 },
    ],
    status: 'waiver_signed',
    heldUntil: null,
    rejectionReason: null,
    payment,
    waiver: { waiverId: facts.classSessionId, documentSha256: '0'.repeat(64), signedAt: '2026-07-03T20:00:00.000Z' },
    kit: null,
    createdAt: paidAt,
    updatedAt: paidAt,
  }
  paid = {
    attemptId: facts.classSessionId,
    registrationId: facts.registrationId,
    status: 'paid',
    checkoutUrl: null,
    ...money(80_000),
    unitAmount: 40_000,
    paidSeats: 2,
    expiresAt: paidAt,
    payment: { ...payment, ...money(80_000), stripePaymentIntentId: 'pi_1' },
    refunds: [],
    disputes: [],
    lastDecline: null,
  }
})
afterAll(() => bed.stop())

const json =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

/** Starts a BFF whose services know one registration. */
async function startFixture(env: Record<string, string> = {}) {
  const [enrollment, billing] = [await StubService.start(), await StubService.start()]
  onTestFinished(async () => {
    await Promise.all([enrollment.stop(), billing.stop()])
  })
  enrollment.answer(json(registration))
  billing.answer(json(paid))
  const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url, BILLING_URL: billing.url, ...env })
  const address = `${url}/api/registrations/${registration.registrationId}`
  const read = async () => {
    const answer = await fetch(`${address}/receipt.pdf`)
    return { answer, pdf: new Uint8Array(await answer.arrayBuffer()) }
  }
  const view = async () => registrationViewSchema.parse(await (await fetch(address)).json())
  return { enrollment, billing, address, read, view }
}

const letters = (text: string) => text.normalize('NFC').replaceAll(/\s+/gu, ' ')

describe('GET /api/registrations/:reference/receipt.pdf', () => {
  it('has the content of the page in the same order, tagged for screen readers, with accents on their letters', async () => {
    const { read, view } = await startFixture()
    const { answer, pdf } = await read()
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': 'attachment; filename="robo-kids-receipt-RK-000123.pdf"',
      'cache-control': 'private, no-store',
    })
    const { text, parts, ...rest } = await readTaggedPdf(pdf)
    const title = `${receiptTitle} RK-000123`
    expect(rest).toEqual({ title, language: 'en-US', displaysTitle: true, isMarked: true, untagged: '' })
    const details = receiptDetails(await view(), undefined, (text) => text)
    const rows = parts.filter(({ role }) => role === 'LI').map((part) => letters(part.text))
    expect(rows).toEqual(details.map(([name, lines]) => letters([name, ...lines].join(' '))))
    expect(parts.filter(({ role }) => role === 'H1').map((part) => part.text)).toEqual([receiptTitle])
    expect(letters(text)).toBe([receiptTitle, ...rows].join(' '))
    expect(rows).toContain('Date July 1, 2026 at 10:30 PM Pacific')
    expect(rows).toContain('Amount paid $800.00')
    expect(rows).toContain('Seats 2 × $400.00, a sibling joins free')
  })

  it('is the same file for the same data, from each BFF', async () => {
    const [one, other] = [await startFixture(), await startFixture()]
    const files = [await one.read(), await one.read(), await other.read()].map(({ pdf }) => Buffer.from(pdf))
    expect(files[1]?.equals(files[0] ?? Buffer.of())).toBe(true)
    expect(files[2]?.equals(files[0] ?? Buffer.of())).toBe(true)
  })

  it('shows refunds, pending refunds, disputes and the state of the registration', async () => {
    const { read, view, billing, enrollment } = await startFixture()
    const back = (amount: number, reason: Refund['reason'], status: Refund['status']): Refund => ({
      refundId: paid.attemptId,
      stripeRefundId: null,
      ...money(amount),
      reason,
      status,
    })
    const refunds = [
      back(5_000, 'requested', 'succeeded'),
      back(5_000, 'requested', 'succeeded'),
      back(2_500, 'requested', 'pending'),
      back(80_000, 'duplicate', 'succeeded'),
    ]
    const dispute = { disputeId: 'dp_1', ...money(67_500), reason: 'fraudulent', answerBy: null, openedAt: paidAt }
    billing.answer(json({ ...paid, refunds, disputes: [{ ...dispute, status: 'needs_response' }] }))
    const { text } = await readTaggedPdf((await read()).pdf)
    expect(text).toContain(
      'Receipt number RK-000123 Refunded $50.00 Refunded $50.00 Refund on its way $25.00 Extra payment, refunded $800.00 Disputed $675.00, your bank is reviewing it Waiver signed',
    )
    expect(text).toMatch(
      / Nothing can be signed or shipped until your bank decides\. We’re keeping your seat until then\.$/,
    )

    enrollment.answer(json({ ...registration, status: 'cancelled' }))
    billing.answer(json({ ...paid, refunds: [back(80_000, 'requested', 'failed')] }))
    const note = receiptNote(await view())
    const cancelled = (await readTaggedPdf((await read()).pdf)).text
    expect(cancelled).toContain('Failed refund $800.00, still owed to you')
    expect(cancelled.endsWith(`${note?.title} ${note?.text}`)).toBe(true)
    expect(note?.title).toBe('This registration was canceled.')
  })

  it('gets the usual errors if the registration is unpaid, unknown, or its payment is not fully known', async () => {
    const { enrollment, billing, read, address } = await startFixture()
    const refused = async () => {
      const { answer, pdf } = await read()
      expect(answer.headers.get('content-disposition')).toBeNull()
      expect((await fetch(`${address}/receipt.pdf`, { method: 'HEAD' })).status).toBe(answer.status)
      return [answer.status, (JSON.parse(Buffer.from(pdf).toString()) as { code: string }).code]
    }
    const notFound = (code: string) => json({ code, message: 'Unknown.', requestId: 'stub' }, 404)
    const unpaid = { ...paid, status: 'open', payment: null }
    billing.answer(json(unpaid))
    for (const status of ['held', 'expired', 'cancelled'] as const) {
      enrollment.answer(json({ ...registration, status }))
      expect(await refused()).toEqual([409, 'registration_not_paid'])
    }
    billing.answer(notFound('checkout_not_found'))
    expect(await refused()).toEqual([409, 'registration_not_paid'])
    // Enrollment knows a payment that billing does not return.
    billing.answer(json(unpaid))
    enrollment.answer(json(registration))
    expect(await refused()).toEqual([503, 'upstream_unavailable'])
    billing.answer(json({}, 500))
    expect(await refused()).toEqual([503, 'upstream_unavailable'])
    // A service of the previous version, and an unknown registration.
    enrollment.answer(notFound('not_found'))
    expect(await refused()).toEqual([503, 'upstream_unavailable'])
    enrollment.answer(notFound('registration_not_found'))
    expect(await refused()).toEqual([404, 'registration_not_found'])
  })

  it('is rendered once for concurrent requests, and rejected if too many are queued', async () => {
    const { enrollment, address, read } = await startFixture()
    const same = await Promise.all(Array.from({ length: 30 }, read))
    expect(new Set(same.map(({ answer }) => answer.status))).toEqual(new Set([200]))
    let nth = 0
    enrollment.answer((request, response) => {
      nth += 1
      json({ ...registration, guardianName: `Guardian ${nth}` })(request, response)
    })
    const many = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const answer = await fetch(`${address}/receipt.pdf`)
        return [answer.status, answer.ok ? '' : ((await answer.json()) as { code: string }).code]
      }),
    )
    expect(new Set(many.map(([status]) => status))).toEqual(new Set([200, 503]))
    expect(new Set(many.map(([, code]) => code))).toEqual(new Set(['', 'busy']))
    // HEAD requests render nothing.
    const checked = await Promise.all(
      Array.from({ length: 40 }, () => fetch(`${address}/receipt.pdf`, { method: 'HEAD' })),
    )
    expect(new Set(checked.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await read()).answer.status).toBe(200)
  })
})
