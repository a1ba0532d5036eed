import { randomUUIDv7 } from 'node:crypto'
import { registrationViewSchema, type RegistrationView } from '@robokids/contracts/bff'
import { levelClassTypes } from '@robokids/contracts/enrollment'
import { fetchProven } from '@robokids/local/prove'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { browserCookie } from './src/browser.ts'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
beforeAll(async () => {
  // As in production, behind a proxy that forwards each client's address.
  const limits = { UNPAID_SEATS_PER_FAMILY: '12', UNPAID_SEATS_PER_NETWORK: '16' }
  system = await startSystem({ enrollment: limits, bff: { TRUST_PROXY: 'loopback' } })
})
afterAll(() => system.stop())

const newEmail = () => `${randomUUIDv7()}@example.com`

/** The browser in which a family pays. */
const ownBrowser = browserCookie()

async function post(path: string, body: object, address: string, cookie = ownBrowser) {
  const answer = await fetchProven(system.siteUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web', 'x-forwarded-for': address, cookie },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

/** A registration for this number of children. */
const registrationOf = (classType: string, startDate: string, children: number) => ({
  ...sampleFamily(),
  email: newEmail(),
  classType,
  startDate,
  childName: 'Ivo 0',
  siblings: Array.from({ length: children - 1 }, (_, nth) => ({ childName: `Ivo ${nth + 1}`, childAge: 9 })),
})

const memberDates = async () => {
  const answer = await fetch(`${system.siteUrl}/api/availableSlots`)
  return ((await answer.json()) as { slots: { classDate: string; availableSlots: number }[] }).slots
}

async function season() {
  const levels = await Promise.all(
    levelClassTypes.map(async (classType) =>
      (await system.openDates(classType)).map(({ date, seatsLeft }) => ({ classType, date, seatsLeft })),
    ),
  )
  const [classes, members] = [levels.flat(), await memberDates()]
  const free = classes.reduce((sum, { seatsLeft }) => sum + seatsLeft, 0)
  return { classes, members, free, freeForMembers: members.reduce((sum, slot) => sum + slot.availableSlots, 0) }
}

describe('A stranger who does not pay', () => {
  it('Sixteen requests for ten seats each and forty for members’ seats leave most of the season free', async () => {
    const before = await season()
    expect(before.classes.length).toBe(16)
    // One network with a new browser per request, because requests of one browser are serialized.
    const network = `198.51.${Math.floor(Math.random() * 250)}`
    const send = (path: string, body: object, nth: number) => post(path, body, `${network}.${nth + 1}`, browserCookie())
    const answers = await Promise.all([
      ...before.classes.map(({ classType, date }, nth) =>
        send('/api/registrations', registrationOf(classType, date, 10), nth),
      ),
      ...Array.from({ length: 40 }, (_, nth) => {
        const classDate = before.members[nth % before.members.length]?.classDate
        return send('/api/createStripeSession', { email: newEmail(), plan: 'monthly', classDate }, nth)
      }),
    ])
    const after = await season()
    const taken = before.free + before.freeForMembers - (after.free + after.freeForMembers)
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThanOrEqual(16)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(new Set(refused.map(({ status, body }) => `${status} ${String(body['code'])}`))).toEqual(
      new Set(['429 too_many_unpaid']),
    )
    // Others are not affected.
    const open = after.classes.find(({ seatsLeft }) => seatsLeft > 0)
    const family = registrationOf(open?.classType ?? '', open?.date ?? '', 1)
    expect((await post('/api/registrations', family, '203.0.113.7')).status).toBe(200)
  })

  it('One browser on many networks gets no more unpaid seats', async () => {
    const { classes, free } = await season()
    const browser = browserCookie()
    await Promise.all(
      classes.map(({ classType, date }, nth) =>
        post('/api/registrations', registrationOf(classType, date, 4), `10.${nth}.0.1`, browser),
      ),
    )
    expect(free - (await season()).free).toBeLessThanOrEqual(12)
  })
})

describe('Payment page links', () => {
  const viewOf = async (id: string): Promise<RegistrationView> => system.state(id)
  const minutesLeft = ({ heldUntil }: RegistrationView) =>
    Math.round(
      Temporal.Now.instant()
        .until(heldUntil ?? '')
        .total('minutes'),
    )
  const follow = async (url: string) => {
    const answer = await fetch(url, { redirect: 'manual' })
    return { status: answer.status, location: answer.headers.get('location') ?? '' }
  }
  async function register() {
    const date = (await system.openDates('custom')).find(({ seatsLeft }) => seatsLeft > 0)
    const body = registrationOf('custom', date?.date ?? '', 1)
    const answer = await post('/api/registrations', body, `192.0.${Math.floor(Math.random() * 250)}.1`)
    expect(answer.status).toBe(200)
    return answer.body as { registrationId: string; checkoutUrl: string }
  }

  it('A payment link leads through our site to the provider’s page, and holds the seat for as long as that is open', async () => {
    const { registrationId, checkoutUrl } = await register()
    expect(minutesLeft(await viewOf(registrationId))).toBe(10)
    expect(checkoutUrl.startsWith(`${system.siteUrl}/api/registrations/${registrationId}/pay/cs_`)).toBe(true)
    expect((await viewOf(registrationId)).checkout?.url).toBe(checkoutUrl)
    // A guessed session id opens nothing.
    const guessed = await follow(checkoutUrl.replace(/cs_\w+$/, 'cs_test_guess'))
    expect(guessed).toEqual({
      status: 303,
      location: `${system.siteUrl}/robokids-payment?reference=${registrationId}`,
    })
    expect(minutesLeft(await viewOf(registrationId))).toBe(10)

    const led = await follow(checkoutUrl)
    expect(led.status).toBe(303)
    expect(led.location.startsWith(system.simulator.url)).toBe(true)
    const opened = await viewOf(registrationId)
    expect(minutesLeft(opened)).toBe(36)
    // Opening it again does not hold the seat longer than the page lives.
    expect(await follow(checkoutUrl)).toEqual(led)
    expect((await viewOf(registrationId)).heldUntil).toBe(opened.heldUntil)
    expect((await system.pay(checkoutUrl)).status).toBe('paid')
    await system.reaches(registrationId, 'confirmed')
    expect((await follow(checkoutUrl)).location).toBe(`${system.siteUrl}/robokids-payment?reference=${registrationId}`)
  })

  it('A payment link of a released seat leads back to the registration, and its page is closed', async () => {
    const { registrationId, checkoutUrl } = await register()
    await system.sql('enrollment')`
      update registrations set held_until = now() - interval '1 second' where id = ${registrationId}`
    await system.wake('enrollment', 'expire-holds')
    await system.reaches(registrationId, 'expired')
    expect((await follow(checkoutUrl)).location).toBe(`${system.siteUrl}/robokids-payment?reference=${registrationId}`)
    const sessionId = checkoutUrl.split('/').at(-1) ?? ''
    await eventually(() => system.provider.sessions.get(sessionId)?.object.status === 'expired')
    const again = await post(`/api/registrations/${registrationId}/checkout`, {}, '192.0.2.1')
    expect(again.status).toBe(200)
    const led = await follow(String(again.body['checkoutUrl']))
    expect(led.location.startsWith(system.simulator.url)).toBe(true)
    expect(registrationViewSchema.parse(await viewOf(registrationId)).status).toBe('held')
  })

  it('A payment link opens no page while enrollment is down, since nobody holds the seat', async () => {
    const { registrationId, checkoutUrl } = await register()
    await system.processes.enrollment.kill()
    const led = await follow(checkoutUrl)
    await system.processes.enrollment.start()
    expect(led.location).toBe(`${system.siteUrl}/robokids-payment?reference=${registrationId}`)
    expect((await follow(checkoutUrl)).location.startsWith(system.simulator.url)).toBe(true)
  })

  it('A membership’s payment link holds and releases its seat in the same way', async () => {
    const { members } = await season()
    const body = { email: newEmail(), plan: 'monthly', classDate: members.at(-1)?.classDate }
    const { url } = (await post('/api/createStripeSession', body, '192.0.2.2')).body as { url: string }
    const [, attemptId = ''] = /membership-checkouts\/([^/]+)\/pay\/cs_/.exec(url) ?? []
    const left = async () => {
      const [row] = await system.sql('enrollment')<{ minutes: number }[]>`
        select round(extract(epoch from held_until - now()) / 60)::int as minutes from member_holds
        where attempt_id = ${attemptId}`
      return row?.minutes
    }
    expect(await left()).toBe(10)
    expect((await follow(url)).location.startsWith(system.simulator.url)).toBe(true)
    expect(await left()).toBe(36)
    await system.sql('enrollment')`update member_holds set held_until = now() - interval '1 second'
      where attempt_id = ${attemptId}`
    await system.wake('enrollment', 'expire-member-holds')
    await eventually(async () => (await left()) === undefined)
    expect((await follow(url)).location).toBe(`${system.siteUrl}/membership/register`)
    // The same page, with a seat held again.
    expect((await post('/api/createStripeSession', body, '192.0.2.2')).body).toEqual({ url })
    expect((await follow(url)).location.startsWith(system.simulator.url)).toBe(true)
  })
})
