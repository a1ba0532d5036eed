import { randomUUIDv7 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { agreementTermsSchema, canonicalTerms, type Agreement } from '@robokids/contracts/agreement'
import type { Checkout } from '@robokids/contracts/billing'
import { registrationHeld, type Registration } from '@robokids/contracts/enrollment'
import type { ErrorCode } from '@robokids/contracts/errors'
import { registrationTerms } from '@robokids/contracts/offers'
import { fetchProven } from '@robokids/local/prove'
import { testBed, type TestBed } from '@robokids/test/bed'
import { sampleFamily } from '@robokids/test/samples'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startBff, StubService } from './fixture.ts'

let bed: TestBed
let sample: Registration
beforeAll(async () => {
  bed = await testBed()
  const file = new URL('../../contracts/src/samples/registration.held.json', import.meta.url)
  const { data } = registrationHeld.schema.parse(JSON.parse(await readFile(file, 'utf8')))
  const at = '2026-11-28T00:05:00.000Z'
  const open = { status: 'held', rejectionReason: null, payment: null, waiver: null, kit: null } as const
  sample = { ...data, ...open, heldUntil: minutesFromNow(36), createdAt: at, updatedAt: at }
})
afterAll(() => bed.stop())

const minutesFromNow = (minutes: number) =>
  Temporal.Now.instant().add({ minutes }).toString({ fractionalSecondDigits: 3 })

type Replies = Record<string, (body: Record<string, unknown>) => [number, unknown]>

const refusal = (status: number, code: ErrorCode, details = {}): [number, unknown] => [
  status,
  { code, message: 'As the service says.', requestId: 'stub', ...details },
]

function checkoutOf(registrationId: string): Checkout {
  return {
    attemptId: randomUUIDv7(),
    registrationId,
    status: 'open',
    checkoutUrl: `https://pay.example/page-of-${registrationId}#a-part-for-scripts`,
    amount: 40_000,
    currency: 'usd',
    unitAmount: 40_000,
    paidSeats: 1,
    expiresAt: minutesFromNow(31),
    payment: null,
    refunds: [],
    disputes: [],
    lastDecline: null,
  }
}

/** Starts a BFF with services that respond as the test says, and records their requests in order. */
async function startWith(differences: Replies = {}) {
  const requests: { call: string; body: Record<string, unknown> }[] = []
  const replies: Replies = {
    'POST /registrations/judge': ({ replaces = null }) => [200, { registrationId: null, replaces }],
    'POST /registrations': (body) => [200, { ...sample, registrationId: body['id'] }],
    'POST /checkouts': (body) => [200, checkoutOf((body['purchase'] as Registration).registrationId)],
    ...differences,
  }
  const service = await StubService.start()
  onTestFinished(() => service.stop())
  service.answer((request, response) => {
    void (async () => {
      const sent = await text(request)
      const call = `${request.method} ${request.url}`
      const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>)
      // Fetched for the proofs of work.
      if (call !== 'GET /unpaid-seats') requests.push({ call, body })
      const [status, answer] = replies[call]?.(body) ?? refusal(404, 'not_found')
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })()
  })
  const { url } = await startBff(bed, { ENROLLMENT_URL: service.url, BILLING_URL: service.url })
  let cookie = ''
  const post = async (path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetchProven(`${url}${path}`, {
      method: 'POST',
      headers: { ...type, 'x-api-key': 'robokids-web', cookie },
      ...json,
    })
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return { requests, calls: () => requests.map(({ call }) => call), post }
}

const request = (differences = {}) => ({
  ...sampleFamily(),
  classType: 'basic',
  startDate: sample.startDate,
  unlessRegistered: true,
  ...differences,
})
const closedWith = (outcome: string) => (): [number, unknown] => [200, { outcome }]

