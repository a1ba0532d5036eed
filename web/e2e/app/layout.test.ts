import { pagePaths } from '@robokids/contracts/pages'
import type { Page } from 'playwright-core'
import { it } from 'vitest'
import { eventually, useSite } from '../fixture.ts'
import { sidewaysScroll } from '../pages.ts'

const site = useSite()

const ways = ['/', '/robokidslanding', '/membership/login']

/** Elements that overflow the window, and header links that are not visible. */
async function faultsAt(page: Page): Promise<string[]> {
  const sideways = await sidewaysScroll(page)
  const seen = await page
    .getByRole('banner')
    .getByRole('link')
    .evaluateAll((links) =>
      links
        .filter((link) => {
          const { left, right, top, bottom } = link.getBoundingClientRect()
          return left >= 0 && right <= innerWidth && top >= 0 && bottom <= 60
        })
        .map((link) => link.getAttribute('href')),
    )
  return [
    ...(sideways > 0 ? [`${sideways} px too wide`] : []),
    ...ways.filter((way) => !seen.includes(way)).map((way) => `${way} is not in sight`),
  ]
}

it('fits every page from 320 to 1920 px, with the links to the classes and the account visible', async () => {
  const page = await site.open({ reducedMotion: 'reduce' })
  for (const path of pagePaths) {
    await page.setViewportSize({ width: 320, height: 900 })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    for (const width of [320, 360, 390, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      await eventually(async () => [path, width, ...(await faultsAt(page))]).toEqual([path, width])
    }
  }
}, 240_000)
