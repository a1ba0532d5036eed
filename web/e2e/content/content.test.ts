import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'

const site = useSite()

const wordsOf = (page: Page) => page.locator('main').innerText()

describe('the hub', () => {
  it('has four news cards and three guide cards, each a link as a whole', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 900 } })
    await page.goto('/news-guides')
    const cards = page.locator('main li:has(h3)')
    await cards.first().waitFor()
    const categories = await cards.evaluateAll((items) =>
      items.map((item) => item.querySelector('p')?.textContent?.split(' ')[0]),
    )
    expect(categories).toEqual(['News', 'News', 'News', 'News', 'Guide', 'Guide', 'Guide'])
    for (const [index, address] of [
      '/news/bugbots',
      '/news/fall-launch',
      '/news/security-basics',
      '/news/welcome',
      '/guides/light-switch',
      '/guides/motor-guide',
      '/guides/servo-guide',
    ].entries()) {
      const card = cards.nth(index)
      const { width, height } = (await card.boundingBox()) ?? { width: 0, height: 0 }
      // A corner of the picture, then one of the text.
      await card.click({ position: index % 2 ? { x: 8, y: 8 } : { x: width - 8, y: height - 8 } })
      await page.waitForURL(`**${address}`)
      await page.goBack()
      await page.waitForURL('**/news-guides')
      await cards.first().waitFor()
    }
  })

  it.each([
    ['/guides', '/news-guides'],
    ['/admin', '/'],
  ])('is where a link to %s ends, or else home, with no way back to it', async (from, to) => {
    const page = await site.open()
    await page.goto('/contact')
    await page.goto(from)
    await page.waitForURL(`${site.url}${to}`)
    await page.goBack()
    await eventually(() => new URL(page.url()).pathname).toBe('/contact')
  })

  it('is where a press on the founder’s link to the guides ends, one step from the founder', async () => {
    const page = await site.open()
    await page.goto('/about/founder-robo-kids-learning')
    await page.getByRole('link', { name: 'Read the guides' }).click()
    await page.waitForURL('**/news-guides')
    await page.goBack()
    await page.waitForURL('**/about/founder-robo-kids-learning')
  })
})

describe('the FAQ', () => {
  it('opens at the question in the URL’s fragment, and gives each question one', async () => {
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.goto('/faq#refunds')
    const refunds = page.getByRole('heading', { name: 'Can I get a refund?' })
    await eventually(async () => (await refunds.boundingBox())?.y).toBeGreaterThan(60)
    await eventually(async () => (await refunds.boundingBox())?.y).toBeLessThan(400)
    await page.getByRole('link', { name: 'Which time zone are the class times in?' }).click()
    await eventually(() => new URL(page.url()).hash).toBe('#time-zones')
  })
})

describe('the comparison of the levels', () => {
  it('suggests a level by age and experience, shows the server’s prices, and works without scripts', async () => {
    const [, intermediate] = site.api.classes.levels
    if (!intermediate) throw new Error('Level 2 is missing')
    intermediate.price.amount = 51_200
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.goto('/levels')
    await page.getByRole('row').filter({ hasText: 'Level 2' }).getByText('$512').waitFor()
    const answer = page.getByRole('main').getByRole('status')
    await page.getByLabel('Your child’s age').selectOption('9')
    expect(await answer.innerText()).toBe('Answer both and we’ll suggest a level.')
    await page.getByLabel('What your child has built before').selectOption('A first circuit or a small program')
    await answer.getByText('Level 2 Smart Robotics and Coding').waitFor()
    await page.getByLabel('Your child’s age').selectOption('5')
    await answer.getByText('It’s made for ages 6 to 13.').waitFor()
    expect(await answer.getByRole('link').getAttribute('href')).toBe('/robokidspage1')
    expect(await findings(page)).toEqual([])
    const reader = await site.open({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } })
    await reader.goto('/levels')
    expect(await wordsOf(reader)).toContain('A robot of your child’s own invention')
    expect(await reader.getByLabel('Your child’s age').isDisabled()).toBe(true)
  })
})

describe('a legal page', () => {
  it.each([
    ['/privacy', 14],
    ['/terms', 19],
  ])('%s counts its %i sections, and leads to each', async (path, sections) => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.goto(path)
    const contents = page.getByRole('navigation', { name: 'On this page' }).getByRole('link')
    await contents.first().waitFor()
    const entries = await contents.allInnerTexts()
    expect(entries).toHaveLength(sections)
    expect(await page.locator('main section h2').allInnerTexts()).toEqual(entries)
    expect(entries.map((entry) => Number.parseInt(entry, 10))).toEqual(
      Array.from({ length: sections }, (_, at) => at + 1),
    )
    expect(await wordsOf(page)).toContain('Saturday, August 23, 2025')

    await contents.nth(11).click()
    const id = await page.locator('main section h2').nth(11).getAttribute('id')
    await eventually(() => new URL(page.url()).hash).toBe(`#${id}`)
    // Below the fixed header, and within the window.
    await eventually(async () => (await page.locator(`#${id}`).boundingBox())?.y).toBeGreaterThan(60)
    await eventually(async () => (await page.locator(`#${id}`).boundingBox())?.y).toBeLessThan(300)
  })
})

describe('the fall 2025 article', () => {
  it('takes its prices from the server', async () => {
    const [, , , custom] = site.api.classes.levels
    if (!custom) throw new Error('Level X is missing')
    custom.price.amount = 104_200
    const page = await site.open()
    await page.goto('/news/fall-launch')
    const row = page.getByRole('row').filter({ hasText: 'Level X' })
    await row.getByText('$1,042').waitFor()
    expect(await wordsOf(page)).toContain('$400')
    expect(await wordsOf(page)).toContain('Friday, October 3, 2025')
  })

  it('shows October 3 in Tokyo, too', async () => {
    const page = await site.open({ timezoneId: 'Asia/Tokyo' })
    await page.goto('/news/fall-launch')
    await page.getByText('Friday, October 3, 2025').waitFor()
  })

  it('shows the rest of the article when there are no prices', async () => {
    site.api.on('GET /api/classes', () => ({ status: 400, json: { code: 'validation_failed', message: 'No.' } }))
    const page = await site.open()
    await page.goto('/news/fall-launch')
    await page.getByText('See its page').first().waitFor()
    expect(await wordsOf(page)).toContain('A sibling joins free')
  })
})

describe('a guide', () => {
  const sketch = (name: string) => readFile(join(import.meta.dirname, '../../src/guides', name), 'utf8')

  it('copies its sketch as it is', async () => {
    const page = await site.open()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/guides/servo-guide')
    await page.getByRole('button', { name: 'Copy servo-serial.ino' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await sketch('servo-serial.ino'))
  })

  it('selects the sketch when the browser does not let it copy', async () => {
    const page = await site.open()
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    })
    await page.goto('/guides/motor-guide')
    await page.getByRole('button', { name: 'Copy motor.ino' }).click()
    await page.getByText('Selected: now copy it').waitFor()
    const marked = await page.evaluate(() => getSelection()?.toString())
    expect(marked?.trim()).toBe((await sketch('motor.ino')).trim())
  })

  it('shows its circuit, its parts and what to do when it does not work', async () => {
    const page = await site.open()
    await page.goto('/guides/light-switch')
    const drawing = page.getByRole('img', { name: /^Wiring diagram: / })
    await drawing.first().waitFor()
    expect(await drawing.count()).toBe(2)
    const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts()
    for (const part of ['What you need', 'Wire it', 'Program it', 'The same with a pull-up', 'When it does not work']) {
      expect(headings).toContain(part)
    }
  })
})
