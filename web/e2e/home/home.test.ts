import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually, useSite } from '../fixture.ts'

const site = useSite()

const shown = (page: Page) => page.locator('[aria-roledescription="slide"]:not([inert])').getAttribute('aria-label')
const away = (page: Page) => page.mouse.move(5, 5)

/** The home page with a paused clock. */
async function openHome(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await site.open({ viewport: { width: 1280, height: 800 }, ...options })
  await page.clock.install()
  await page.goto('/')
  await page.getByRole('heading', { level: 1, name: 'Empowering Kids to Build the Future' }).waitFor()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.getByRole('button', { name: /^Slide 1/ }).click()
  await away(page)
  return page
}

describe('the home page’s slider', () => {
  it('shows the next slide after 7 seconds, and starts over after the third', async () => {
    const page = await openHome()
    for (const next of ['2 of 3', '3 of 3', '1 of 3']) {
      const before = await shown(page)
      await page.clock.runFor(6_900)
      expect(await shown(page)).toBe(before)
      await page.clock.runFor(200)
      await eventually(() => shown(page)).toBe(next)
    }
  })

  it('restarts its timer when the slides are changed by hand', async () => {
    const page = await openHome()
    await page.clock.runFor(6_000)
    await page.getByRole('button', { name: 'Next slide' }).click()
    await away(page)
    await page.clock.runFor(6_000)
    expect(await shown(page)).toBe('2 of 3')
    await page.clock.runFor(1_100)
    await eventually(() => shown(page)).toBe('3 of 3')
    await page.getByRole('button', { name: 'Next slide' }).click()
    expect(await shown(page)).toBe('1 of 3')
    await page.getByRole('button', { name: 'Previous slide' }).click()
    expect(await shown(page)).toBe('3 of 3')
  })

  it('pauses on hover, on keyboard focus, and by its button', async () => {
    const page = await openHome()
    await page.getByRole('link', { name: 'View Classes' }).hover()
    await page.clock.runFor(20_000)
    expect(await shown(page)).toBe('1 of 3')
    await away(page)
    await page.getByRole('banner').getByRole('link', { name: 'Log in' }).focus()
    await page.keyboard.press('Tab')
    await page.clock.runFor(20_000)
    expect(await shown(page)).toBe('1 of 3')
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await page.getByRole('button', { name: 'Pause the slides' }).click()
    await away(page)
    await page.clock.runFor(20_000)
    expect(await shown(page)).toBe('1 of 3')
    await page.getByRole('button', { name: 'Play the slides' }).click()
    await away(page)
    await page.clock.runFor(7_100)
    await eventually(() => shown(page)).toBe('2 of 3')
  })

  it('does not move with reduced motion', async () => {
    const page = await openHome({ reducedMotion: 'reduce' })
    await page.clock.runFor(20_000)
    expect(await shown(page)).toBe('1 of 3')
    expect(await page.getByRole('button', { name: /the slides$/ }).count()).toBe(0)
  })

  it('has one link on each slide', async () => {
    const page = await openHome()
    for (const [slide, name, path] of [
      [/^Slide 1/, 'View Classes', '/robokidslanding'],
      [/^Slide 2/, 'Find Out More', '/innovator'],
      [/^Slide 3/, 'Start Learning', '/guides'],
    ] as const) {
      await page.getByRole('button', { name: slide }).click()
      expect(await page.getByRole('link', { name }).getAttribute('href')).toBe(path)
    }
  })
})
