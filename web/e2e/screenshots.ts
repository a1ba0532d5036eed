import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const folder = process.env['SCREENSHOTS']
const windows = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

/** Whether the question about cookies is shown: in a picture of a whole page it would stand in the middle. */
async function showCookies(page: Page, shown: boolean): Promise<void> {
  const banners = page.getByRole('region', { name: 'Cookies', includeHidden: true })
  await banners.evaluateAll(
    (all, display) => {
      for (const banner of all) (banner as HTMLElement).style.display = display
    },
    shown ? '' : 'none',
  )
}

/** Draws the page as it is now for a phone and for a desk, where `npm run screenshots` asks for it. */
export async function draw(page: Page, name: string): Promise<void> {
  if (!folder) return
  await mkdir(join(folder, 'pages'), { recursive: true })
  const before = page.viewportSize()
  const file = name === '/' ? 'home' : name.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '')
  // A dialog stands in the window, wherever the page behind it is.
  const fullPage = (await page.locator('dialog[open]').count()) === 0
  await showCookies(page, false)
  for (const window of windows) {
    await page.setViewportSize(window)
    if (fullPage) await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    await page.screenshot({ path: join(folder, 'pages', `${file}.${window.width}.png`), fullPage })
  }
  await showCookies(page, true)
  if (before) await page.setViewportSize(before)
}
