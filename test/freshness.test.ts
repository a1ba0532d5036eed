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
/** URLs of both BFFs. */
let bffUrls: string[]
beforeAll(async () => {
  await buildWeb()
  system = await startSystem({ bff: { WEB_DIST: join(root, 'web/dist') } })
  const second = await system.another('bff')
  bffUrls = [system.siteUrl, second.url]
})
afterAll(() => system.stop())

/** The longest time that outdated data may be shown. */
const limitMs = 5_000

const documentAt = async (url: string) => (await fetch(url, { headers: { accept: 'text/html' } })).text()

/** The data that a page was rendered with. */
async function pageDataOf(url: string): Promise<unknown> {
  const document = await documentAt(url)
  const [, data = ''] = /<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(document) ?? []
  return data === '' ? undefined : JSON.parse(data)
}

/** The level `basic` on a page and in the API of a BFF. */
async function basicAt(bffUrl: string) {
  const page = (await pageDataOf(`${bffUrl}/robokidspage1`)) as { classes: unknown } | undefined
  const answer = await (await fetch(`${bffUrl}/api/classes`)).json()
  const [shown, answered] = [page?.classes ?? { levels: [], promotion: null }, answer].map((view) =>
    classesViewSchema.parse(view).levels.find(({ classType }) => classType === 'basic'),
  )
  return { shown, answered }
}

async function productAt(bffUrl: string, sku: string) {
  const page = (await pageDataOf(`${bffUrl}/shop`)) as { shop: unknown } | undefined
  const answer = await (await fetch(`${bffUrl}/api/shop`)).json()
  const find = (view: unknown) => shopViewSchema.parse(view).products.find((product) => product.sku === sku)
  return { shown: page && find(page.shop), answered: find(answer) }
}

/** Waits until both BFFs serve pages with data: pages are served without it until it is loaded. */
async function warm(): Promise<void> {
  await eventually(async () => (await Promise.all(bffUrls.map(basicAt))).every(({ shown }) => shown !== undefined))
}

