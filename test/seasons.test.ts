import { pricesSchema } from '@robokids/contracts/billing'
import { seasonOpened } from '@robokids/contracts/enrollment'
import { afterAll, describe, expect, it } from 'vitest'
import { billing } from '../services/billing/src/app.ts'
import { enrollment } from '../services/enrollment/src/app.ts'
import { eventually, testBed, type TestBed } from './src/bed.ts'

const beds: TestBed[] = []
afterAll(() => Promise.all(beds.map((bed) => bed.stop())))

async function emptyBed(): Promise<TestBed> {
  const bed = await testBed()
  beds.push(bed)
  return bed
}

const startEnrollment = (bed: TestBed) => bed.start(enrollment)
const startBilling = (bed: TestBed) =>
  bed.start(billing, {
    STRIPE_SECRET_KEY: 'sk_test_seasons',
    STRIPE_API_URL: 'http://127.0.0.1:9',
    STRIPE_WEBHOOK_SECRETS: 'whsec_seasons',
    SITE_URL: 'https://robokids.example/',
    RECONCILE_EVERY_MS: '3600000',
  })

describe('The season that opens with an empty database', () => {
  it.each(['billing', 'enrollment'] as const)(
    'The first season has its promotion if %s is started first',
    async (first) => {
      const bed = await emptyBed()
      let billingService: Awaited<ReturnType<typeof startBilling>>
      if (first === 'billing') {
        billingService = await startBilling(bed)
        await startEnrollment(bed)
      } else {
        await startEnrollment(bed)
        await bed.bus.seen(seasonOpened)
        billingService = await startBilling(bed)
      }
      const { data } = await bed.bus.seen(seasonOpened)
      const [firstDay] = data.classDates
      await eventually(async () => {
        const { promotions } = pricesSchema.parse(await (await fetch(`${billingService.url}/prices`)).json())
        expect(promotions).toMatchObject([{ promotionId: `sibling-free-${firstDay}`, kind: 'sibling_free' }])
        return true
      })
    },
  )
})
