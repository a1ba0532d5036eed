import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const folder = process.env['SCREENSHOTS']

/** Draws the page as it is now for a phone and for a desk, where `npm run screenshots` asks for it. */
export async function draw(page: Page, name: string): Promise<void> {
  if (!folder) return
  await mkdir(join(folder, 'pages'), { recursive: true })
  const before = page.viewportSize()
  const file = name === '/' ? 'home' : name.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '')
  // A dialog stands in the window, wherever the page behind it is.
  const fullPage = (await page.locator('dialog[open]').count()) === 0
  for (const [width, height] of [
    [390, 844],
    [1280, 900],
  ] as const) {
    await page.setViewportSize({ width, height })
    if (fullPage) await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    // It would stand in the middle of every page.
    const style = '[aria-label="Cookies"] { display: none }'
    await page.screenshot({ path: join(folder, 'pages', `${file}.${width}.png`), fullPage, style })
  }
  if (before) await page.setViewportSize(before)
}