describe('a registration that replaces another one', () => {
  const replaces = randomUUIDv7()
  const close = `POST /checkouts/${replaces}/close`

  it.each(['closed', 'none'])(
    'is held only once the payment page of the old one is confirmed as %s',
    async (outcome) => {
      const { post, calls, requests } = await startWith({ [close]: closedWith(outcome) })
      const body = request({ replaces })
      expect(await post('/api/registrations', body)).toMatchObject({
        status: 200,
        body: {
          registrationId: body.id,
          checkoutUrl: `http://localhost:3000/api/registrations/${body.id}/pay/page-of-${body.id}`,
        },
      })
      expect(calls()).toEqual(['POST /registrations/judge', close, 'POST /registrations', 'POST /checkouts'])
      expect(requests[0]?.body).toEqual(requests[2]?.body)
      expect(requests[2]?.body).toMatchObject({ id: body.id, replaces, ownerId: null, network: '127.0.0.0/24' })
      // Billing checks it as well, before it closes anything.
      const { id: registrationId, classType, startDate } = body
      expect(requests[1]?.body).toEqual({ replacedBy: { registrationId, classType, startDate, children: 1 } })
    },
  )

  it('closes nothing if the requester may not replace the old one', async () => {
    const { post, calls } = await startWith({
      'POST /registrations/judge': () => [200, { registrationId: null, replaces: null }],
    })
    expect((await post('/api/registrations', request({ replaces }))).status).toBe(200)
    expect(calls()).toEqual(['POST /registrations/judge', 'POST /registrations', 'POST /checkouts'])
  })

  it.each(['id_reused', 'price_changed'] as const)(
    'is not held if billing rejects it before closing anything: %s',
    async (code) => {
      const { post, calls } = await startWith({ [close]: () => refusal(409, code) })
      expect(await post('/api/registrations', request({ replaces }))).toMatchObject({ status: 409, body: { code } })
      expect(calls()).toEqual(['POST /registrations/judge', close])
    },
  )

  it.each(['paid', 'processing'])('is rejected with the old one’s reference if that is %s', async (outcome) => {
    const { post, calls } = await startWith({ [close]: closedWith(outcome) })
    expect(await post('/api/registrations', request({ replaces }))).toMatchObject({
      status: 409,
      body: { code: 'already_paid', reference: replaces },
    })
    expect(calls()).toEqual(['POST /registrations/judge', close])
  })

  it.each(['class_full', 'already_registered', 'already_paid'] as const)(
    'closes nothing if enrollment rejects it: %s',
    async (code) => {
      const { post, calls } = await startWith({ 'POST /registrations/judge': () => refusal(409, code) })
      expect(await post('/api/registrations', request({ replaces }))).toMatchObject({ status: 409, body: { code } })
      expect(calls()).toEqual(['POST /registrations/judge'])
    },
  )

  it('changes nothing while the provider is unavailable', async () => {
    const { post, calls } = await startWith({ [close]: () => refusal(503, 'upstream_unavailable') })
    expect(await post('/api/registrations', request({ replaces }))).toMatchObject({
      status: 503,
      body: { code: 'upstream_unavailable' },
    })
    expect(calls()).toEqual(['POST /registrations/judge', close])
  })

  it('closes nothing if it is identical to a third one, which is returned', async () => {
    const third = randomUUIDv7()
    const { post, calls } = await startWith({
      'POST /registrations/judge': () => [200, { registrationId: third }],
      'POST /registrations': () => [200, { ...sample, registrationId: third }],
    })
    expect((await post('/api/registrations', request({ replaces }))).body).toMatchObject({ registrationId: third })
    expect(calls()).toEqual(['POST /registrations/judge', 'POST /registrations', 'POST /checkouts'])
  })

  it('is left to an enrollment of the previous version, which does not return `replaces`', async () => {
    const { post, calls } = await startWith({ 'POST /registrations/judge': () => [200, { registrationId: null }] })
    expect((await post('/api/registrations', request({ replaces }))).status).toBe(200)
    expect(calls()).toEqual(['POST /registrations/judge', 'POST /registrations', 'POST /checkouts'])
  })

  it('needs no separate check if it replaces nothing', async () => {
    const { post, calls } = await startWith()
    const body = request()
    expect((await post('/api/registrations', body)).status).toBe(200)
    expect((await post('/api/registrations', { ...body, replaces: body.id })).status).toBe(200)
    expect(calls()).toEqual(Array.from({ length: 2 }, () => ['POST /registrations', 'POST /checkouts']).flat())
  })
})

