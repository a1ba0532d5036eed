import { pagePaths } from '@robokids/contracts/pages'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { useSite } from './fixture.ts'
import { sidewaysScroll } from './pages.ts'

const site = useSite()

/** What of the page reaches over the window's side, for whoever has to mend it. */
async function tooWide(page: Page): Promise<string[]> {
  if ((await sidewaysScroll(page)) <= 0) return []
  return page.locator('body *').evaluateAll((elements) =>
    elements
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 0.5)
      .filter((element) => element.getBoundingClientRect().width > 1)
      .slice(0, 4)
      .map((element) => `${element.tagName.toLowerCase()}.${element.className} ${element.textContent?.slice(0, 40)}`),
  )
}

it('every page fits from 320 to 1920 px, and a phone with letters of twice the size, and has the ways to the classes and the account in sight', async () => {
  const page = await site.open({ reducedMotion: 'reduce' })
  const header = page.getByRole('banner')
  for (const path of pagePaths) {
    await page.setViewportSize({ width: 320, height: 700 })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
    })
    expect.soft([path, '320 px, text at 200 %', await tooWide(page)]).toEqual([path, '320 px, text at 200 %', []])
    await page.evaluate(() => {
      document.documentElement.style.fontSize = ''
    })
    for (const width of [320, 360, 390, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 })
      expect.soft([path, width, await tooWide(page)]).toEqual([path, width, []])
      const seen = await header.getByRole('link').evaluateAll((links) =>
        links
          .filter((link) => {
            const { left, right, top, bottom } = link.getBoundingClientRect()
            return link.checkVisibility() && left >= 0 && right <= innerWidth && top >= 0 && bottom <= 60
          })
          .map((link) => link.getAttribute('href')),
      )
      if (!seen.includes('/robokidslanding'))
        console.log(
          path,
          width,
          await header.evaluate((e) =>
            JSON.stringify([
              innerWidth,
              document.documentElement.clientWidth,
              getComputedStyle(document.documentElement).fontSize,
              document.documentElement.dataset,
              ...[...e.querySelectorAll('a, li, nav, ul, div')].map((a) => {
                const r = a.getBoundingClientRect()
                return [
                  a.tagName,
                  a.textContent?.slice(0, 10),
                  r.left | 0,
                  r.top | 0,
                  r.right | 0,
                  r.bottom | 0,
                  getComputedStyle(a).display,
                ]
              }),
            ]),
          ),
        )
      expect
        .soft([path, width, seen])
        .toEqual([path, width, expect.arrayContaining(['/', '/robokidslanding', '/membership/login'])])
    }
  }
}, 180_000)
