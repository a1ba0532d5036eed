import { it } from 'vitest'
import { sampleChange } from '../../src/dashboard/sample-change.ts'
import { sampleChoice } from '../../src/dashboard/sample-choice.ts'
import { sampleCard, sampleDashboard } from '../../src/dashboard/sample-dashboard.ts'
import { useSite } from '../fixture.ts'
import { maren } from '../stub-accounts.ts'

const site = useSite()
const [noa] = sampleChoice.places
const ivo = { ...noa!, childName: 'Ivo', placeId: '019a0000-0000-8000-8000-000000000009', paidAmount: 0 }
it('shots', async () => {
  for (const [name, width] of [
    ['phone', 390],
    ['desktop', 1280],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      site.api.on('GET /api/choices/:reference', () => ({
        json: { ...sampleChoice, places: [noa!, ivo], pending: width === 390 ? sampleChange : null },
      }))
      site.api.accounts.user = maren
      const one = {
        placeId: noa!.placeId,
        childName: 'Ivo',
        childAge: 9,
        status: 'seated' as const,
        paidAmount: 40_000,
        moves: 0,
        cancelledAt: null,
      }
      const cards = [
        sampleCard({
          places: [
            {
              ...one,
              classCancelled: {
                choiceId: sampleChoice.choiceId,
                chooseUntil: '2027-01-30T01:00:00.000Z',
                back: 40_000,
              },
            },
          ],
        }),
        sampleCard({
          cardId: '019a0000-0000-8000-8000-0000000000aa',
          places: [one],
          pendingMove: { ...sampleChange, heldUntil: '2027-01-30T01:00:00.000Z' },
        }),
      ]
      site.api.accounts.dashboard = sampleDashboard({
        classes: { cards, memberClasses: [], past: 0, lastFinished: null },
      })
      const page = await site.open({ viewport: { width, height: 900 }, colorScheme, timezoneId: 'America/New_York' })
      for (const [what, path] of [
        ['choice', `/choice?reference=${sampleChoice.choiceId}`],
        ['each', `/choice?reference=${sampleChoice.choiceId}&step=each`],
        ['dash', '/dashboard'],
      ] as const) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForTimeout(800)
        await page.screenshot({ path: `/tmp/team/shots/${what}-${name}-${colorScheme}.png`, fullPage: true })
      }
    }
})
