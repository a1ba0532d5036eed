import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { classesViewSchema } from '@robokids/contracts/bff'
import { shopViewSchema, teddyBear } from '@robokids/contracts/shop'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { localAdminSecret } from '@robokids/runtime/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { startSystem, type System } from './src/system.ts'

let system: System
/** Both BFFs. */
let doors: string[]
beforeAll(async () => {
  await buildWeb()
  system = await startSystem({ bff: { WEB_DIST: join(root, 'web/dist') } })
  const second = await system.another('bff')
  doors = [system.siteUrl, second.url]
})
afterAll(() => system.stop())

/** As long as anything may be shown that is not so any more. */
const limitMs = 5_000

const documentAt = async (url: string) => (await fetch(url, { headers: { accept: 'text/html' } })).text()

/** What a page was rendered with, once it shows what is known today. */
async function dataOf(url: string): Promise<unknown> {
  const document = await documentAt(url)
  const [, data = ''] = /<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(document) ?? []
  return data === '' ? undefined : JSON.parse(data)
}

/** The level `basic` on a page and in the answer of a BFF. */
async function basicAt(door: string) {
  const page = (await dataOf(`${door}/robokidspage1`)) as { classes: unknown } | undefined
  const answer = await (await fetch(`${door}/api/classes`)).json()
  const [shown, answered] = [page?.classes ?? { levels: [], promotion: null }, answer].map((view) =>
    classesViewSchema.parse(view).levels.find(({ classType }) => classType === 'basic'),
  )
  return { shown, answered }
}

async function productAt(door: string, sku: string) {
  const page = (await dataOf(`${door}/shop`)) as { shop: unknown } | undefined
  const answer = await (await fetch(`${door}/api/shop`)).json()
  const find = (view: unknown) => shopViewSchema.parse(view).products.find((product) => product.sku === sku)
  return { shown: page && find(page.shop), answered: find(answer) }
}

/** Waits until both BFFs show what they know: a page without it is served while nothing is known yet. */
async function warm(): Promise<void> {
  await eventually(async () => (await Promise.all(doors.map(basicAt))).every(({ shown }) => shown !== undefined))
}

async function asOperator(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${system.processes.billing.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-secret': localAdminSecret },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
}

describe('what the site offers', () => {
  it('costs on every page and in every answer what an operator has set, within five seconds', async () => {
    await warm()
    const amount = 41_000
    await asOperator('/admin/prices', { sku: 'class:basic', amount })
    // Answers are never older than the question.
    for (const door of doors) expect((await basicAt(door)).answered?.price.amount).toBe(amount)
    await Promise.all(
      doors.map((door) => eventually(async () => (await basicAt(door)).shown?.price.amount === amount, limitMs)),
    )
    for (const door of doors)
      expect(await documentAt(`${door}/robokidspage1`)).toContain('>$410</strong> <span>a child')
  })

  it('costs members on every page that names it what an operator has set, within five seconds', async () => {
    await asOperator('/admin/prices', { sku: 'membership:monthly', amount: 900 })
    const pages = [
      ['/membership', '>$9</strong> <span>a month'],
      ['/membership/register', '>$9 per month</strong>'],
      ['/terms', '>$9 per month or $60 per year</span>'],
    ] as const
    await Promise.all(
      doors.flatMap((door) =>
        pages.map(([path, words]) =>
          eventually(async () => (await documentAt(`${door}${path}`)).includes(words), limitMs),
        ),
      ),
    )
  })

  it('has as many seats on every page and in every answer as are left, within five seconds of a sale', async () => {
    await warm()
    const before = (await basicAt(system.siteUrl)).answered?.sessions.at(-1)
    const seatsLeft = (before?.seatsLeft ?? 0) - 1
    const startDate = before?.date ?? ''
    const seatsIn = (level: Awaited<ReturnType<typeof basicAt>>['shown']) =>
      level?.sessions.find(({ date }) => date === startDate)?.seatsLeft
    const { checkoutUrl, registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com`, startDate })
    for (const door of doors) expect(seatsIn((await basicAt(door)).answered)).toBe(seatsLeft)
    await Promise.all(
      doors.map((door) => eventually(async () => seatsIn((await basicAt(door)).shown) === seatsLeft, limitMs)),
    )
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    for (const door of doors) {
      const { shown, answered } = await basicAt(door)
      expect([seatsIn(shown), seatsIn(answered)]).toEqual([seatsLeft, seatsLeft])
    }
  })

  it('is sold or awaited on every page and in every answer as an operator has set it, within five seconds', async () => {
    const sku = teddyBear
    const { answered } = await productAt(system.siteUrl, sku)
    expect(answered?.state).toBe('coming_soon')
    const state = 'available'
    await eventually(async () => (await Promise.all(doors.map((door) => productAt(door, sku)))).every((at) => at.shown))
    await asOperator('/admin/products', { sku, state })
    for (const door of doors) expect((await productAt(door, sku)).answered?.state).toBe(state)
    await Promise.all(
      doors.map((door) => eventually(async () => (await productAt(door, sku)).shown?.state === state, limitMs)),
    )
  })

  it('is shown as it was a moment ago while nobody can be asked, and as it is once somebody can', async () => {
    await warm()
    const { shown: before } = await basicAt(system.siteUrl)
    await system.processes.billing.kill()
    try {
      const page = (await dataOf(`${system.siteUrl}/robokidspage1`)) as { classes: { levels: unknown[] } }
      expect(page.classes.levels).toContainEqual(before)
      expect((await fetch(`${system.siteUrl}/api/classes`)).status).toBe(503)
    } finally {
      await system.processes.billing.start()
    }
    const amount = 43_000
    await asOperator('/admin/prices', { sku: 'class:basic', amount })
    await Promise.all(
      doors.map((door) => eventually(async () => (await basicAt(door)).shown?.price.amount === amount, limitMs)),
    )
  })
})
