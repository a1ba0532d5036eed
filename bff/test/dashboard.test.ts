import { generateKeyPairSync, randomUUIDv7 } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type { Checkout } from '@robokids/contracts/billing'
import { bookableClassesSchema, type MemberClasses } from '@robokids/contracts/member-classes'
import {
  dashboardPastSchema,
  dashboardSchema,
  type FamilyClasses,
  type FamilyPurchases,
} from '@robokids/contracts/dashboard'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { createSigner } from 'fast-jwt'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBff, StubService } from './fixture.ts'

const maren = { userId: randomUUIDv7(), email: 'maren.holt@example.com' }
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

let bed: TestBed
let url: string
let identity: StubService
let enrollment: StubService
let billing: StubService
/** What identity says of the account that asks. */
let account: { email: string; verified: boolean } | 'signed out'

const json =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

beforeAll(async () => {
  bed = await testBed()
  const services = await Promise.all([StubService.start(), StubService.start(), StubService.start()])
  ;[identity, enrollment, billing] = services
  const started = await startBff(bed, {
    IDENTITY_URL: identity.url,
    ENROLLMENT_URL: enrollment.url,
    BILLING_URL: billing.url,
    UPSTREAM_TIMEOUT_MS: '400',
    SITE_URL: 'http://localhost:3000',
  })
  url = started.url
  identity.answer((request, response) => {
    if (request.method === 'GET') {
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] })(request, response)
    }
    if (account === 'signed out') {
      return json({ __type: 'NotAuthorizedException', message: 'Access Token has been revoked' }, 400)(
        request,
        response,
      )
    }
    const { email, verified } = account
    return json({
      Username: 'user_1',
      UserAttributes: [
        { Name: 'sub', Value: maren.userId },
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: String(verified) },
      ],
    })(request, response)
  })
})
afterAll(async () => {
  await bed.stop()
  await Promise.all([identity, enrollment, billing].map((service) => service.stop()))
})
beforeEach(() => {
  account = { email: maren.email, verified: true }
  enrollment.answer(json({ registrations: [], memberClasses: [] } satisfies FamilyClasses))
  billing.answer(json(purchases()))
})
afterEach(() => {
  for (const service of [identity, enrollment, billing]) service.requests.length = 0
})

function cookie(): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const now = Date.now()
  const accessToken = createSigner({ algorithm: 'RS256', key, kid: 'one' })({
    token_use: 'access',
    // Each sign-in has a token of its own.
    jti: randomUUIDv7(),
    sub: maren.userId,
    username: 'user_1',
    client_id: 'robokidsbff',
    iss: `${identity.url}/us-west-1_RoboKids`,
    exp: Math.floor(now / 1000) + 3600,
  })
  const session = { accessToken, refreshToken: 'x', userId: maren.userId, username: 'user_1', email: '' }
  const sealed = sealingKeysSchema
    .parse(localSealingKeys)
    .seal(JSON.stringify({ ...session, since: now, until: now + 3_600_000 }), 'robokids-session')
  return `robokids-session=${sealed}`
}

const get = (path: string) => fetch(`${url}${path}`, { headers: { cookie: cookie() } })
async function dashboard() {
  const answer = await get('/api/dashboard')
  const text = await answer.text()
  return { headers: answer.headers, text, ...dashboardSchema.parse(JSON.parse(text)) }
}

type Registration = FamilyClasses['registrations'][number]
const inDays = (days: number) =>
  Temporal.Now.instant()
    .add({ hours: 24 * days })
    .toString({ fractionalSecondDigits: 3 })

function registration(changes: Partial<Registration> = {}): Registration {
  const at = inDays(-1)
  return {
    registrationId: randomUUIDv7(),
    guardianName: 'Maren Holt',
    email: maren.email,
    children: [{ childName: 'Ivo', childAge: 9 }],
    address: { addressLine1: '14 Alder Way', addressLine2: '', city: 'Durham', state: 'NC', zipCode: '27701' },
    classSessionId: randomUUIDv7(),
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2030-01-04',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
    startsAt: inDays(3),
    status: 'confirmed',
    heldUntil: null,
    rejectionReason: null,
    payment: {
      paymentId: randomUUIDv7(),
      receiptNumber: 'RK-000012',
      amount: 40_000,
      currency: 'usd',
      paidAt: at,
      state: 'paid',
    },
    waiver: null,
    kit: null,
    createdAt: at,
    updatedAt: at,
    ...changes,
  }
}

