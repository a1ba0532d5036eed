import { randomUUIDv7 } from 'node:crypto'
import { pricesChanged } from '@robokids/contracts/billing'
import { seasonOpened } from '@robokids/contracts/enrollment'
import type { CloudEvent } from '@robokids/contracts/event'
import { inbox } from '@robokids/runtime/inbox'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { and, asc, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { seed } from '../../src/seed.ts'
import { priceBook, promotions } from '../../src/schema.ts'
import { adminHeaders, codeOf, purchase, BillingFixture } from '../fixture.ts'

let bed: TestBed
let fixture: BillingFixture

beforeAll(async () => {
  bed = await testBed()
  fixture = await BillingFixture.start(bed)
})
afterAll(async () => {
  await fixture.close()
})

const children = [
  { childName: 'Ivo', childAge: 8 },
  { childName: 'Noa', childAge: 10 },
]

/** Freezes the clock: a test of a boundary must not depend on the machine's load. */
function setClock(instant: string): void {
  vi.spyOn(fixture.service.context.clock, 'now').mockReturnValue(Temporal.Instant.from(instant))
}
afterEach(() => {
  vi.restoreAllMocks()
})

describe('GET /prices', () => {
  it('returns the seeded prices', async () => {
    expect((await fixture.prices()).prices).toEqual([
      { sku: 'class:advanced', amount: 75_000, currency: 'usd' },
      { sku: 'class:basic', amount: 40_000, currency: 'usd' },
      { sku: 'class:custom', amount: 100_000, currency: 'usd' },
      { sku: 'class:intermediate', amount: 50_000, currency: 'usd' },
      { sku: 'membership:monthly', amount: 700, currency: 'usd' },
      { sku: 'membership:yearly', amount: 6_000, currency: 'usd' },
      { sku: 'product:ai-teddy-bear', amount: 15_000, currency: 'usd' },
      { sku: 'product:robot-spider', amount: 30_000, currency: 'usd' },
    ])
  })

  it.each([
    ['2025-08-23T06:59:59.999Z', 0, 80_000],
    ['2025-08-23T07:00:00Z', 1, 40_000],
    ['2025-10-11T06:59:59.999Z', 1, 40_000],
    ['2025-10-11T07:00:00Z', 0, 80_000],
  ])('and the checkout apply the sibling promotion alike at %s', async (instant, running, amount) => {
    setClock(instant)
    const { promotions } = await fixture.prices()
    expect(promotions).toHaveLength(running)
    if (running) {
      expect(promotions[0]).toMatchObject({
        kind: 'sibling_free',
        classTypes: ['basic', 'intermediate', 'advanced'],
        startsAt: '2025-08-23T07:00:00Z',
        endsAt: '2025-10-11T07:00:00Z',
      })
    }
    expect(await fixture.checkout(purchase({ children }))).toMatchObject({
      amount,
      unitAmount: 40_000,
      paidSeats: amount / 40_000,
    })
    expect(await fixture.checkout(purchase({ children, classType: 'custom' }))).toMatchObject({ amount: 200_000 })
  })
})

/** Publishes a season as enrollment does; resolves once it has taken effect. */
async function openSeason(openedOn: string, classDates: string[]): Promise<CloudEvent> {
  const season = `opened-${openedOn}`
  const event = newEvent(seasonOpened, season, { season, openedOn, classDates })
  await hearAgain(event)
  return event
}

async function hearAgain(event: CloudEvent): Promise<void> {
  await fixture.bed.bus.republish(event)
  const mark = and(eq(inbox.eventId, event.id), eq(inbox.handler, 'billing__season-opened'))
  await eventually(() => fixture.service.context.db.$count(inbox, mark))
}

describe('the promotion of a season', () => {
  it('is inserted once when the season opens, and never restored', async () => {
    const { db } = fixture.service.context
    await db.delete(promotions)
    await seed(db)
    const rows = async () => ({
      prices: await db.select().from(priceBook).orderBy(asc(priceBook.sku), asc(priceBook.validFrom)),
      promotions: await db.select().from(promotions).orderBy(asc(promotions.startsAt)),
    })
    const event = await openSeason('2026-11-27', ['2027-01-08', '2027-01-09', '2027-01-10', '2027-01-11'])
    const season = eq(promotions.id, 'sibling-free-2027-01-08')
    await db
      .update(promotions)
      .set({ endsAt: Temporal.Instant.from('2026-12-24T08:00:00Z') })
      .where(season)
    const before = await rows()
    expect(before.promotions.map(({ id, startsAt }) => [id, startsAt.toString()])).toEqual([
      ['sibling-free-2025-fall', '2025-08-23T07:00:00Z'],
      ['sibling-free-2027-01-08', '2026-11-27T08:00:00Z'],
    ])
    await seed(db)
    await hearAgain({ ...event, id: randomUUIDv7() })
    expect(await rows()).toEqual(before)
  })

  it('is superseded by that of the next season while both run, in the prices and in the checkout', async () => {
    await openSeason('2027-06-01', ['2027-07-16'])
    await openSeason('2027-07-20', ['2027-09-03'])
    for (const [instant, startsAt] of [
      ['2027-07-20T06:59:59Z', '2027-06-01T07:00:00Z'],
      ['2027-07-20T07:00:00Z', '2027-07-20T07:00:00Z'],
    ] as const) {
      setClock(instant)
      expect((await fixture.prices()).promotions).toMatchObject([{ startsAt }])
      expect(await fixture.checkout(purchase({ children }))).toMatchObject({ amount: 40_000 })
    }
  })
})

describe('POST /admin/prices', () => {
  it('sets a price from now or later, never for the past', async () => {
    setClock('2026-11-28T02:00:00Z')
    const later = '2026-12-01T08:00:00Z'
    const set = (body: unknown) => fixture.call('POST', '/admin/prices', body, adminHeaders)
    expect((await set({ sku: 'class:advanced', amount: 80_000, validFrom: later })).status).toBe(200)
    expect((await set({ sku: 'class:advanced', amount: 77_000 })).status).toBe(200)
    const price = async () => (await fixture.prices()).prices.filter(({ sku }) => sku === 'class:advanced')
    expect(await price()).toMatchObject([{ amount: 77_000 }])
    setClock('2026-12-01T07:59:59.999Z')
    expect(await price()).toMatchObject([{ amount: 77_000 }])
    setClock(later)
    expect(await price()).toMatchObject([{ amount: 80_000 }])
    const past = await set({ sku: 'class:advanced', amount: 1_000, validFrom: '2026-11-30T08:00:00Z' })
    expect([past.status, codeOf(past)]).toEqual([400, 'validation_failed'])
  })

  it('leaves one price at any instant after concurrent changes', async () => {
    const amounts = Array.from({ length: 10 }, (_, index) => 60_000 + index)
    const answers = await Promise.all(amounts.map((amount) => fixture.setPrice('class:custom', amount)))
    expect(answers.map(({ status }) => status)).toEqual(amounts.map(() => 200))
    const prices = (await fixture.prices()).prices.filter(({ sku }) => sku === 'class:custom')
    expect(prices).toHaveLength(1)
  })

  it('rejects requests without the admin secret, unknown skus and invalid amounts', async () => {
    const body = { sku: 'class:basic', amount: 41_000 }
    const stranger = await fixture.call('POST', '/admin/prices', body, { 'x-admin-secret': 'guess' })
    expect([stranger.status, codeOf(stranger)]).toEqual([401, 'admin_secret_invalid'])
    for (const wrong of [
      { sku: 'class:basics' },
      { amount: 0 },
      { amount: -1 },
      { amount: 400.5 },
      { amount: 100_000_000 },
    ]) {
      const answer = await fixture.call('POST', '/admin/prices', { ...body, ...wrong }, adminHeaders)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed'])
    }
  })
})

describe('prices.changed', () => {
  it('is published for a current change of price and not for a later one', async () => {
    const of = ({ skus }: { skus: string[] }) => skus.includes('class:intermediate')
    const later = Temporal.Now.instant().add({ hours: 24 }).toString()
    await fixture.call(
      'POST',
      '/admin/prices',
      { sku: 'class:intermediate', amount: 51_000, validFrom: later },
      adminHeaders,
    )
    expect(codeOf(await fixture.setPrice('class:unheard-of', 51_000))).toBe('validation_failed')
    await fixture.setPrice('class:intermediate', 50_000)
    const { data } = await bed.bus.seen(pricesChanged, of)
    expect(data.skus).toEqual(['class:intermediate'])
    await fixture.setPrice('class:custom', 100_000)
    await bed.bus.seen(pricesChanged, ({ skus }) => skus.includes('class:custom'))
    expect(bed.bus.all(pricesChanged, of)).toHaveLength(1)
  })

  it('is published once for a season’s promotion that is running already', async () => {
    const today = Temporal.Now.plainDateISO('America/Los_Angeles')
    const ofPromotion = ({ skus }: { skus: string[] }) => skus.length === 0
    const before = bed.bus.all(pricesChanged, ofPromotion).length
    const event = await openSeason(today.toString(), [today.add({ days: 45 }).toString()])
    await hearAgain({ ...event, id: randomUUIDv7() })
    const next = today.add({ days: 100 })
    await openSeason(next.toString(), [next.add({ days: 45 }).toString()])
    await fixture.setPrice('class:custom', 100_000)
    await eventually(() => bed.bus.all(pricesChanged, ofPromotion).length > before)
    expect(bed.bus.all(pricesChanged, ofPromotion)).toHaveLength(before + 1)
  })
})
