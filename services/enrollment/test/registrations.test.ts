import { randomUUID, randomUUIDv7 } from 'node:crypto'
import {
  registrationExpired,
  registrationConfirmed,
  registrationHeld,
  registrationPageSchema,
  type Registration,
} from '@robokids/contracts/enrollment'
import { outbox } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { eq, isNull, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enrollment } from '../src/app.ts'
import { classSessions, registrations } from '../src/schema.ts'
import { spawnEnrollment } from './processes.ts'
import {
  adminHeaders,
  codeOf,
  startEnrollment,
  pathsOf,
  requestFor,
  type RequestBody,
  type EnrollmentFixture,
} from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterEach(() => fixture.resetClock())
afterAll(() => fixture.bed.stop())

describe('POST /registrations', () => {
  it('holds a seat for 36 minutes for a BFF that does not report opened pages', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    const answer = await fixture.register(request)
    expect(answer.status).toBe(200)
    const registration = answer.body as Registration
    expect(registration).toEqual({
      registrationId: request.id,
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      children: [{ childName: 'Ivo', childAge: 9 }],
      address: { addressLine1: '14 Alder Way', addressLine2: '', city: 'San Mateo', state: 'CA', zipCode: '94401' },
      classSessionId: session.id,
      classType: 'basic',
      levelTitle: 'Level 1 Foundations',
      startDate: session.date,
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      familyTimeZone: null,
      ownerId: null,
      status: 'held',
      heldUntil: expect.any(String),
      pageOpened: true,
      rejectionReason: null,
      places: [],
      payment: null,
      waiver: null,
      kit: null,
      createdAt: expect.any(String),
      updatedAt: registration.createdAt,
    })
    const minutes = Temporal.Instant.from(registration.createdAt)
      .until(registration.heldUntil ?? '')
      .total('minutes')
    expect(minutes).toBe(36)
    expect(await fixture.read(registration.registrationId)).toMatchObject(registration)

    const event = await fixture.bus.seen(registrationHeld, (data) => data.registrationId === request.id)
    expect(registrationHeld.schema.parse(event).data).toMatchObject({
      registrationId: request.id,
      levelTitle: 'Level 1 Foundations',
      classSessionId: session.id,
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      heldUntil: registration.heldUntil,
    })
  })

  it('keeps the first time zone of the family, and ignores it when comparing requests', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    const first = await fixture.register({ ...request, familyTimeZone: 'America/New_York' })
    expect(first).toMatchObject({ status: 200, body: { familyTimeZone: 'America/New_York' } })
    for (const familyTimeZone of ['Asia/Tokyo', undefined])
      expect((await fixture.register({ ...request, familyTimeZone })).body).toEqual(first.body)
    await fixture.pay(request.id)
    const [confirmed] = await fixture.waitForEvents(registrationConfirmed, request.id)
    expect(confirmed?.familyTimeZone).toBe('America/New_York')
    expect((await fixture.hold(session)).familyTimeZone).toBeNull()
    const answer = await fixture.register({ ...requestFor(session), familyTimeZone: '<b>' })
    expect([answer.status, codeOf(answer), pathsOf(answer)]).toEqual([400, 'validation_failed', ['familyTimeZone']])
  })

  it('answers 409 class_full when the last seat is taken', async () => {
    const session = await fixture.session({ capacity: 1 })
    await fixture.hold(session)
    const request = requestFor(session)
    const answer = await fixture.register(request)
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({
      code: 'class_full',
      message: 'This class is full. Please choose another date.',
    })
    expect((await fixture.call('GET', `/registrations/${request.id}`)).status).toBe(404)
    expect(await fixture.publishedEvents(registrationHeld, request.id)).toEqual([])
  })

  it('holds seats for all siblings or for none', async () => {
    const session = await fixture.session()
    for (let index = 0; index < 9; index += 1) await fixture.enroll(session)
    const both = requestFor(session, { siblings: [{ childName: 'Noa', childAge: 7 }] })
    expect(codeOf(await fixture.register(both))).toBe('class_full')
    expect(await fixture.seatsLeft(session)).toBe(1)
    expect((await fixture.call('GET', `/registrations/${both.id}`)).status).toBe(404)
    await fixture.hold(session)
    expect(await fixture.seatsLeft(session)).toBe(0)
  })

  it('takes a seat for each of ten children', async () => {
    const session = await fixture.session()
    const siblings = Array.from({ length: 9 }, (_, index) => ({ childName: `Child ${index}`, childAge: 7 }))
    const registration = await fixture.hold(session, { siblings })
    expect(registration.children).toEqual([{ childName: 'Ivo', childAge: 9 }, ...siblings])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 10, sold: 0 })
  })

  it.each([10, 999])('rejects one child with %s siblings', async (count) => {
    const session = await fixture.session()
    const siblings = Array.from({ length: count }, () => ({ childName: 'Noa', childAge: 7 }))
    const answer = await fixture.register(requestFor(session, { siblings }))
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    expect(pathsOf(answer)).toContain('siblings')
    expect(await fixture.seatsLeft(session)).toBe(10)
  })

  it('returns the same for a repeated request, and holds once', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    const first = await fixture.register(request)
    const again = await fixture.register({ ...request, guardianName: ' Maren Holt ', siblings: [] })
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    expect(await fixture.publishedEvents(registrationHeld, request.id)).toHaveLength(1)
  })

  it('holds once for ten concurrent identical requests', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.register(request)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    expect(await fixture.publishedEvents(registrationHeld, request.id)).toHaveLength(1)
  })

  it('accepts a repeated request even if the class is full or has begun', async () => {
    const session = await fixture.session({ capacity: 1 })
    const request = requestFor(session)
    await fixture.register(request)
    expect((await fixture.register(request)).body).toMatchObject({ status: 'held' })
    await fixture.pay(request.id)
    fixture.service.context.clock.set(session.startsAt.add({ hours: 1 }))
    expect((await fixture.register(request)).body).toMatchObject({ status: 'confirmed' })
  })

  it('returns the current state for a repeated request', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    await fixture.register(request)
    await fixture.call('POST', `/registrations/${request.id}/expire`, {}, adminHeaders)
    expect(await fixture.register(request)).toMatchObject({ status: 200, body: { status: 'expired', heldUntil: null } })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('answers 409 id_reused for the same id with other content', async () => {
    const session = await fixture.session()
    const other = await fixture.session()
    const request = requestFor(session)
    await fixture.register(request)
    for (const difference of [
      { childName: 'Noa' },
      { startDate: other.date },
      { siblings: [{ childName: 'Noa', childAge: 7 }] },
    ]) {
      const answer = await fixture.register({ ...request, ...difference })
      expect([answer.status, codeOf(answer)]).toEqual([409, 'id_reused'])
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    expect(await fixture.counts(other.id)).toMatchObject({ held: 0 })
  })

  it('answers 400 class_not_offered for a date without a class, with the field', async () => {
    for (const startDate of ['2025-10-03', '2029-07-04']) {
      const answer = await fixture.register({ ...requestFor(await fixture.session()), startDate })
      expect([answer.status, codeOf(answer), pathsOf(answer)]).toEqual([400, 'class_not_offered', ['startDate']])
    }
  })

  it.each([
    ['no name', { guardianName: undefined }, 'guardianName'],
    ['a blank name', { guardianName: '   ' }, 'guardianName'],
    ['a name of 101 characters', { guardianName: 'a'.repeat(101) }, 'guardianName'],
    ['a name that is a number', { guardianName: 7 }, 'guardianName'],
    ['a name with NUL', { guardianName: 'Ma\u0000ren' }, 'guardianName'],
    ['a name with a line break', { childName: 'Ivo\r\nBcc: spy@example.net' }, 'childName'],
    ['half a character', { childName: 'Ivo \ud83e' }, 'childName'],
    ['159 characters', { childName: 'a'.repeat(99) + '\u{1f916}'.repeat(60) }, 'childName'],
    ['a bidirectional override', { childName: '\u202eovI' }, 'childName'],
    ['an empty list for a name', { childName: [] }, 'childName'],
    ['no email', { email: '' }, 'email'],
    ['an email without a host', { email: 'maren' }, 'email'],
    ['an email with a line break', { email: 'maren@example.com\r\nRCPT TO:<spy@example.net>' }, 'email'],
    ['age 4', { childAge: 4 }, 'childAge'],
    ['age as text', { childAge: '9' }, 'childAge'],
    ['age and a half', { childAge: 9.5 }, 'childAge'],
    ['a huge age', { childAge: 1e308 }, 'childAge'],
    ['age 100', { childAge: 100 }, 'childAge'],
    ['age 999', { childAge: 999 }, 'childAge'],
    ['a sibling of 999', { siblings: [{ childName: 'Noa', childAge: 999 }] }, 'siblings.0.childAge'],
    ['a zip as a number', { zipCode: 2139 }, 'zipCode'],
    ['a zip of 4 digits', { zipCode: '2139' }, 'zipCode'],
    ['a zip of 9 digits', { zipCode: '94401-1234' }, 'zipCode'],
    ['a zip of wide digits', { zipCode: '９４４０１' }, 'zipCode'],
    ['an unknown class', { classType: 'expert' }, 'classType'],
    ['the members’ class', { classType: 'membership' }, 'classType'],
    ['a date that does not exist', { startDate: '2027-02-30' }, 'startDate'],
    ['a date with a time', { startDate: '2030-01-01T00:00:00Z' }, 'startDate'],
    ['no date', { startDate: '' }, 'startDate'],
    ['an id that is no UUIDv7', { id: randomUUID() }, 'id'],
    ['no id', { id: undefined }, 'id'],
    ['siblings that are no list', { siblings: 'Noa' }, 'siblings'],
    ['a sibling of 4', { siblings: [{ childName: 'Noa', childAge: 4 }] }, 'siblings.0.childAge'],
    ['no address', { addressLine1: undefined }, 'addressLine1'],
    ['a city of 101 characters', { city: 'a'.repeat(101) }, 'city'],
  ])('answers 400 for %s', async (_, difference, path) => {
    const session = await fixture.session()
    const answer = await fixture.call('POST', '/registrations', { ...requestFor(session), ...difference })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    expect(pathsOf(answer)).toContain(path)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it.each([
    ['as it is', 'Zoë Ann'],
    ['in lower case', 'zoë ann'],
    ['without its accent', 'Zoe Ann'],
    ['with a combining accent', 'Zoe\u0308 Ann'],
    ['with surrounding spaces', '  Zoë Ann '],
    ['with more spaces', 'Zoë  \u00a0Ann'],
    ['in wide letters', 'Ｚｏë Ａｎｎ'],
    ['with an invisible character', 'Zo\u200bë Ann'],
  ])('rejects a child as its own (free) sibling, %s, and holds nothing', async (_, childName) => {
    const session = await fixture.session()
    const request = {
      ...requestFor(session),
      childName: 'Zoë Ann',
      childAge: 9,
      siblings: [
        { childName: 'Noa', childAge: 9 },
        { childName, childAge: 9 },
      ],
    }
    for (const path of ['/registrations', '/registrations/judge']) {
      const answer = await fixture.call('POST', path, request)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
      expect(pathsOf(answer)).toEqual(['siblings.1.childName'])
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
    // Twins have different names, and cousins with the same name different ages.
    const other = { ...request, siblings: [{ childName, childAge: 8 }] }
    expect((await fixture.call('POST', '/registrations', other)).status).toBe(200)
  })

  it.each([
    ['nothing', '', 'application/json', 400, 'malformed_body'],
    ['half an object', '{"id":', 'application/json', 400, 'malformed_body'],
    ['a list', '[]', 'application/json', 400, 'validation_failed'],
    ['null', 'null', 'application/json', 400, 'validation_failed'],
    [
      'a megabyte',
      JSON.stringify({ guardianName: 'a'.repeat(1_000_000) }),
      'application/json',
      413,
      'payload_too_large',
    ],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  ])('answers a 4xx for %s', async (_, body, type, status, code) => {
    const answer = await fixture.call('POST', '/registrations', body, { 'content-type': type })
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
  })

  it('stores unusual names and addresses as typed', async () => {
    const names = [
      'Zoë Ångström-Łukasiewicz',
      'Nguyễn Thị Ánh',
      '张伟',
      'محمد',
      'עדי לוי',
      '한글 이름',
      "D'Arcy & Jo <3",
      'Ivo 🤖',
      '👩‍👩‍👧‍👦',
      '=1+1',
      `"quoted" \\ 'name'; drop table registrations;--`,
      '{"a":1}',
      'true',
      '１２３',
      'a'.repeat(100),
      '🤖'.repeat(100),
    ]
    for (const name of names) {
      const session = await fixture.session()
      const typed = {
        guardianName: name,
        childName: name,
        siblings: [{ childName: name, childAge: 17 }],
        email: 'maren+robo.kids@example.com',
        addressLine1: name,
        addressLine2: name,
        city: name,
        state: name,
        zipCode: '02139',
      }
      const { registrationId } = await fixture.hold(session, typed)
      const expected = {
        guardianName: name,
        email: typed.email,
        children: [
          { childName: name, childAge: 9 },
          { childName: name, childAge: 17 },
        ],
        address: { addressLine1: name, addressLine2: name, city: name, state: name, zipCode: '02139' },
      }
      expect(await fixture.read(registrationId)).toMatchObject(expected)
      expect(await fixture.publishedEvents(registrationHeld, registrationId)).toMatchObject([expected])
    }
  })

  it('trims the fields', async () => {
    const session = await fixture.session()
    const registration = await fixture.hold(session, {
      guardianName: '  Maren Holt ',
      zipCode: '94401 ',
      email: ' maren.holt@example.com ',
    })
    expect(registration).toMatchObject({
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      address: { zipCode: '94401' },
    })
  })

  it(
    'sells exactly the last ten seats to two hundred parents who register concurrently with two processes',
    { timeout: 180_000 },
    async () => {
      const session = await fixture.session()
      const env = { DATABASE_URL: fixture.service.databaseUrl, NATS_URL: fixture.bed.nats.url }
      const processes = await Promise.all([spawnEnrollment(env), spawnEnrollment(env)])
      try {
        const answers = await Promise.all(
          Array.from({ length: 200 }, (_, index) => {
            const request = requestFor(session, { email: `parent-${index}@example.com` })
            return fixture.register(request, processes[index % 2]?.url)
          }),
        )
        const held = answers.filter((answer) => answer.status === 200)
        expect(held).toHaveLength(10)
        for (const { body } of held) expect(body).toMatchObject({ status: 'held' })
        const refused = answers.filter((answer) => answer.status === 409 && codeOf(answer) === 'class_full')
        expect(refused).toHaveLength(190)
        expect(await fixture.counts(session.id)).toMatchObject({ held: 10, sold: 0 })
        expect(await fixture.db.$count(registrations, eq(registrations.classSessionId, session.id))).toBe(10)
        for (const { body } of held) {
          const { registrationId } = body as Registration
          await fixture.bus.seen(registrationHeld, (data) => data.registrationId === registrationId)
        }
        expect(fixture.bus.all(registrationHeld, (data) => data.classSessionId === session.id)).toHaveLength(10)
      } finally {
        await Promise.all(processes.map((process) => process.stop()))
      }
    },
  )

  it('answers 503 and holds nothing if its database connection breaks, and then recovers', async () => {
    const session = await fixture.session()
    const requests = Array.from({ length: 5 }, () => requestFor(session, { email: `${randomUUIDv7()}@example.com` }))
    const waiting = await fixture.db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from ${classSessions} where id = ${session.id} for update`)
      const answers = requests.map((request) => fixture.register(request))
      await eventually(async () => {
        const { rows: blocked } = await fixture.db.execute(sql`
          select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%update class_sessions%'`)
        return blocked.length === requests.length
      })
      await fixture.db.execute(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%update class_sessions%'`)
      return Promise.all(answers)
    })
    for (const answer of waiting) {
      expect([answer.status, codeOf(answer)]).toEqual([503, 'upstream_unavailable'])
      expect(answer.headers.get('retry-after')).not.toBeNull()
    }
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
    const again = await Promise.all(requests.map((request) => fixture.register(request)))
    expect(again.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200])
    for (let index = 0; index < 5; index += 1) await fixture.hold(session)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 10 })
  })

  it('publishes each hold once, even one that commits after later ones', async () => {
    const slow = await fixture.session()
    const busy = await fixture.session({ capacity: 50 })
    const late = requestFor(slow, { email: `${randomUUIDv7()}@example.com` })
    let pending: Promise<unknown> | undefined
    await fixture.db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from ${classSessions} where id = ${slow.id} for update`)
      pending = fixture.register(late)
      await Promise.all(Array.from({ length: 50 }, () => fixture.hold(busy)))
      await eventually(() => fixture.bus.all(registrationHeld, (data) => data.classSessionId === busy.id).length === 50)
    })
    expect(await pending).toMatchObject({ status: 200 })
    await fixture.bus.seen(registrationHeld, (data) => data.registrationId === late.id)
    await eventually(async () => (await fixture.db.$count(outbox, isNull(outbox.publishedAt))) === 0)
    expect(fixture.bus.all(registrationHeld, (data) => data.classSessionId === busy.id)).toHaveLength(50)
    expect(fixture.bus.all(registrationHeld, (data) => data.registrationId === late.id)).toHaveLength(1)
  })
})

describe('an id in upper case', () => {
  it('is the same registration, in the body and in the path', async () => {
    const session = await fixture.session()
    const request = requestFor(session)
    const upper = await fixture.register({ ...request, id: request.id.toUpperCase() })
    expect(upper).toMatchObject({ status: 200, body: { registrationId: request.id } })
    expect((await fixture.register(request)).body).toEqual(upper.body)
    expect(await fixture.read(request.id.toUpperCase())).toMatchObject(upper.body as object)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })
})

describe('POST /registrations with replaces', () => {
  it('releases the seats of the unpaid one for the new one, even if they were the last', async () => {
    const session = await fixture.session({ capacity: 1 })
    const old = await fixture.hold(session)
    const answer = await fixture.register(requestFor(session, { city: 'Fresno', replaces: old.registrationId }))
    expect(answer).toMatchObject({ status: 200, body: { status: 'held' } })
    expect(await fixture.read(old.registrationId)).toMatchObject({ status: 'expired', heldUntil: null })
    expect(await fixture.publishedEvents(registrationExpired, old.registrationId)).toHaveLength(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1, sold: 0 })
  })

  it('keeps the old seats if there are none for the new one', async () => {
    const [mine, full] = [await fixture.session(), await fixture.session({ capacity: 1 })]
    await fixture.hold(full, { email: `${randomUUIDv7()}@example.com` })
    const old = await fixture.hold(mine)
    const answer = await fixture.register(requestFor(full, { replaces: old.registrationId }))
    expect([answer.status, codeOf(answer)]).toEqual([409, 'class_full'])
    expect(await fixture.read(old.registrationId)).toMatchObject(old)
    expect(await fixture.publishedEvents(registrationExpired, old.registrationId)).toEqual([])
  })

  it('returns the same for a repeated request, and holds once', async () => {
    const session = await fixture.session()
    const old = await fixture.hold(session)
    const request = requestFor(session, { city: 'Fresno', replaces: old.registrationId.toUpperCase() })
    const answers = await Promise.all(Array.from({ length: 5 }, () => fixture.register(request)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { registrationId: request.id } })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    expect(await fixture.publishedEvents(registrationExpired, old.registrationId)).toHaveLength(1)
  })

  it('answers 409 already_paid with a reference if the old one is paid', async () => {
    const session = await fixture.session()
    const paid = await fixture.enroll(session)
    const request = requestFor(session, { city: 'Fresno', replaces: paid.registrationId })
    for (const path of ['/registrations', '/registrations/judge']) {
      const answer = await fixture.call('POST', path, request)
      expect(answer).toMatchObject({ status: 409, body: { code: 'already_paid', reference: paid.registrationId } })
    }
    expect(await fixture.read(paid.registrationId)).toEqual(paid)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('holds seats if the old one does not exist', async () => {
    const session = await fixture.session()
    expect(await fixture.register(requestFor(session, { replaces: randomUUIDv7() }))).toMatchObject({ status: 200 })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1, sold: 0 })
  })

  it('ends the new hold if the old one was paid after all, even if it has the last seat', async () => {
    const session = await fixture.session({ capacity: 1 })
    const old = await fixture.hold(session)
    const changed = await fixture.hold(session, { city: 'Fresno', replaces: old.registrationId })
    await fixture.pay(old.registrationId)
    await fixture.waitForStatus(old.registrationId, 'confirmed')
    expect((await fixture.read(changed.registrationId)).status).toBe('expired')
    expect(await fixture.publishedEvents(registrationExpired, changed.registrationId)).toHaveLength(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('keeps seats on another date until the new one has its payment page', async () => {
    const [first, second] = [await fixture.session({ capacity: 1 }), await fixture.session({ capacity: 1 })]
    const old = await fixture.hold(first)
    const changed = await fixture.hold(second, { replaces: old.registrationId })
    expect(await fixture.read(old.registrationId)).toMatchObject(old)
    expect((await fixture.call('POST', `/registrations/${old.registrationId}/hold`)).status).toBe(200)
    await fixture.checkoutCreated(changed.registrationId)
    expect((await fixture.read(old.registrationId)).status).toBe('expired')
    expect((await fixture.read(changed.registrationId)).status).toBe('held')
    expect([await fixture.counts(first.id), await fixture.counts(second.id)]).toMatchObject([{ held: 0 }, { held: 1 }])
  })

  it('ends a hold on another date when the new one is paid, even if the payment arrives first', async () => {
    const [first, second] = [await fixture.session(), await fixture.session()]
    const old = await fixture.hold(first)
    const changed = await fixture.hold(second, { replaces: old.registrationId })
    await fixture.pay(changed.registrationId)
    await fixture.checkoutCreated(changed.registrationId)
    expect((await fixture.read(old.registrationId)).status).toBe('expired')
    expect([await fixture.counts(first.id), await fixture.counts(second.id)]).toMatchObject([
      { held: 0, sold: 0 },
      { held: 0, sold: 1 },
    ])
  })

  it('returns the seat to the old one while the new one has no payment page, and not afterwards', async () => {
    const session = await fixture.session({ capacity: 1 })
    const old = await fixture.hold(session)
    const change = async () => fixture.hold(session, { city: 'Fresno', replaces: old.registrationId })
    const first = await change()
    const again = () => fixture.call('POST', `/registrations/${old.registrationId}/hold`)
    expect(await again()).toMatchObject({ status: 200, body: { status: 'held' } })
    expect((await fixture.read(first.registrationId)).status).toBe('expired')
    const second = await change()
    await fixture.checkoutCreated(second.registrationId)
    const refused = await again()
    expect([refused.status, codeOf(refused)]).toEqual([409, 'already_registered'])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('does not deadlock with many concurrent swaps between two classes', async () => {
    const [one, two] = [await fixture.session({ capacity: 20 }), await fixture.session({ capacity: 20 })]
    const swaps = Array.from({ length: 16 }, async (_, index) => {
      const [from, to] = index % 2 === 0 ? [one, two] : [two, one]
      const old = await fixture.hold(from)
      const { registrationId } = await fixture.hold(to, { replaces: old.registrationId })
      await fixture.checkoutCreated(registrationId)
    })
    await Promise.all(swaps)
    expect([await fixture.counts(one.id), await fixture.counts(two.id)]).toMatchObject([{ held: 8 }, { held: 8 }])
  })
})

describe('POST /registrations/judge', () => {
  const check = (body: unknown) => fixture.call('POST', '/registrations/judge', body)

  it('rejects what POST /registrations would reject, and holds nothing', async () => {
    const [session, full] = [await fixture.session(), await fixture.session({ capacity: 1 })]
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const held = await fixture.hold(session, family)
    await fixture.hold(full)
    const requests: [Partial<RequestBody>, string][] = [
      [{ city: 'Fresno' }, 'already_registered'],
      [{ id: held.registrationId, childName: 'Noa' }, 'id_reused'],
      [{ startDate: full.date }, 'class_full'],
      [{ startDate: '2029-07-04' }, 'class_not_offered'],
      [{ childAge: 4 }, 'validation_failed'],
    ]
    for (const [difference, code] of requests) {
      const request = requestFor(session, { ...family, ...difference })
      expect(codeOf(await check(request))).toBe(code)
      expect(codeOf(await fixture.register(request))).toBe(code)
    }
    expect([await fixture.counts(session.id), await fixture.counts(full.id)]).toMatchObject([{ held: 1 }, { held: 1 }])
  })

  it('returns the existing registration that would be returned, or null for a new one', async () => {
    const session = await fixture.session({ capacity: 1 })
    const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
    const first = requestFor(session, family)
    expect(await check(first)).toMatchObject({ status: 200, body: { registrationId: null } })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
    await fixture.register(first)
    for (const same of [first, requestFor(session, family)])
      expect(await check(same)).toMatchObject({ status: 200, body: { registrationId: first.id } })
    // The seat of the replaced registration counts as free.
    const changed = requestFor(session, { ...family, city: 'Fresno', replaces: first.id })
    expect(await check(changed)).toMatchObject({ status: 200, body: { registrationId: null } })
    expect((await fixture.read(first.id)).status).toBe('held')
  })
})

describe('POST /registrations with unlessRegistered', () => {
  const mine = () => ({ email: `${randomUUIDv7()}@example.com`, unlessRegistered: true })

  it('returns an identical active registration', async () => {
    const session = await fixture.session()
    const family = mine()
    const held = await fixture.hold(session, family)
    const again = await fixture.register(requestFor(session, { ...family, email: family.email.toUpperCase() }))
    expect(again.body).toEqual(held)
    await fixture.pay(held.registrationId)
    const paid = await fixture.waitForStatus(held.registrationId, 'confirmed')
    expect(paid).toMatchObject((await fixture.register(requestFor(session, family))).body as object)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it.each([
    ['held', /already held for IVO.*36 minutes/],
    ['confirmed', /IVO is already registered for this class and date/],
  ] as const)(
    'answers 409 already_registered with the field if the child has a seat that is %s',
    async (status, text) => {
      const session = await fixture.session()
      const family = mine()
      await (status === 'held' ? fixture.hold(session, family) : fixture.enroll(session, family))
      const before = await fixture.counts(session.id)
      const other = { ...family, childName: 'Noa', siblings: [{ childName: 'IVO', childAge: 10 }] }
      const answer = await fixture.register(requestFor(session, other))
      expect([answer.status, codeOf(answer), pathsOf(answer)]).toEqual([
        409,
        'already_registered',
        ['siblings.0.childName'],
      ])
      expect((answer.body as { message: string }).message).toMatch(text)
      expect(JSON.stringify(answer.body)).not.toContain('Alder')
      expect(await fixture.counts(session.id)).toEqual(before)
    },
  )

  it('accepts another child, date or family, and one whose seats were released', async () => {
    const [one, two] = [await fixture.session(), await fixture.session()]
    const family = mine()
    const held = await fixture.hold(one, family)
    await fixture.hold(one, { ...family, childName: 'Noa' })
    await fixture.hold(two, family)
    await fixture.hold(one, mine())
    await fixture.call('POST', `/registrations/${held.registrationId}/expire`, {}, adminHeaders)
    await fixture.hold(one, { ...family, city: 'Fresno' })
    expect(await fixture.counts(one.id)).toMatchObject({ held: 3 })
  })

  it('does not count the unpaid one that it replaces', async () => {
    const session = await fixture.session()
    const family = mine()
    const old = await fixture.hold(session, family)
    await fixture.hold(session, { ...family, city: 'Fresno', replaces: old.registrationId })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('holds once for ten tabs that submit concurrently', async () => {
    const session = await fixture.session()
    const family = mine()
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.register(requestFor(session, family))))
    expect(new Set(answers.map(({ body }) => (body as Registration).registrationId)).size).toBe(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('creates a registration per id if omitted', async () => {
    const session = await fixture.session()
    await fixture.hold(session)
    await fixture.hold(session)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 2 })
  })
})

describe('an overdue hold', () => {
  it('expires once, releases its seats, is published once, and stays on record', async () => {
    const session = await fixture.session()
    const email = `ada.lind-${randomUUIDv7()}@example.com`
    const { registrationId } = await fixture.hold(session, { email, siblings: [{ childName: 'Noa', childAge: 7 }] })
    const attemptId = await fixture.checkoutCreated(registrationId)
    fixture.service.context.clock.advance({ minutes: 35, seconds: 50 })
    fixture.service.wakeAll()
    expect((await fixture.read(registrationId)).status).toBe('held')
    fixture.service.context.clock.advance({ seconds: 11 })
    fixture.service.wakeAll()
    const expired = await fixture.waitForStatus(registrationId, 'expired')
    expect(expired.heldUntil).toBeNull()
    fixture.service.wakeAll()
    await fixture.checkoutExpired(registrationId, attemptId)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect(await fixture.publishedEvents(registrationExpired, registrationId)).toHaveLength(1)
    await fixture.bus.seen(registrationExpired, (data) => data.registrationId === registrationId)

    const { body } = await fixture.call(
      'GET',
      `/registrations?email=${encodeURIComponent(email.toUpperCase())}`,
      undefined,
      adminHeaders,
    )
    // The list leaves out the schedules.
    expect([expired]).toMatchObject(registrationPageSchema.parse(body).registrations)
  })

  it('releases the seats of many sessions in one run, in two concurrent processes', async () => {
    const second = await fixture.bed.start(enrollment, { DATABASE_URL: fixture.service.databaseUrl })
    const sessions = await Promise.all(Array.from({ length: 5 }, () => fixture.session({ capacity: 60 })))
    const held = await Promise.all(
      sessions.flatMap((session) => Array.from({ length: 30 }, () => fixture.hold(session))),
    )
    fixture.service.context.clock.advance({ minutes: 40 })
    second.context.clock.advance({ minutes: 40 })
    fixture.service.wakeAll()
    second.wakeAll()
    for (const { registrationId } of held) await fixture.waitForStatus(registrationId, 'expired')
    for (const session of sessions) expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    for (const { registrationId } of held)
      expect(await fixture.publishedEvents(registrationExpired, registrationId)).toHaveLength(1)
    await second.stop()
  })
})

describe('POST /registrations/:id/expire', () => {
  it('needs the admin secret', async () => {
    const { registrationId } = await fixture.hold(await fixture.session())
    for (const headers of [{}, { 'x-admin-secret': 'wrong-secret' }]) {
      const answer = await fixture.call('POST', `/registrations/${registrationId}/expire`, {}, headers)
      expect([answer.status, codeOf(answer)]).toEqual([401, 'admin_secret_invalid'])
    }
    expect((await fixture.read(registrationId)).status).toBe('held')
  })

  it('ends a hold immediately, once', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    for (let time = 0; time < 2; time += 1) {
      const answer = await fixture.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
      expect(answer).toMatchObject({ status: 200, body: { status: 'expired' } })
    }
    expect(await fixture.publishedEvents(registrationExpired, registrationId)).toHaveLength(1)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('answers 409 for a paid registration, says how to cancel it, and leaves it unchanged', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.enroll(session)
    const answer = await fixture.call('POST', `/registrations/${registrationId}/expire`, {}, adminHeaders)
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'registration_closed', message: expect.stringContaining('Refunding its payment cancels it') },
    })
    expect((await fixture.read(registrationId)).status).toBe('confirmed')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 1 })
  })

  it('answers 404 for an unknown registration', async () => {
    const answer = await fixture.call('POST', `/registrations/${randomUUIDv7()}/expire`, {}, adminHeaders)
    expect([answer.status, codeOf(answer)]).toEqual([404, 'registration_not_found'])
  })
})

describe('POST /registrations/:id/hold', () => {
  const hold = (id: string) => fixture.call('POST', `/registrations/${id}/hold`)
  const expire = (id: string) => fixture.call('POST', `/registrations/${id}/expire`, {}, adminHeaders)

  it('takes the seats of an expired registration again', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session, { siblings: [{ childName: 'Noa', childAge: 7 }] })
    await expire(registrationId)
    const answer = await hold(registrationId)
    expect(answer).toMatchObject({ status: 200, body: { status: 'held' } })
    const { heldUntil } = answer.body as Registration
    expect(
      Temporal.Now.instant()
        .until(heldUntil ?? '')
        .total('minutes'),
    ).toBeGreaterThan(35)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 2, sold: 0 })
    expect(await fixture.publishedEvents(registrationHeld, registrationId)).toHaveLength(2)
  })

  it('extends an active hold without taking another seat', async () => {
    const session = await fixture.session()
    const { registrationId, heldUntil } = await fixture.hold(session)
    fixture.service.context.clock.advance({ minutes: 20 })
    const answer = await hold(registrationId)
    const extended = (answer.body as Registration).heldUntil
    expect(
      Temporal.Instant.from(heldUntil ?? '')
        .until(extended ?? '')
        .total('minutes'),
    ).toBeGreaterThan(19)
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
    expect(await fixture.publishedEvents(registrationHeld, registrationId)).toHaveLength(1)
  })

  it('answers 409 class_full if others have taken the seats', async () => {
    const session = await fixture.session({ capacity: 2 })
    const { registrationId } = await fixture.hold(session, { siblings: [{ childName: 'Noa', childAge: 7 }] })
    await expire(registrationId)
    await fixture.hold(session, { email: `${randomUUIDv7()}@example.com` })
    const answer = await hold(registrationId)
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'class_full', message: 'This class is full. Please choose another date.' },
    })
    expect((await fixture.read(registrationId)).status).toBe('expired')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it('takes the seats once for five concurrent requests', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    await expire(registrationId)
    const answers = await Promise.all(Array.from({ length: 5 }, () => hold(registrationId)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { status: 'held' } })
    expect(await fixture.counts(session.id)).toMatchObject({ held: 1 })
  })

  it.each(['held', 'confirmed'] as const)(
    'answers 409 already_registered if the child has a seat by now through another one that is %s',
    async (status) => {
      const session = await fixture.session({ capacity: 2 })
      const family = { email: `${randomUUIDv7()}@example.com`, unlessRegistered: true }
      const { registrationId } = await fixture.hold(session, family)
      await expire(registrationId)
      await (status === 'held' ? fixture.hold(session, family) : fixture.enroll(session, family))
      const before = await fixture.counts(session.id)
      const answer = await hold(registrationId)
      expect([answer.status, codeOf(answer)]).toEqual([409, 'already_registered'])
      expect(answer.body).not.toHaveProperty('reference')
      expect((await fixture.read(registrationId)).status).toBe('expired')
      expect(await fixture.counts(session.id)).toEqual(before)
    },
  )

  it('answers 409 registration_closed for a paid registration', async () => {
    const { registrationId } = await fixture.enroll(await fixture.session())
    const answer = await hold(registrationId)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'registration_closed'])
  })

  it('answers 400 class_not_offered once the class has begun', async () => {
    const session = await fixture.session()
    const { registrationId } = await fixture.hold(session)
    await expire(registrationId)
    fixture.service.context.clock.set(session.startsAt)
    const answer = await hold(registrationId)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'class_not_offered'])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0 })
  })

  it('answers 404 for an unknown id, 400 for an invalid one', async () => {
    expect(codeOf(await hold(randomUUIDv7()))).toBe('registration_not_found')
    expect(codeOf(await hold('maren'))).toBe('validation_failed')
  })
})

describe('GET /registrations', () => {
  it('needs the admin secret', async () => {
    const answer = await fixture.call('GET', '/registrations')
    expect([answer.status, codeOf(answer)]).toEqual([401, 'admin_secret_invalid'])
  })

  it('pages through all registrations, newest first, each once', async () => {
    const session = await fixture.session({ capacity: 5 })
    const email = `pages-${randomUUIDv7()}@example.com`
    const made = []
    for (let index = 0; index < 5; index += 1) made.push((await fixture.hold(session, { email })).registrationId)
    const seen: string[] = []
    const sizes: number[] = []
    let cursor: string | null = null
    do {
      const query = `email=${encodeURIComponent(email)}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`
      const page = registrationPageSchema.parse(
        (await fixture.call('GET', `/registrations?${query}`, undefined, adminHeaders)).body,
      )
      seen.push(...page.registrations.map((registration) => registration.registrationId))
      sizes.push(page.registrations.length)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(made.toReversed())
    expect(sizes).toEqual([2, 2, 1])
  })

  it('orders by creation time, not by the client’s ids', async () => {
    const session = await fixture.session()
    const email = `order-${randomUUIDv7()}@example.com`
    const tail = randomUUIDv7().slice(-12)
    const [last, first] = [`ffffffff-ffff-7fff-bfff-${tail}`, `00000000-0000-7000-8000-${tail}`]
    for (const id of [last, first]) {
      await fixture.hold(session, { email, id })
      fixture.service.context.clock.set(fixture.service.context.clock.now().add({ seconds: 1 }))
    }
    const page = async (query: string) =>
      registrationPageSchema.parse(
        (await fixture.call('GET', `/registrations?email=${email}&limit=1${query}`, undefined, adminHeaders)).body,
      )
    const newest = await page('')
    const oldest = await page(`&cursor=${newest.nextCursor ?? ''}`)
    expect([newest, oldest].map(({ registrations: [one] }) => one?.registrationId)).toEqual([first, last])
    expect(oldest.nextCursor).toBeNull()
  })

  it('filters by status', async () => {
    const session = await fixture.session()
    const email = `status-${randomUUIDv7()}@example.com`
    await fixture.hold(session, { email })
    const paid = await fixture.enroll(session, { email })
    const { body } = await fixture.call(
      'GET',
      `/registrations?status=confirmed&email=${email}`,
      undefined,
      adminHeaders,
    )
    // The list leaves out the schedules.
    expect([paid]).toMatchObject(registrationPageSchema.parse(body).registrations)
  })

  it.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'cursor=x',
    `cursor=2026-99-99T00:00:00.000Z_${randomUUIDv7()}`,
    'status=paid',
  ])('answers 400 for %s', async (query) => {
    const answer = await fixture.call('GET', `/registrations?${query}`, undefined, adminHeaders)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
  })
})
