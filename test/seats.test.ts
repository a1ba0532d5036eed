import { randomUUIDv7 } from 'node:crypto'
import { classesViewSchema } from '@robokids/contracts/bff'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleFamily } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system.stop())

const family = (startDate: string, differences: object = {}) => ({
  ...sampleFamily(),
  email: `${randomUUIDv7()}@example.com`,
  classType: 'basic',
  startDate,
  ...differences,
})

async function seatsLeft(classType: string, date: string): Promise<number | undefined> {
  const slots = (await (await fetch(`${system.siteUrl}/api/availableSlots?classType=${classType}`)).json()) as {
    slots: { classDate: string; availableSlots: number }[]
  }
  const shown = (await system.openDates(classType)).find((session) => session.date === date)?.seatsLeft
  expect(slots.slots.find((slot) => slot.classDate === date)?.availableSlots).toBe(shown)
  return shown
}

describe('The last seats of a class', () => {
  it('Exactly 10 of 200 parallel requests through two enrollment processes get the last 10 seats', async () => {
    const second = await system.another('enrollment')
    const secondBff = await system.another('bff', { ENROLLMENT_URL: second.url, SITE_URL: system.siteUrl })
    const [date] = await system.openDates('intermediate')
    const bffUrls = [system.siteUrl, secondBff.url]
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        system.post('/api/registrations', family(date?.date ?? '', { classType: 'intermediate' }), bffUrls[index % 2]),
      ),
    )
    const held = answers.filter((answer) => answer.status === 200)
    const full = answers.filter(
      (answer) => answer.status === 409 && (answer.body as { code: string }).code === 'class_full',
    )
    expect([held.length, full.length]).toEqual([10, 190])
    expect(await seatsLeft('intermediate', date?.date ?? '')).toBe(0)
    const urls = new Set(held.map((answer) => (answer.body as { checkoutUrl: string }).checkoutUrl))
    expect(urls.size).toBe(10)
  })

  it('All views count the same seats, and a payment takes no second one', async () => {
    const dates = await system.openDates('advanced')
    const date = dates[0]?.date ?? ''
    expect(await seatsLeft('advanced', date)).toBe(10)
    for (let taken = 1; taken <= 3; taken += 1) {
      const { registrationId, checkoutUrl } = await system.register({ classType: 'advanced', startDate: date })
      expect(await seatsLeft('advanced', date)).toBe(10 - taken)
      await system.pay(checkoutUrl)
      await system.reaches(registrationId, 'confirmed')
      expect(await seatsLeft('advanced', date)).toBe(10 - taken)
    }
  })

  it('All children of a family get seats, or none does', async () => {
    const date = (await system.openDates('custom'))[1]?.date ?? ''
    const kids = (names: string[]) => names.map((childName) => ({ childName, childAge: 9 }))
    await system.register({
      classType: 'custom',
      startDate: date,
      siblings: kids(['B', 'C', 'D', 'E', 'F', 'G', 'H', 'I']),
    })
    expect(await seatsLeft('custom', date)).toBe(1)
    const sessionsBefore = (await system.atProvider()).sessions
    const two = await system.post('/api/registrations', family(date, { classType: 'custom', siblings: kids(['Noa']) }))
    expect([two.status, (two.body as { code: string }).code]).toEqual([409, 'class_full'])
    expect(await seatsLeft('custom', date)).toBe(1)
    expect((await system.atProvider()).sessions).toBe(sessionsBefore)
    await system.register({ classType: 'custom', startDate: date })
    expect(await seatsLeft('custom', date)).toBe(0)
  })
})

describe('POST /api/registrations', () => {
  it('A request sent three times in parallel makes one registration and one checkout', async () => {
    const body = family((await system.openDates())[0]?.date ?? '')
    const before = (await system.atProvider()).sessions
    const answers = await Promise.all([1, 2, 3].map(() => system.post('/api/registrations', body)))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    const again = await system.post('/api/registrations', body)
    expect(again.body).toEqual(answers[0]?.body)
    expect((await system.atProvider()).sessions).toBe(before + 1)

    const other = await system.post('/api/registrations', { ...body, childName: 'Noa' })
    expect([other.status, (other.body as { code: string }).code]).toEqual([409, 'id_reused'])
  })

  it('Price, currency and quantity come from the server, whatever the browser sends', async () => {
    const date = (await system.openDates())[1]?.date ?? ''
    const tampered = family(date, {
      amount: 1,
      price: 1,
      currency: 'jpy',
      quantity: 0,
      unit_amount: 1,
      checkout: { amount: 1 },
    })
    const answer = await system.post('/api/registrations', tampered)
    const { registrationId, checkoutUrl } = answer.body as { registrationId: string; checkoutUrl: string }
    const classes = classesViewSchema.parse(await (await fetch(`${system.siteUrl}/api/classes`)).json())
    const price = classes.levels.find((level) => level.classType === 'basic')?.price
    expect(price).toEqual({ amount: 40_000, currency: 'usd' })
    expect((await system.state(registrationId)).checkout).toMatchObject({ amount: 40_000, currency: 'usd' })
    await system.pay(checkoutUrl)
    expect((await system.reaches(registrationId, 'confirmed')).checkout).toMatchObject({
      amount: 40_000,
      status: 'paid',
    })
  })
})