function checkout({ registrationId }: Registration, changes: Partial<Checkout> = {}): Checkout {
  return {
    attemptId: randomUUIDv7(),
    registrationId,
    status: 'paid',
    checkoutUrl: null,
    amount: 40_000,
    currency: 'usd',
    unitAmount: 40_000,
    paidSeats: 1,
    expiresAt: inDays(0),
    payment: {
      paymentId: randomUUIDv7(),
      stripePaymentIntentId: 'pi_secret',
      receiptNumber: 'RK-000012',
      paidAt: inDays(-1),
      amount: 40_000,
      currency: 'usd',
    },
    refunds: [],
    disputes: [],
    lastDecline: null,
    ...changes,
  }
}

function purchases(changes: Partial<FamilyPurchases> = {}): FamilyPurchases {
  return { membership: null, others: [], checkouts: [], orders: [], ...changes }
}

function answerWith(registrations: Registration[], of: Partial<FamilyPurchases> = {}): void {
  enrollment.answer(json({ registrations, memberClasses: [] } satisfies FamilyClasses))
  billing.answer(json(purchases(of)))
}

describe('GET /api/dashboard', () => {
  it('requires a session, and shows nothing to one that was ended elsewhere', async () => {
    const stranger = await fetch(`${url}/api/dashboard`)
    account = 'signed out'
    const ended = await get('/api/dashboard')
    for (const answer of [stranger, ended]) {
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'sign_in_required' }])
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
    expect([...enrollment.requests, ...billing.requests]).toEqual([])
  })

  it('asks each service once, for the account of the session whatever the request says, and is not stored', async () => {
    const { headers, account: shown, unavailable } = await dashboard()
    expect(headers.get('cache-control')).toBe('no-store')
    expect([shown, unavailable]).toEqual([{ userId: maren.userId, email: maren.email, isConfirmed: true }, []])
    await get(`/api/dashboard?userId=${randomUUIDv7()}`)
    const path = `GET /accounts/${maren.userId}/classes`
    expect(enrollment.requests).toEqual([path, path])
    expect(billing.requests).toEqual(['POST /purchases/find', 'POST /purchases/find'])
  })

  it('shows a class with its payment, without what is ours alone', async () => {
    const paid = registration({
      kit: { status: 'shipped', carrier: 'UPS', trackingNumber: '1Z999', shippedAt: inDays(-1) },
    })
    answerWith([paid], { checkouts: [checkout(paid)] })
    const { classes, text } = await dashboard()
    expect(classes?.cards).toMatchObject([
      {
        registrationId: paid.registrationId,
        kit: { carrier: 'UPS', trackingNumber: '1Z999' },
        checkout: { status: 'paid', receiptNumber: 'RK-000012' },
      },
    ])
    for (const own of ['pi_secret', paid.classSessionId, paid.payment?.paymentId ?? '']) expect(text).not.toContain(own)
  })

  it('shows only checkouts of registrations that enrollment says are the account’s', async () => {
    const [own, others] = [registration(), registration()]
    answerWith([own], { checkouts: [checkout(own), checkout(others, { amount: 99_900 })] })
    const { classes, text } = await dashboard()
    expect(classes?.cards.map(({ registrationId }) => registrationId)).toEqual([own.registrationId])
    expect(text).not.toContain(others.registrationId)
    expect(text).not.toContain('99900')
  })

  it('asks for nothing before the address is confirmed, and says whose it has to be', async () => {
    account = { email: maren.email, verified: false }
    expect(await dashboard()).toMatchObject({
      account: { email: maren.email, isConfirmed: false },
      unavailable: [],
      classes: null,
      membership: null,
      orders: null,
    })
    expect([...enrollment.requests, ...billing.requests]).toEqual([])
    expect((await get('/api/dashboard/past')).status).toBe(404)
  })

  it.each(['answers 500', 'answers what the contract does not know', 'does not answer'])(
    'shows the classes while billing %s',
    async (how) => {
      const paid = registration()
      answerWith([paid])
      const failing: Record<string, RequestListener> = {
        'answers 500': json({ code: 'internal', message: 'No.', requestId: 'stub' }, 500),
        'answers what the contract does not know': json({ membership: 'none' }),
        'does not answer': () => {},
      }
      billing.answer(failing[how] as RequestListener)
      const { unavailable, classes, membership, orders } = await dashboard()
      expect(unavailable).toEqual(['money', 'membership', 'orders'])
      expect([membership, orders]).toEqual([null, null])
      expect(classes?.cards).toMatchObject([{ checkout: null, payment: { receiptNumber: 'RK-000012' } }])
    },
  )

  it('shows membership and orders while enrollment does not answer', async () => {
    enrollment.answer(() => {})
    expect(await dashboard()).toMatchObject({
      unavailable: ['classes', 'waitlist'],
      classes: null,
      waitlist: null,
      membership: { membership: null },
      orders: { open: [], past: 0 },
    })
  })

  it('shows siblings who sit in different classes, or gave up a seat, on cards of their own', async () => {
    const [first, second] = [randomUUIDv7(), randomUUIDv7()]
    const meeting = { number: 1, date: '2030-01-05', startTime: '16:00', durationMinutes: 75, startsAt: inDays(4) }
    const place = (childName: string, classSessionId: string, changes = {}) => ({
      placeId: randomUUIDv7(),
      childName,
      childAge: 9,
      status: 'seated' as const,
      classSessionId,
      classType: 'basic' as const,
      levelTitle: 'Level 1 Foundations',
      startDate: '2030-01-04',
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      paidAmount: 20_000,
      moves: 0,
      cancelledAt: null,
      ...changes,
    })
    const places = [
      place('Kim', first, { status: 'cancelled', cancelledAt: inDays(-1) }),
      place('Ivo', first),
      place('Noa', second, { meetings: [meeting], levelTitle: 'Level 2' }),
      place('Ada', first),
    ]
    const family = registration({ classSessionId: first, places })
    const together = registration({ startsAt: inDays(9), places: [place('Ivo', first), place('Noa', first)] })
    answerWith([family, together], { checkouts: [checkout(family)] })
    const { classes } = await dashboard()
    const names = (of: { childName: string }[]) => of.map(({ childName }) => childName).join(' ')
    expect(classes?.cards.map((card) => [card.cardId, names(card.children), card.status, card.levelTitle])).toEqual([
      [places[0]?.placeId, 'Kim', 'cancelled', 'Level 1 Foundations'],
      [family.registrationId, 'Ivo Ada', 'confirmed', 'Level 1 Foundations'],
      [places[2]?.placeId, 'Noa', 'confirmed', 'Level 2'],
      [together.registrationId, 'Ivo', 'confirmed', 'Level 1 Foundations'],
    ])
    expect(classes?.cards[2]).toMatchObject({ startsAt: meeting.startsAt, meetings: [meeting] })
    expect(classes?.cards[3]?.places).toHaveLength(2)
  })

  it('keeps what is over, replaced or given up out of the current classes', async () => {
    const held = registration({ status: 'held', payment: null, heldUntil: inDays(1) })
    const ended = { payment: null, status: 'expired' as const, heldUntil: null }
    const lost = registration({ ...ended, children: [{ childName: 'Noa', childAge: 11 }] })
    const later = registration({ startsAt: inDays(40) })
    const meeting = { date: '2030-01-04', startTime: '16:00', durationMinutes: 75 }
    const running = registration({
      startsAt: inDays(-30),
      meetings: [-30, 4].map((days, index) => ({ ...meeting, number: index + 1, startsAt: inDays(days) })),
    })
    const over = registration({ startsAt: inDays(-30) })
    const overWithMoney = registration({ startsAt: inDays(-30), status: 'cancelled' })
    const refund = { refundId: randomUUIDv7(), stripeRefundId: null, amount: 40_000, currency: 'usd' as const }
    answerWith(
      [
        later,
        held,
        lost,
        over,
        running,
        overWithMoney,
        registration({ ...ended, updatedAt: inDays(-2) }),
        registration({ ...ended, children: lost.children, updatedAt: inDays(-4) }),
        registration({ status: 'cancelled', payment: null }),
      ],
      { checkouts: [checkout(overWithMoney, { refunds: [{ ...refund, reason: 'requested', status: 'pending' }] })] },
    )
    const { classes } = await dashboard()
    expect(classes?.cards.map(({ registrationId }) => registrationId)).toEqual([
      overWithMoney.registrationId,
      held.registrationId,
      lost.registrationId,
      running.registrationId,
      later.registrationId,
    ])
    expect([classes?.past, classes?.lastFinished]).toMatchObject([
      1,
      { children: over.children, endedAt: over.startsAt },
    ])
    const past = dashboardPastSchema.parse(await (await get('/api/dashboard/past')).json())
    expect(past.cards?.map(({ registrationId }) => registrationId)).toEqual([over.registrationId])
  })
})