describe('the price shown before the payment', () => {
  const terms = (unitAmount: number) =>
    registrationTerms({
      classType: 'basic',
      startDate: sample.startDate,
      children: 1,
      siblingJoinsFree: false,
      unitAmount,
    })

  it('is sent to billing, and the current one is returned while the same registration is held', async () => {
    const offered: Agreement = { id: 'one', terms: terms(45_000), validUntil: null }
    const replies: Replies = {
      'POST /checkouts': ({ agreed, purchase }) =>
        canonicalTerms(agreementTermsSchema.parse(agreed)) === canonicalTerms(offered.terms)
          ? [200, checkoutOf((purchase as Registration).registrationId)]
          : refusal(409, 'price_changed', { agreement: offered }),
    }
    const { post, requests } = await startWith(replies)
    const body = request()
    const refused = await post('/api/registrations', { ...body, agreed: terms(40_000) })
    expect(refused).toMatchObject({ status: 409, body: { code: 'price_changed', agreement: offered } })
    const agreed = await post('/api/registrations', { ...body, agreed: offered.terms })
    expect(agreed).toMatchObject({ status: 200, body: { registrationId: body.id } })
    // Enrollment gets the same registration both times: the agreement is not part of it.
    const holds = requests.filter(({ call }) => call === 'POST /registrations')
    expect(holds[0]?.body).toEqual(holds[1]?.body)
    expect(holds[0]?.body).not.toHaveProperty('agreed')
  })

  it('is also sent to billing when a payment is resumed, unless the page is of an older version', async () => {
    const { registrationId } = sample
    const { post, requests } = await startWith({
      [`GET /registrations/${registrationId}`]: () => [200, sample],
      [`POST /registrations/${registrationId}/hold`]: () => [200, sample],
    })
    const path = `/api/registrations/${registrationId}/checkout`
    expect((await post(path, { agreed: terms(40_000) })).status).toBe(200)
    expect((await post(path)).status).toBe(200)
    const bodies = requests.filter(({ call }) => call === 'POST /checkouts').map(({ body }) => body)
    expect(bodies).toMatchObject([{ agreed: terms(40_000) }, {}])
    expect(bodies[1]).not.toHaveProperty('agreed')
    expect(await post(path, { agreed: { kind: 'order' } })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    })
  })

  it.each([
    ['held', 'POST /checkouts', true],
    ['held', 'POST /registrations/:id/hold', false],
    ['expired', 'POST /registrations/:id/hold', false],
    // An enrollment of the previous version does not send `isNew`.
    ['held', 'POST /checkouts', undefined],
    ['expired', 'POST /registrations/:id/hold', undefined],
  ] as const)(
    'is checked after enrollment holds the seats of one that is %s: %s comes next, new: %s',
    async (status, next, isNew) => {
      const registrationId = randomUUIDv7()
      // Whether that is long enough is up to enrollment.
      const registration = { ...sample, registrationId, heldUntil: minutesFromNow(1) }
      const { post, calls } = await startWith({
        'POST /registrations': () => [200, { ...registration, status, isNew }],
        [`POST /registrations/${registrationId}/hold`]: () => [200, registration],
      })
      expect((await post('/api/registrations', request())).status).toBe(200)
      const later = next === 'POST /checkouts' ? [] : ['POST /checkouts']
      expect(calls()).toEqual(['POST /registrations', next.replace(':id', registrationId), ...later])
    },
  )

  it.each([
    ['expired', true],
    ['held', true],
    ['held', false],
  ] as const)(
    'of a processing payment is bound to its hold exactly if that was renewed: %s, renewed: %s',
    async (status, isRenewed) => {
      const { registrationId } = sample
      const before = status === 'held' ? minutesFromNow(1) : null
      const heldUntil = isRenewed ? before : sample.heldUntil
      const checkout: Checkout = { ...checkoutOf(registrationId), status: 'processing', checkoutUrl: null }
      const hold = `POST /registrations/${registrationId}/hold`
      const { post, requests } = await startWith({
        [`GET /registrations/${registrationId}`]: () => [200, { ...sample, status, heldUntil }],
        [hold]: () => [200, sample],
        'POST /checkouts': () => [200, checkout],
      })
      expect(await post(`/api/registrations/${registrationId}/checkout`)).toMatchObject({
        status: 200,
        body: { checkoutUrl: expect.stringContaining('/robokids/success?') },
      })
      const bound = requests.filter(({ call }) => call === hold).map(({ body }) => body['attemptId'])
      expect(bound).toEqual(isRenewed ? [undefined, checkout.attemptId] : [undefined])
    },
  )

  it('is not checked if the child has a seat through another registration by now', async () => {
    const { registrationId } = sample
    const { post, calls } = await startWith({
      [`GET /registrations/${registrationId}`]: () => [200, { ...sample, status: 'expired', heldUntil: null }],
      [`POST /registrations/${registrationId}/hold`]: () => refusal(409, 'already_registered'),
    })
    expect(await post(`/api/registrations/${registrationId}/checkout`)).toMatchObject({
      status: 409,
      body: { code: 'already_registered' },
    })
    expect(calls()).not.toContain('POST /checkouts')
  })
})