async function asOperator(path: string, body: unknown, service: 'billing' | 'enrollment' = 'billing'): Promise<void> {
  const answer = await fetch(`${system.processes[service].url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-secret': localAdminSecret },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
}

describe('Freshness of pages and API', () => {
  it('A class price set by an operator is on every page and in every response within five seconds', async () => {
    await warm()
    const amount = 41_000
    await asOperator('/admin/prices', { sku: 'class:basic', amount })
    // API responses are never cached.
    for (const bffUrl of bffUrls) expect((await basicAt(bffUrl)).answered?.price.amount).toBe(amount)
    await Promise.all(
      bffUrls.map((bffUrl) => eventually(async () => (await basicAt(bffUrl)).shown?.price.amount === amount, limitMs)),
    )
    for (const bffUrl of bffUrls)
      expect(await documentAt(`${bffUrl}/robokidspage1`)).toContain('>$410</strong> <span>per child')
  })

  it('A membership price set by an operator is on every page that names it within five seconds', async () => {
    await asOperator('/admin/prices', { sku: 'membership:monthly', amount: 900 })
    const pages = [
      ['/membership', '>$9</strong> <span>a month'],
      ['/membership/register', '>$9 per month</strong>'],
      ['/terms', '>$9 per month or $60 per year</span>'],
    ] as const
    await Promise.all(
      bffUrls.flatMap((bffUrl) =>
        pages.map(([path, words]) =>
          eventually(async () => (await documentAt(`${bffUrl}${path}`)).includes(words), limitMs),
        ),
      ),
    )
  })

  it('The number of seats left is right on every page and in every response within five seconds of a sale', async () => {
    await warm()
    const before = (await basicAt(system.siteUrl)).answered?.sessions.at(-1)
    const seatsLeft = (before?.seatsLeft ?? 0) - 1
    const startDate = before?.date ?? ''
    const seatsIn = (level: Awaited<ReturnType<typeof basicAt>>['shown']) =>
      level?.sessions.find(({ date }) => date === startDate)?.seatsLeft
    const { checkoutUrl, registrationId } = await system.register({ email: `${randomUUIDv7()}@example.com`, startDate })
    for (const bffUrl of bffUrls) expect(seatsIn((await basicAt(bffUrl)).answered)).toBe(seatsLeft)
    await Promise.all(
      bffUrls.map((bffUrl) => eventually(async () => seatsIn((await basicAt(bffUrl)).shown) === seatsLeft, limitMs)),
    )
    await system.pay(checkoutUrl)
    await system.reaches(registrationId, 'confirmed')
    for (const bffUrl of bffUrls) {
      const { shown, answered } = await basicAt(bffUrl)
      expect([seatsIn(shown), seatsIn(answered)]).toEqual([seatsLeft, seatsLeft])
    }
  })

  it('The capacity that an operator sets is on every page and in every response within five seconds', async () => {
    await warm()
    const [session] = await system.sql('enrollment')<{ id: string; date: string; capacity: number; left: number }[]>`
      select id, date::text, capacity, capacity - held - sold as left from class_sessions
      where class_type = 'basic' and status = 'open' and starts_at > now() order by date limit 1`
    const { id = '', date = '', capacity = 0, left = 0 } = session ?? {}
    await asOperator(`/admin/class-sessions/${id}/capacity`, { capacity: capacity + 3 }, 'enrollment')
    const seatsIn = (level: Awaited<ReturnType<typeof basicAt>>['shown']) =>
      level?.sessions.find((one) => one.date === date)?.seatsLeft
    for (const bffUrl of bffUrls) expect(seatsIn((await basicAt(bffUrl)).answered)).toBe(left + 3)
    await Promise.all(
      bffUrls.map((bffUrl) => eventually(async () => seatsIn((await basicAt(bffUrl)).shown) === left + 3, limitMs)),
    )
  })

  it('An open page of one BFF shows the payment whose webhook went to another BFF', async () => {
    const { registrationId, checkoutUrl } = await system.register({ email: `${randomUUIDv7()}@example.com` })
    const [told, open] = [system.siteUrl, bffUrls.find((url) => url !== system.siteUrl)]
    const stream = await fetch(`${open}/api/registrations/${registrationId}/events`)
    let seen = ''
    let paying: Promise<unknown> | undefined
    for await (const chunk of stream.body ?? []) {
      seen += new TextDecoder().decode(chunk)
      // Its webhook goes to the first BFF.
      if (seen.includes('"status":"held"')) paying ??= system.pay(checkoutUrl)
      if (seen.includes('"status":"confirmed"')) break
    }
    await paying
    const answer = await fetch(`${told}/api/registrations/${registrationId}`)
    expect(await answer.json()).toMatchObject({ status: 'confirmed' })
  })

  it('A product state set by an operator is on every page and in every response within five seconds', async () => {
    const sku = teddyBear
    const { answered } = await productAt(system.siteUrl, sku)
    expect(answered?.state).toBe('coming_soon')
    const state = 'available'
    await eventually(async () =>
      (await Promise.all(bffUrls.map((bffUrl) => productAt(bffUrl, sku)))).every((at) => at.shown),
    )
    await asOperator('/admin/products', { sku, state })
    for (const bffUrl of bffUrls) expect((await productAt(bffUrl, sku)).answered?.state).toBe(state)
    await Promise.all(
      bffUrls.map((bffUrl) => eventually(async () => (await productAt(bffUrl, sku)).shown?.state === state, limitMs)),
    )
  })

  it('Pages show the last known data while the services are down, and current data once they are back', async () => {
    await warm()
    const { shown: before } = await basicAt(system.siteUrl)
    await system.processes.billing.kill()
    try {
      const page = (await pageDataOf(`${system.siteUrl}/robokidspage1`)) as { classes: { levels: unknown[] } }
      expect(page.classes.levels).toContainEqual(before)
      expect((await fetch(`${system.siteUrl}/api/classes`)).status).toBe(503)
    } finally {
      await system.processes.billing.start()
    }
    const amount = 43_000
    await asOperator('/admin/prices', { sku: 'class:basic', amount })
    await Promise.all(
      bffUrls.map((bffUrl) => eventually(async () => (await basicAt(bffUrl)).shown?.price.amount === amount, limitMs)),
    )
  })
})
