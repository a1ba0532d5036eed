import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { errorBodySchema } from '@robokids/contracts/errors'
import { fetchProven } from '@robokids/local/prove'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
let date: string
beforeAll(async () => {
  system = await startSystem()
  date = (await system.openDates())[0]?.date ?? ''
})
afterAll(() => system.stop())

const family = (differences: object = {}) => ({
  ...sampleFamily(),
  classType: 'basic',
  startDate: date,
  ...differences,
})

async function rows(): Promise<unknown> {
  const [enrollment] = await system.sql('enrollment')`
    select (select count(*)::int from registrations) as registrations, (select count(*)::int from waivers) as waivers,
           (select sum(held + sold)::int from class_sessions) as seats, (select count(*)::int from outbox) as outbox`
  const [billing] = await system.sql('billing')`select (select count(*)::int from checkout_attempts) as attempts`
  return { ...enrollment, ...billing }
}

const headers = () => ({ 'content-type': 'application/json', 'x-api-key': 'robokids-web', origin: system.siteUrl })

async function send(path: string, body: string, given: Record<string, string> = headers(), method = 'POST') {
  const answer = await fetchProven(system.siteUrl + path, {
    method,
    headers: given,
    ...(method === 'GET' ? {} : { body }),
  })
  const text = await answer.text()
  return { status: answer.status, text, body: () => errorBodySchema.parse(JSON.parse(text)) }
}

/**
 * Announces a body of that size and returns the status. The body is not sent: it would race with the server, which
 * rejects it by its length and closes.
 */
async function announce(path: string, bytes: number, given: Record<string, string>): Promise<number | undefined> {
  const asking = request(system.siteUrl + path, { method: 'POST', headers: { ...given, 'content-length': bytes } })
  asking.flushHeaders()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  asking.destroy()
  return answer.statusCode
}

/** The fault, the field that the response names, and the message where its words matter. */
const badFields: [string, object, string, string?][] = [
  ['no guardian name', { guardianName: undefined }, 'guardianName', 'Guardian name is required.'],
  ['an empty guardian name', { guardianName: '   ' }, 'guardianName', 'Guardian name is required.'],
  ['a guardian name that is a number', { guardianName: 7 }, 'guardianName'],
  ['a guardian name that is a list', { guardianName: ['Maren'] }, 'guardianName'],
  ['a guardian name of 101 characters', { guardianName: 'a'.repeat(101) }, 'guardianName'],
  ['a child name of 200 characters', { childName: '玛丽亚'.repeat(67) }, 'childName'],
  ['a NUL character in a name', { childName: 'Ivo\u0000' }, 'childName'],
  ['a header smuggled into a name', { childName: 'Ivo\r\nBcc: spy@example.net' }, 'childName'],
  ['a header smuggled into the email', { email: 'maren@example.com\r\nRCPT TO:<spy@example.net>' }, 'email'],
  ['an email that is none', { email: 'maren' }, 'email'],
  ['no email', { email: undefined }, 'email'],
  ['no child', { childName: undefined, childAge: undefined }, 'childName'],
  ['age 4', { childAge: 4 }, 'childAge', 'A child must be at least 5 years old.'],
  ['half an age', { childAge: 9.5 }, 'childAge'],
  ['an age in words', { childAge: 'nine' }, 'childAge'],
  ['no age', { childAge: null }, 'childAge'],
  ['a zip of four digits', { zipCode: '2139' }, 'zipCode', 'Zip code must be exactly five digits.'],
  ['a zip that is a number', { zipCode: 2139 }, 'zipCode'],
  ['a zip with four more digits', { zipCode: '94401-1234' }, 'zipCode'],
  ['a zip in other digits', { zipCode: '９４４０１' }, 'zipCode'],
  ['a name that cannot be seen', { guardianName: '\u200b\u3164' }, 'guardianName', 'Guardian name is required.'],
  ['a city that cannot be seen', { city: '\u00ad' }, 'city', 'City is required.'],
  ['what is no character', { childName: 'Ivo\uffff' }, 'childName'],
  ['an email of too long a name', { email: `${'a'.repeat(65)}@example.com` }, 'email'],
  ['no city', { city: '' }, 'city'],
  ['no state', { state: undefined }, 'state'],
  ['no address', { addressLine1: '' }, 'addressLine1'],
  ['an unknown class', { classType: 'expert' }, 'classType'],
  ['the members’ class', { classType: 'membership' }, 'classType'],
  ['a date that is none', { startDate: '2027-02-30' }, 'startDate'],
  ['a date in words', { startDate: 'tomorrow' }, 'startDate'],
  ['a past date', { startDate: '2025-10-03' }, 'startDate'],
  ['a date without a class', { startDate: '2031-05-05' }, 'startDate'],
  ['siblings that are no list', { siblings: 'Noa' }, 'siblings'],
  ['ten siblings', { siblings: Array.from({ length: 10 }, () => ({ childName: 'Noa', childAge: 7 })) }, 'siblings'],
  [
    'a thousand siblings',
    { siblings: Array.from({ length: 1000 }, () => ({ childName: 'Noa', childAge: 7 })) },
    'siblings',
  ],
  ['a sibling of 4', { siblings: [{ childName: 'Noa', childAge: 4 }] }, 'siblings.0.childAge'],
  ['an id that is no UUIDv7', { id: '1' }, 'id'],
  ['a replaced id that is none', { replaces: 'x' }, 'replaces'],
  ['an id of another version', { id: 'c56a4180-65aa-42ec-a945-5fd21dec0538' }, 'id'],
]