describe('the waitlist', () => {
  const entryId = randomUUIDv7()
  const entry = {
    entryId,
    guardianName: 'Maren Holt',
    email: 'maren.holt@example.com',
    children: [{ childName: 'Ivo', childAge: 9 }],
    classSessionId: randomUUIDv7(),
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
    status: 'offered',
    place: null,
    familiesWaiting: 2,
    offerEndsAt: minutesFromNow(600),
    closedReason: null,
    endedAt: null,
    registrationId: null,
    createdAt: minutesFromNow(-5),
  }
  const address = { addressLine1: '14 Alder Way', city: 'San Mateo', state: 'CA', zipCode: '94401' }

  it('is joined with a proof of work, as the requester from its network, and shows no account', async () => {
    const { post, requests } = await startWith({ 'POST /waitlist': () => [200, { ...entry, ownerId: randomUUIDv7() }] })
    const { addressLine1: _1, addressLine2: _2, city: _3, state: _4, zipCode: _5, ...family } = request()
    const answer = await post('/api/waitlist', family)
    expect(answer).toMatchObject({ status: 200, body: { entryId, familiesWaiting: 2 } })
    expect(answer.body).not.toHaveProperty('ownerId')
    expect(requests[0]?.body).toMatchObject({ id: family.id, ownerId: null, network: '127.0.0.0/24' })
    expect(requests[0]?.body['browserId']).toEqual(expect.any(String))
  })

  it('leads from an accepted offer to the payment page of its registration', async () => {
    const registrationId = randomUUIDv7()
    const accepted = `POST /waitlist/${entryId}/accept`
    const { post, calls, requests } = await startWith({
      [accepted]: () => [200, { ...sample, registrationId, isNew: true }],
    })
    expect(await post(`/api/waitlist/${entryId}/accept`, address)).toMatchObject({
      status: 200,
      body: { registrationId, checkoutUrl: expect.stringContaining(`/api/registrations/${registrationId}/pay/`) },
    })
    expect(calls()).toEqual([accepted, 'POST /checkouts'])
    expect(requests[0]?.body).toMatchObject({ ...address, ownerId: null, network: '127.0.0.0/24' })
  })

  it('opens no payment page for an offer that has ended, and knows no place but by its reference', async () => {
    const unknown = randomUUIDv7()
    const { post, calls } = await startWith({
      [`POST /waitlist/${unknown}/decline`]: () => refusal(404, 'waitlist_entry_not_found'),
      [`POST /waitlist/${entryId}/accept`]: () => refusal(409, 'offer_ended'),
      [`POST /waitlist/${entryId}/leave`]: () => [200, { ...entry, status: 'left' }],
    })
    const ended = await post(`/api/waitlist/${entryId}/accept`, address)
    expect(ended).toMatchObject({ status: 409, body: { code: 'offer_ended' } })
    expect(await post(`/api/waitlist/${entryId}/leave`)).toMatchObject({ status: 200, body: { status: 'left' } })
    expect(calls()).toEqual([`POST /waitlist/${entryId}/accept`, `POST /waitlist/${entryId}/leave`])
    expect(await post(`/api/waitlist/${unknown}/decline`)).toMatchObject({
      status: 404,
      body: { code: 'waitlist_entry_not_found', message: 'We can’t find this place in line.' },
    })
  })
})
