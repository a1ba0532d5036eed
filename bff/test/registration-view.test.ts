import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import type { Checkout } from '@robokids/contracts/billing'
import { registrationViewSchema } from '@robokids/contracts/bff'
import { registrationConfirmed, type Registration } from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { send, startBff, StubService } from './fixture.ts'

let bed: TestBed
let registration: Registration
let open: Checkout
beforeAll(async () => {
  bed = await testBed()
  const sample = new URL('../../contracts/src/samples/registration.confirmed.json', import.meta.url)
  const { data: facts } = registrationConfirmed.schema.parse(JSON.parse(await readFile(sample, 'utf8')))
  const at = '2026-11-28T00:05:00.000Z'
  registration = {
    ...facts,
    status: 'confirmed',
    heldUntil: null,
    rejectionReason: null,
    payment: { ...facts.payment, currency: 'usd', paidAt: at },
    waiver: null,
    kit: null,
    createdAt: at,
    updatedAt: at,
  }
  open = {
    attemptId: facts.classSessionId,
    registrationId: facts.registrationId,
    status: 'open',
    checkoutUrl: 'https://pay.example/one',
    amount: 40_000,
    currency: 'usd',
    unitAmount: 40_000,
    paidSeats: 1,
    expiresAt: at,
    payment: null,
    refunds: [],
    disputes: [],
    lastDecline: null,
  }
})
afterAll(() => bed.stop())

async function stub(): Promise<StubService> {
  const service = await StubService.start()
  onTestFinished(() => service.stop())
  return service
}

const json =
  (body: unknown): RequestListener =>
  (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }

describe('the view of a registration', () => {
  it('calls both services in parallel, and never shows a confirmed registration with an outdated checkout', async () => {
    const [enrollment, billing] = [await stub(), await stub()]
    const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url, BILLING_URL: billing.url })
    const viewing = send(`${url}/api/registrations/${registration.registrationId}`)
    await eventually(() => enrollment.requests.length === 1 && billing.requests.length === 1)
    billing.answer(json(open))
    const paidAt = registration.payment?.paidAt ?? ''
    const payment = { paymentId: open.attemptId, stripePaymentIntentId: 'pi_1', receiptNumber: 'RK-000001', paidAt }
    billing.answer(json({ ...open, status: 'paid', payment: { ...payment, amount: 40_000, currency: 'usd' } }))
    enrollment.answer(json(registration))
    const view = registrationViewSchema.parse(JSON.parse((await viewing.answered).text))
    expect(view).toMatchObject({ status: 'confirmed', checkout: { status: 'paid', receiptNumber: 'RK-000001' } })
    expect([enrollment.requests.length, billing.requests.length]).toEqual([1, 2])
  })

  it('shows a paid registration with a billing of the previous version, which has no refresh route', async () => {
    const [enrollment, billing] = [await stub(), await stub()]
    enrollment.answer(json(registration))
    billing.answer((request, response) => {
      if (request.method === 'GET') return json({ ...open, status: 'paid' })(request, response)
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ code: 'not_found', message: 'There is nothing at this address.', requestId: 'one' }),
      )
    })
    const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url, BILLING_URL: billing.url })
    const { status, text } = await send(`${url}/api/registrations/${registration.registrationId}`).answered
    expect([status, registrationViewSchema.parse(JSON.parse(text)).checkout?.status]).toEqual([200, 'paid'])
  })

  it('shows enrollment’s data while billing is unavailable', async () => {
    const enrollment = await stub()
    enrollment.answer(json(registration))
    const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url })
    const { status, text } = await send(`${url}/api/registrations/${registration.registrationId}`).answered
    expect([status, registrationViewSchema.parse(JSON.parse(text)).checkout]).toEqual([200, null])
  })
})

describe('GET /api/registrations/:reference/calendar.ics', () => {
  const body = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'

  it('returns the calendar entry only if the registration is paid', async () => {
    const [enrollment, notifications] = [await stub(), await stub()]
    const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url, NOTIFICATIONS_URL: notifications.url })
    const address = `${url}/api/registrations/${registration.registrationId}/calendar.ics`
    notifications.answer((_request, response) => {
      response.setHeader('content-type', 'text/calendar; charset=utf-8; method=PUBLISH').end(body)
    })
    for (const status of ['held', 'expired', 'rejected', 'cancelled'] as const) {
      enrollment.answer(json({ ...registration, status }))
      const answer = await fetch(address)
      expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'registration_not_paid' }])
    }
    expect(notifications.requests).toEqual([])
    for (const status of ['confirmed', 'waiver_signed'] as const) {
      enrollment.answer(json({ ...registration, status }))
      const answer = await fetch(address)
      expect([answer.status, await answer.text()]).toEqual([200, body])
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/calendar; charset=utf-8; method=PUBLISH',
        'content-disposition': 'inline; filename="robo-kids-class.ics"',
        'cache-control': 'no-store',
      })
    }
  })

  it('responds 503 if notifications does not know the payment yet', async () => {
    const [enrollment, notifications] = [await stub(), await stub()]
    const { url } = await startBff(bed, { ENROLLMENT_URL: enrollment.url, NOTIFICATIONS_URL: notifications.url })
    enrollment.answer(json(registration))
    notifications.answer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    })
    const answer = await fetch(`${url}/api/registrations/${registration.registrationId}/calendar.ics`)
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'upstream_unavailable' }])
  })
})
