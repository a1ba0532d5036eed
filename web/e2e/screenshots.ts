import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const folder = process.env['SCREENSHOTS']
const windows = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

/** Whether the cookie banner and the price bar stay fixed: in a full-page picture they would be in its middle. */
async function stick(page: Page, sticks: boolean): Promise<void> {
  const position = sticks ? '' : 'static'
  await page.locator('[aria-label="Cookies"], [data-pay-bar]').evaluateAll((all, where) => {
    for (const one of all) (one as HTMLElement).style.position = where
  }, position)
}

/** Loads everything that scrolling would load. */
async function loadPictures(page: Page): Promise<void> {
  await page.locator('img').evaluateAll((all) =>
    Promise.all(
      (all as HTMLImageElement[]).map(async (picture) => {
        picture.loading = 'eager'
        await picture.decode().catch(() => undefined)
      }),
    ),
  )
}

/** Takes screenshots of the page for a phone and a desktop, if `npm run screenshots` requests them. */
export async function draw(page: Page, name: string): Promise<void> {
  if (!folder) return
  await mkdir(join(folder, 'pages'), { recursive: true })
  const before = page.viewportSize()
  const file = name === '/' ? 'home' : name.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '')
  // A dialog is in the viewport, however the page behind it is scrolled.
  const fullPage = (await page.locator('dialog[open]').count()) === 0
  if (fullPage) {
    await stick(page, false)
    await loadPictures(page)
  }
  for (const window of windows) {
    await page.setViewportSize(window)
    if (fullPage) await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }))
    await page.screenshot({ path: join(folder, 'pages', `${file}.${window.width}.png`), fullPage })
  }
  await stick(page, true)
  if (before) await page.setViewportSize(before)
}
