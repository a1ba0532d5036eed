import { randomUUIDv7 } from 'node:crypto'
import { robotSpider } from '@robokids/contracts/products'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { Browser, type Answer } from './src/browser.ts'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system.stop())

const newBrowser = () => new Browser(system.siteUrl)
const newAddress = () => `maren.${randomUUIDv7()}@example.com`

async function form(email: string, differences: object = {}) {
  const [session] = await system.openDates('custom')
  return {
    ...sampleFamily(),
    email,
    classType: 'custom',
    startDate: session?.date,
    unlessRegistered: true,
    id: randomUUIDv7(),
    ...differences,
  }
}
interface Page {
  registrationId: string
  checkoutUrl: string
}
const pageOf = ({ status, body }: Answer) => {
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body as unknown as Page
}
const statusAt = (url: string) =>
  system.provider.sessions.get(new URL(url).pathname.split('/').at(-1) ?? '')?.object.status

/** The shape of a response, apart from ids. */
const shapeOf = ({ status, body, headers }: Answer) => [
  status,
  JSON.stringify(body).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|cs_test_\w+/g, 'id'),
  [...headers.keys()].filter((name) => !['content-length', 'date'].includes(name)),
]
const subjectsTo = async (email: string) => (await system.mailsTo(email)).map(({ subject }) => subject)
const mailLike = (email: string, words: RegExp) =>
  eventually(async () => (await system.mailsTo(email)).find(({ subject }) => words.test(subject)), 20_000)

describe('A stranger who knows a family’s address', () => {
  it('A stranger who registers a registered child gets the usual response and a refund, and the family is mailed', async () => {
    const [own, stranger] = [newBrowser(), newBrowser()]
    const email = newAddress()
    const kept = pageOf(await own.post('/api/registrations', await form(email)))
    await system.pay(kept.checkoutUrl)
    await system.reaches(kept.registrationId, 'confirmed')
    const answer = await stranger.post('/api/registrations', await form(email, { city: 'Elsewhere' }))
    const unregistered = await newBrowser().post('/api/registrations', await form(newAddress(), { city: 'Elsewhere' }))
    expect(shapeOf(answer)).toEqual(shapeOf(unregistered))
    const again = await own.post('/api/registrations', await form(email, { city: 'Elsewhere' }))
    expect([again.status, again.body['code']]).toEqual([409, 'already_registered'])
    const { text } = await mailLike(email, /^You’re already registered/)
    expect(text).toContain(`reference=${kept.registrationId}`)

    const second = pageOf(answer)
    await system.pay(second.checkoutUrl)
    await system.reaches(second.registrationId, 'rejected')
    await mailLike(email, /^Refund/)
    expect(await system.state(kept.registrationId)).toMatchObject({ status: 'confirmed', checkout: { refunds: [] } })
    expect((await subjectsTo(email)).filter((subject) => subject.startsWith('You’re already registered'))).toHaveLength(
      1,
    )
  })

  it('A stranger with a member’s address neither closes the member’s page nor gives the consent, and learns of no membership', async () => {
    const [own, stranger] = [newBrowser(), newBrowser()]
    const email = newAddress()
    const { body } = await own.get('/api/availableSlots')
    const [slot] = body['slots'] as { classDate: string }[]
    const join = (browser: Browser, address = email, plan = 'monthly') =>
      browser.post('/api/createStripeSession', { email: address, plan, classDate: slot?.classDate })
    const page = String((await join(own)).body['url'])
    const theirs = String((await join(stranger, email, 'yearly')).body['url'])
    expect(statusAt(page)).toBe('open')
    expect((await join(own)).body['url']).toBe(page)
    await system.pay(page)
    await mailLike(email, /^You’re now a member of/)
    expect((await join(own)).body['code']).toBe('already_member')
    const other = newBrowser()
    expect(shapeOf(await join(other))).toEqual(shapeOf(await join(newBrowser(), newAddress())))
    await mailLike(email, /^You’re already a member/)
    await system.pay(theirs)
    await mailLike(email, /^Refund of \$60\.00 for your membership/)
  })

  it('A stranger with a registration’s details cannot sign the waiver, and the response does not reveal whether it exists', async () => {
    const [own, stranger] = [newBrowser(), newBrowser()]
    const email = newAddress()
    const asked = await form(email)
    const { registrationId, checkoutUrl } = pageOf(await own.post('/api/registrations', asked))
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    const { guardianName, childName, startDate, classType } = asked
    const waiver = { guardianName, childName, email, startDate, classType }
    const answers = [
      await stranger.post('/api/waivers', waiver),
      await stranger.post('/api/waivers', { ...waiver, email: newAddress() }),
    ].map(({ status, body }) => [status, { ...body, requestId: '' }])
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.[0]).toBe(404)
    const { text } = await mailLike(email, /^Your link to the waiver/)
    expect(text).toContain(`/robokids/waiver?reference=${registrationId}`)
    expect((await own.post('/api/waivers', waiver)).status).toBe(200)
  })
})

describe('A family that continues in a second browser', () => {
  it('A change in a second browser closes nothing, and of two paid pages one is refunded once', async () => {
    const [first, second] = [newBrowser(), newBrowser()]
    const email = newAddress()
    const one = pageOf(await first.post('/api/registrations', await form(email)))
    const changed = await form(email, { city: 'Fresno', replaces: one.registrationId })
    const other = pageOf(await second.post('/api/registrations', changed))
    expect([statusAt(one.checkoutUrl), statusAt(other.checkoutUrl)]).toEqual(['open', 'open'])
    await system.pay(other.checkoutUrl)
    await system.pay(one.checkoutUrl)
    await eventually(async () => {
      const states = await Promise.all([one, other].map(({ registrationId }) => system.state(registrationId)))
      const kept = states.filter(({ status }) => status === 'confirmed')
      const back = states.flatMap(({ checkout }) => checkout?.refunds ?? [])
      // The page that was paid second may have been closed in time.
      const paid = states.filter(({ checkout }) => checkout?.paidAt != null)
      return kept.length === 1 && back.length === paid.length - 1
    }, 20_000)
  })
})

describe('A registration with the id of an order', () => {
  it('A registration with an order’s id is rejected, and never gets the order’s checkout', async () => {
    const browser = newBrowser()
    const orderId = randomUUIDv7()
    const order = await browser.post('/api/checkout', { orderId, items: [{ sku: robotSpider, quantity: 1 }] })
    await system.pay(String(order.body['checkoutUrl']))
    await eventually(async () => (await browser.get(`/api/orders/${orderId}`)).body['status'] === 'paid')
    const answer = await browser.post('/api/registrations', await form(newAddress(), { id: orderId }))
    expect([answer.status, answer.body['code']]).toEqual([409, 'id_reused'])
    expect(await system.state(orderId)).toMatchObject({ status: 'held', checkout: null })
    // Conversely, an order never takes a registration's payment.
    const { registrationId } = pageOf(await browser.post('/api/registrations', await form(newAddress())))
    const taken = await browser.post('/api/checkout', {
      orderId: registrationId,
      items: [{ sku: robotSpider, quantity: 1 }],
    })
    expect([taken.status, taken.body['code']]).toEqual([409, 'id_reused'])
    expect((await browser.get(`/api/orders/${registrationId}`)).status).toBe(404)
  })
})