describe('POST /api/registrations', () => {
  it.each(badFields)(
    'A registration with %s is rejected for its field, and nothing is written',
    async (_what, differences, field, message) => {
      const before = await rows()
      const answer = await send('/api/registrations', JSON.stringify(family(differences)))
      expect(answer.status).toBe(400)
      const issue = answer.body().issues?.find((candidate) => candidate.path === field)
      expect(issue).toBeDefined()
      if (message !== undefined) expect(issue?.message).toBe(message)
      expect(await rows()).toEqual(before)
    },
  )

  it('An unpaired surrogate is rejected with a client error', async () => {
    const before = await rows()
    const answer = await send('/api/registrations', JSON.stringify(family()).replace('"Ivo"', String.raw`"Ivo \ud83e"`))
    expect(answer.status).toBe(400)
    expect(answer.body().issues?.[0]?.path).toBe('childName')
    expect(await rows()).toEqual(before)
  })
})

const writes = ['/api/registrations', '/api/waivers', `/api/registrations/${randomUUIDv7()}/checkout`]

describe.each(writes)('POST %s', (path) => {
  it.each([
    ['no JSON', '{"a":', undefined, 400],
    ['nothing', '', undefined, 400],
    ['a form', 'guardianName=Maren', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['XML', '<a/>', { 'content-type': 'application/xml' }, 415],
    ['the origin of another site', '{}', { origin: 'https://evil.example' }, 403],
    ['no client id', '{}', { 'x-api-key': '' }, 401],
    ['an unknown client id', '{}', { 'x-api-key': 'someone' }, 401],
  ])('A request with %s is rejected', async (_what, body, differences, status) => {
    const before = await rows()
    const answer = await send(path, body, { ...headers(), ...differences })
    expect(answer.status).toBe(status)
    expect(answer.body().message.length).toBeGreaterThan(5)
    expect(await rows()).toEqual(before)
  })

  it('A body of 1 MB is rejected', async () => {
    const before = await rows()
    expect(await announce(path, 1 << 20, headers())).toBe(413)
    expect(await rows()).toEqual(before)
  })

  it.each(['null', '[]', '"text"', '7', 'true', '{"__proto__":{"x":1}}', '{"constructor":{"prototype":{}}}', '{}'])(
    'The JSON %s is rejected without a server error',
    async (json) => {
      const before = await rows()
      const answer = await send(path, json)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expect(answer.body().code).not.toBe('internal')
      expect(await rows()).toEqual(before)
    },
  )
})

describe('GET requests', () => {
  it.each([
    ['/api/registrations/nothing', 404],
    [`/api/registrations/${randomUUIDv7()}`, 404],
    [`/api/registrations/${randomUUIDv7()}/events`, 404],
    ['/api/registrations/%00', 404],
    [`/api/registrations/${'x'.repeat(3000)}`, 404],
    ['/api/registrations/..%2f..%2fadmin', 404],
    ['/api/availableSlots?classType=expert', 400],
    ['/api/availableSlots?classType=basic&classType=custom', 400],
    ['/api/getAllRegistrations', 401],
    ['/api/nothing', 404],
    ['/admin/dead-letters', 404],
    ['/%', 400],
  ])('GET %s is answered with a client error', async (path, status) => {
    const answer = await send(path, '', {}, 'GET')
    expect(answer.status).toBe(status)
    expect(answer.body().code).not.toBe('internal')
  })

  it.each(['PUT', 'DELETE', 'PATCH'])('The method %s is rejected', async (method) => {
    const answer = await send('/api/registrations', '{}', headers(), method)
    expect(answer.status).toBe(404)
  })

  it('Responses about a person are never cached', async () => {
    const { registrationId } = await system.register()
    for (const path of [`/api/registrations/${registrationId}`, '/api/getAllRegistrations']) {
      const answer = await fetch(system.siteUrl + path, { headers: { 'x-admin-secret': 'local-admin' } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('POST /api/waivers', () => {
  const waiver = (differences: object = {}) => ({
    guardianName: 'Maren Holt',
    childName: 'Ivo',
    childAge: 9,
    email: 'maren.holt@example.com',
    startDate: date,
    classType: 'basic',
    timestamp: 1_764_201_600_000,
    ...differences,
  })

  it.each([
    ['no guardian', { guardianName: '' }, 'guardianName'],
    ['no email', { email: undefined }, 'email'],
    ['no class', { classType: '' }, 'classType'],
    ['a reference that is none', { registrationId: 'x' }, 'registrationId'],
    ['a date that is none', { startDate: 'soon' }, 'startDate'],
    ['a hash that is none', { documentSha256: 'abc' }, 'documentSha256'],
  ])('A waiver with %s is rejected', async (_what, differences, field) => {
    const answer = await send('/api/waivers', JSON.stringify(waiver(differences)))
    expect(answer.status).toBe(400)
    expect(answer.body().issues?.map((issue) => issue.path)).toContain(field)
  })

  it('A waiver for an unpaid or unknown registration is rejected', async () => {
    const before = await rows()
    const unknown = await send('/api/waivers', JSON.stringify(waiver({ registrationId: randomUUIDv7() })))
    expect(unknown.status).toBe(404)
    const held = await system.register({ email: 'held@example.com' })
    for (const body of [
      waiver({ registrationId: held.registrationId, email: 'held@example.com' }),
      waiver({ email: 'held@example.com' }),
    ]) {
      const answer = await send('/api/waivers', JSON.stringify(body))
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    }
    expect(await rows()).toMatchObject({ waivers: (before as { waivers: number }).waivers })
  })
})

describe('POST /webhooks/stripe', () => {
  it.each([
    ['no signature', '{"id":"evt_1"}', {}],
    ['a wrong signature', '{"id":"evt_1"}', { 'stripe-signature': 't=1,v1=00' }],
    ['no JSON', 'hello', { 'stripe-signature': 't=1,v1=00', 'content-type': 'text/plain' }],
    ['nothing', '', { 'stripe-signature': 't=1,v1=00' }],
  ])('A webhook with %s is rejected', async (_what, body, given) => {
    const answer = await send('/webhooks/stripe', body, { 'content-type': 'application/json', ...given })
    expect(answer.status).toBe(400)
  })

  it('A webhook of more than 1 MB is rejected', async () => {
    const signed = { 'content-type': 'application/json', 'stripe-signature': 't=1,v1=00' }
    expect(await announce('/webhooks/stripe', 1 << 21, signed)).toBe(413)
  })

  it('The body of an unsigned webhook is not read', async () => {
    expect(await announce('/webhooks/stripe', 1 << 21, { 'content-type': 'application/json' })).toBe(400)
  })
})

describe('An id in capital letters', () => {
  it('An id in capital letters names the same registration, checkout and page', async () => {
    const id = randomUUIDv7()
    const before = await system.atProvider()
    const shouted = await system.register({ id: id.toUpperCase(), classType: 'intermediate' })
    expect(await system.register({ id, classType: 'intermediate' })).toEqual(shouted)
    expect(shouted.registrationId).toBe(id)
    expect((await system.atProvider()).sessions).toBe(before.sessions + 1)
    expect((await system.state(id.toUpperCase())).registrationId).toBe(id)
    const resumed = await system.post(`/api/registrations/${id.toUpperCase()}/checkout`, {})
    expect(resumed).toEqual({ status: 200, body: shouted })
  })
})

describe('An email that the payment provider rejects', () => {
  it('An email that the payment provider rejects is reported for its form field', async () => {
    const family = { email: `${randomUUIDv7()}@example.com`, classType: 'intermediate' } as const
    const { registrationId } = await system.register(family)
    await system.sql('enrollment')`update registrations set email = 'nobody' where id = ${registrationId}`
    await system.sql(
      'billing',
    )`update checkout_attempts set status = 'expired' where registration_id = ${registrationId}`
    const answer = await send(`/api/registrations/${registrationId}/checkout`, '{}')
    expect(answer.status).toBe(400)
    expect(answer.body()).toMatchObject({ code: 'validation_failed', issues: [{ path: 'email' }] })
  })
})

describe('Unusual but valid input', () => {
  it.each([
    { guardianName: 'Zoë Ångström-Łukasiewicz', childName: 'Nguyễn Thị Ánh', city: 'São Paulo' },
    { guardianName: "Una O'Neil", childName: "D'Arcy & Jo <3", addressLine1: '5 "Quoted" St; apt, 2\\3' },
    { guardianName: 'עדי לוי', childName: 'محمد', city: 'ירושלים' },
    { guardianName: '张伟', childName: 'Ivo 🤖', addressLine2: '３Ｆ' },
    { guardianName: 'é'.repeat(100), childName: '👩‍👩‍👧 Noa', zipCode: '02139' },
    { guardianName: '한글 이름', childName: 'Αλέξης Παπάς', zipCode: '00501' },
    { guardianName: 'ສົມໄຊ', childName: 'မောင်မောင်' },
  ])('The registration of $childName appears unchanged on page, mail and calendar', async (typed) => {
    const email = `maren.${randomUUIDv7()}@example.com`
    const { registrationId, checkoutUrl } = await system.register({ ...typed, email })
    await system.pay(checkoutUrl)
    const view = await system.reaches(registrationId, 'confirmed')
    expect(view).toMatchObject({ guardianName: typed.guardianName, email, children: [{ childName: typed.childName }] })
    expect(view.address.zipCode).toBe('zipCode' in typed ? typed.zipCode : '94401')
    const mail = await eventually(async () => (await system.mailsTo(email))[0])
    expect(mail.text).toContain(typed.childName)
    expect(mail.to[0]).toEqual({ address: email, name: typed.guardianName })
    const calendar = mail.attachments?.find((attachment) => attachment.contentType.startsWith('text/calendar'))
    const ics = await (
      await fetch(`${system.mailbox.url}/email/${mail.id}/attachment/${calendar?.generatedFileName}`)
    ).text()
    const unfolded = ics.replaceAll('\r\n ', '').replaceAll(/\\([,;\\])/g, '$1')
    expect(unfolded).toContain(typed.childName)

    const signed = await system.post('/api/waivers', {
      registrationId,
      guardianName: typed.guardianName,
      childName: typed.childName,
      email,
      startDate: view.startDate,
      classType: 'basic',
    })
    expect(signed.status).toBe(200)
    await eventually(async () => (await system.mailsTo(email)).length === 2)
  })
})