/** An event of a registration, as the BFF reads it. */
const publish = (data: object) =>
  bed.bus.publishRaw('registration.expired', JSON.stringify({ type: 'registration.expired', data }))

const signOutEverywhere = () =>
  fetch(`${url}/api/auth/sign-out`, {
    method: 'POST',
    headers: { cookie: cookie(), 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
    body: JSON.stringify({ everywhere: true }),
  })

describe('POST /api/dashboard/registrations/:id/release', () => {
  const release = (id: string) =>
    fetch(`${url}/api/dashboard/registrations/${id}/release`, {
      method: 'POST',
      headers: { cookie: cookie(), 'x-api-key': 'robokids-web' },
    })

  it('closes the payment page before the seats are released, and releases none that are paid or somebody else’s', async () => {
    const held = { ...registration({ status: 'held', payment: null }), ownerId: maren.userId }
    enrollment.answer(json(held))
    billing.answer(json({ outcome: 'closed' }))
    expect((await release(held.registrationId)).status).toBe(200)
    const path = `/registrations/${held.registrationId}`
    expect(billing.requests).toEqual([`POST /checkouts/${held.registrationId}/close`])
    expect(enrollment.requests).toEqual([`GET ${path}`, `POST /accounts/${maren.userId}${path}/release`])

    billing.answer(json({ outcome: 'paid' }))
    const paid = await release(held.registrationId)
    expect([paid.status, await paid.json()]).toMatchObject([409, { code: 'already_paid' }])
    enrollment.answer(json({ ...held, ownerId: randomUUIDv7() }))
    expect((await release(held.registrationId)).status).toBe(404)
    expect(enrollment.requests.filter((one) => one.includes('/release'))).toHaveLength(1)
    expect(billing.requests).toHaveLength(2)
  })
})

describe('GET /api/family', () => {
  it('tells each child of the account once, with its latest age, and the latest address', async () => {
    const [ivo, noa] = [
      { childName: 'Ivo', childAge: 9 },
      { childName: 'Noa', childAge: 11 },
    ] as const
    const latest = registration({ children: [ivo] })
    answerWith([latest, registration({ children: [noa, { childName: 'IVO', childAge: 8 }] })])
    expect(await (await get('/api/family')).json()).toEqual({ children: [ivo, noa], address: latest.address })
    account = { email: maren.email, verified: false }
    expect(await (await get('/api/family')).json()).toEqual({ children: [], address: null })
    expect((await fetch(`${url}/api/family`)).status).toBe(401)
  })
})

describe('GET /api/dashboard/events', () => {
  it('sends each part at the start and then what has changed, until the sign-in ends', async () => {
    const held = registration({ status: 'held', payment: null, heldUntil: inDays(1) })
    answerWith([held])
    const stream = await get('/api/dashboard/events')
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    let text = ''
    const ended = (async () => {
      for await (const chunk of stream.body!) text += Buffer.from(chunk).toString()
    })()
    const names = () => [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
    await eventually(() => names().length === 5)
    expect(new Set(names())).toEqual(new Set(['unavailable', 'classes', 'waitlist', 'membership', 'orders']))

    answerWith([{ ...held, status: 'confirmed' }])
    const published = { registrationId: held.registrationId }
    await publish(published)
    await eventually(() => names().length === 6)
    expect(names().at(-1)).toBe('classes')
    expect(text.slice(text.lastIndexOf('event: '))).toContain('"status":"confirmed"')

    // Nobody else's events make it ask.
    const asked = enrollment.requests.length
    await publish({ registrationId: randomUUIDv7(), ownerId: randomUUIDv7() })
    await signOutEverywhere()
    account = 'signed out'
    answerWith([{ ...held, status: 'waiver_signed' }])
    await publish(published)
    await ended
    expect(text).not.toContain('waiver_signed')
    expect(enrollment.requests.length).toBe(asked + 1)
  })

  it('requires a session', async () => {
    expect((await fetch(`${url}/api/dashboard/events`)).status).toBe(401)
  })
})

describe('the link of a class', () => {
  const link = { meeting: 1, joinUrl: 'https://meet.example.com/room-7', passcode: null, closesAt: inDays(0) }

  it('is passed on only when enrollment gives it, and is not stored (C004)', async () => {
    const path = `/api/registrations/${randomUUIDv7()}/link`
    for (const code of ['class_link_not_open', 'waiver_not_signed', 'registration_not_paid'] as const) {
      enrollment.answer(json({ code, message: 'Not now.', requestId: 'stub' }, 409))
      const refused = await fetch(`${url}${path}`)
      expect([refused.status, await refused.json()]).toMatchObject([409, { code }])
    }
    enrollment.answer(json(link))
    const given = await fetch(`${url}${path}`)
    expect([given.headers.get('cache-control'), await given.json()]).toEqual(['no-store', link])
  })

  it('is that of the session’s account for a member', async () => {
    const membershipId = randomUUIDv7()
    enrollment.answer(json(link))
    expect((await fetch(`${url}/api/member-seats/${membershipId}/link`)).status).toBe(401)
    expect(await (await get(`/api/member-seats/${membershipId}/link?ownerId=${randomUUIDv7()}`)).json()).toEqual(link)
    expect(enrollment.requests).toEqual([`GET /member-seats/${membershipId}/link?ownerId=${maren.userId}`])
  })
})

describe('GET /api/dashboard/waivers/:id.pdf', () => {
  it('returns the signed waiver of the account, as enrollment decides', async () => {
    const waiverId = randomUUIDv7()
    enrollment.answer((request, response) => {
      if (request.url !== `/accounts/${maren.userId}/waivers/${waiverId}.pdf`) {
        return json({ code: 'not_found', message: 'There is no such waiver.', requestId: 'stub' }, 404)(
          request,
          response,
        )
      }
      response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7 signed')
    })
    const own = await get(`/api/dashboard/waivers/${waiverId}.pdf`)
    expect([own.status, own.headers.get('cache-control'), await own.text()]).toEqual([
      200,
      'private, no-store',
      '%PDF-1.7 signed',
    ])
    expect((await get(`/api/dashboard/waivers/${randomUUIDv7()}.pdf`)).status).toBe(404)
    expect((await fetch(`${url}/api/dashboard/waivers/${waiverId}.pdf`)).status).toBe(401)
  })

  it('says that the file is not made yet', async () => {
    enrollment.answer(json({ code: 'signed_pdf_not_ready', message: 'Not yet.', requestId: 'stub' }, 409))
    const answer = await get(`/api/dashboard/waivers/${randomUUIDv7()}.pdf`)
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'signed_pdf_not_ready' }])
  })
})

