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
  for (const [width, height] of [
    [390, 844],
    [1280, 900],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.screenshot({ path: join(folder, 'pages', `${file}.${width}.png`), fullPage: true })
  }
  if (before) await page.setViewportSize(before)
}
