import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually, useSite } from '../fixture.ts'

const site = useSite()

const text = 'Robot Spider is in your cart.'
/** Advances the clock in steps, so that the page can handle pointer and focus events in between. */
async function pass(page: Page, seconds: number) {
  for (let second = 0; second < seconds; second++) await page.clock.runFor(1_000)
}
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

describe('a toast', () => {
  it('announces what was done without taking the focus, waits during hover and focus, and disappears by itself or when closed', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.clock.install()
    await page.goto('/design-system')
    const toast = page.getByRole('status').getByText(text)
    const dismiss = page.getByRole('button', { name: 'Dismiss' })
    const show = page.getByRole('button', { name: 'Show a toast' })
    await show.waitFor()
    // The live region exists before its text.
    expect(await page.getByRole('main').locator('output:empty').count()).toBe(1)
    await page.clock.pauseAt(Date.now() + 60_000)

    await show.click()
    await toast.waitFor()
    expect(await focused(page)).toBe('Show a toast')
    await dismiss.hover()
    await pass(page, 20)
    expect(await toast.isVisible()).toBe(true)
    await page.mouse.move(5, 700)
    await pass(page, 6)
    expect(await toast.isVisible()).toBe(true)
    await eventually(async () => {
      await page.clock.runFor(200)
      return toast.isVisible()
    }).toBe(false)

    await show.focus()
    await page.keyboard.press('Enter')
    await toast.waitFor()
    for (const next of ['More', 'Undo', 'Dismiss']) {
      await page.keyboard.press('Tab')
      await eventually(() => focused(page)).toBe(next)
    }
    await pass(page, 20)
    expect(await toast.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await toast.waitFor({ state: 'hidden' })
    expect(await focused(page)).toBe('More')
  })

  it('has its undo and close buttons at least 8 px apart, each as large as a thumb', async () => {
    const page = await site.open()
    await page.goto('/design-system')
    for (const width of [360, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.getByRole('button', { name: 'Show a toast' }).click()
      const boxes = await Promise.all(
        ['Undo', 'Dismiss'].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
      )
      const [undo, dismiss] = boxes
      if (!undo || !dismiss) throw new Error('They are not shown.')
      const apart = Math.max(
        dismiss.x - (undo.x + undo.width),
        undo.y - (dismiss.y + dismiss.height),
        dismiss.y - (undo.y + undo.height),
      )
      expect([width, apart >= 8]).toEqual([width, true])
      // The transform of its animation may round 44 px down a little.
      for (const { width: wide, height } of [undo, dismiss])
        expect(Math.round(Math.min(wide, height))).toBeGreaterThanOrEqual(44)
      await page.getByRole('button', { name: 'Dismiss' }).click()
    }
  })
})