describe('the calendar that a family subscribes to', () => {
  const token = 'k7Vd3xQ2mB9nR4tW8yZ1aC5eG0hJ6lP-sT_uXvYwAbD'
  const calendar = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-NOTE:🤖\r\nEND:VCALENDAR\r\n'
  const serve = () =>
    enrollment.answer((request, response) => {
      if (request.url === `/accounts/${maren.userId}/calendar`) return json({ token })(request, response)
      if (request.url === `/accounts/${maren.userId}/calendar/renew`) return json({ token: 'new' })(request, response)
      if (request.url === `/calendars/${token}`)
        return response.writeHead(200, { 'content-type': 'text/calendar; charset=utf-8' }).end(calendar)
      return json({ code: 'calendar_not_found', message: 'There is none.', requestId: 'stub' }, 404)(request, response)
    })
  const post = (path: string, headers: Record<string, string> = { cookie: cookie() }) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, 'x-api-key': 'robokids-web' } })

  it('gives its address to the signed-in account with a verified address only', async () => {
    serve()
    const own = await post('/api/dashboard/calendar')
    expect(await own.json()).toEqual({ url: `http://localhost:3000/calendar/${token}.ics` })
    expect(own.headers.get('cache-control')).toContain('no-store')
    expect(await (await post('/api/dashboard/calendar/renew')).json()).toEqual({
      url: 'http://localhost:3000/calendar/new.ics',
    })
    expect((await post('/api/dashboard/calendar', {})).status).toBe(401)
    account = { email: maren.email, verified: false }
    expect((await post('/api/dashboard/calendar')).status).toBe(404)
  })

  it('is read without cookie, key or limit, by HEAD and with any encoding, and is kept by nobody (C040)', async () => {
    serve()
    const path = `${url}/calendar/${token}.ics`
    for (const encoding of ['gzip', 'identity']) {
      const answer = await fetch(path, { headers: { 'accept-encoding': encoding } })
      expect([answer.status, await answer.text()]).toEqual([200, calendar])
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/calendar; charset=utf-8',
        'content-disposition': 'inline; filename="robo-kids-classes.ics"',
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
      })
    }
    const head = await fetch(path, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      'text/calendar; charset=utf-8',
      '',
    ])
    const many = await Promise.all(Array.from({ length: 200 }, () => fetch(path)))
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('does not tell an unknown address from a replaced one, nor repeats it', async () => {
    serve()
    const answer = await fetch(`${url}/calendar/${'x'.repeat(43)}.ics`)
    const text = await answer.text()
    expect([answer.status, text]).toEqual([404, expect.stringContaining('calendar_not_found')])
    expect(text).not.toContain('x'.repeat(43))
    expect((await fetch(`${url}/calendar/${token}.ics`, { method: 'POST' })).status).toBeGreaterThanOrEqual(400)
  })
})

describe('the classes of a member', () => {
  const membershipId = randomUUIDv7()
  const path = '/api/dashboard/member-classes'
  const at = inDays(3)
  const booked = {
    bookingId: randomUUIDv7(),
    membershipId,
    classSessionId: randomUUIDv7(),
    classDate: '2030-01-04',
    startTime: '16:00',
    timeZone: 'America/Los_Angeles',
    durationMinutes: 75,
    startsAt: at,
    changeUntil: at,
  }
  const bookable: MemberClasses = {
    now: inDays(0),
    memberships: [{ membershipId, credits: 2, hasEnded: false, booked: [booked] }],
    dates: [],
  }
  const post = (to: string, body: object) =>
    fetch(`${url}${to}`, {
      method: 'POST',
      headers: { cookie: cookie(), 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
      body: JSON.stringify(body),
    })

  it('are those of the account that is signed in, also while billing is down, and of nobody else', async () => {
    enrollment.answer(json(bookable))
    billing.answer(json({ code: 'internal', message: 'Down.', requestId: 'stub' }, 500))
    const answer = await get(`${path}?userId=${randomUUIDv7()}`)
    expect(bookableClassesSchema.parse(await answer.json())).toMatchObject({ ...bookable, membership: null })
    expect(enrollment.requests).toEqual([`GET /accounts/${maren.userId}/member-classes`])
    expect((await fetch(`${url}${path}`)).status).toBe(401)
  })

  it('are booked, moved and canceled for that account, whatever a request says', async () => {
    enrollment.answer((request, response) => json(request.url?.endsWith('/cancel') ? {} : booked)(request, response))
    const id = randomUUIDv7()
    const other = { userId: randomUUIDv7(), ownerId: randomUUIDv7() }
    const { bookingId, classDate } = booked
    const sent = await Promise.all([
      post(path, { ...other, id, membershipId, classDate }),
      post(`${path}/${bookingId}/move`, { ...other, id, from: classDate, classDate: '2030-01-05' }),
      post(`${path}/${bookingId}/cancel`, { ...other, id, from: classDate, keepsCredit: true }),
    ])
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    const own = `/accounts/${maren.userId}/member-classes`
    expect(enrollment.requests.toSorted()).toEqual([
      `POST ${own}`,
      `POST ${own}/${bookingId}/cancel`,
      `POST ${own}/${bookingId}/move`,
    ])
  })

  it('are not shown before the address of the account is verified', async () => {
    account = { email: maren.email, verified: false }
    expect((await get(path)).status).toBe(404)
    expect(enrollment.requests).toEqual([])
  })
})
