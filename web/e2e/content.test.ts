import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pagePaths, redirects } from '@robokids/contracts/pages'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findings } from './axe.ts'
import { eventually, useSite } from './fixture.ts'
import { heading, layoutShift, sidewaysScroll, watchLayoutShift } from './pages.ts'

const site = useSite()

/** Address, the document's title and the page's heading. */
const pages = [
  ['/about', 'About us', 'Small robots, and the people who build them'],
  ['/about/founder-robo-kids-learning', 'The founder', 'The founder of Robo Kids Learning'],
  [
    '/about/director-educational-services',
    'The Director of Educational Services',
    'The Director of Educational Services',
  ],
  ['/contact', 'Contact Us', 'Contact Us'],
  ['/privacy', 'Privacy Policy', 'Privacy Policy'],
  ['/terms', 'Terms of Service', 'Terms of Service'],
  ['/news-guides', 'News & Guides', 'Things to read, things to build'],
  ['/news', 'News', 'What is new'],
  ['/blog', 'Blog', 'Notes from the bench'],
  ['/news/welcome', 'Welcome to Robo Kids Learning', 'Welcome to Robo Kids Learning'],
  ['/news/security-basics', 'How to tell a safe website', 'How to tell a safe website from one that only looks safe'],
  ['/news/fall-launch', 'Fall 2025 classes', 'Our fall 2025 classes begin in October'],
  ['/news/bugbots', 'Bug robots', 'Bug robots: small, soft and hard to break'],
  ['/guides/light-switch', 'Guide: light switch', 'A light switch of your own'],
  ['/guides/motor-guide', 'Guide: motor', 'Drive a motor, both ways and at any speed'],
  ['/guides/servo-guide', 'Guide: servo', 'Turn a servo to the angle you want'],
  ['/innovator', 'Innovator Program', 'From an idea to a company'],
  ['/follow', 'Follow Us', 'See what is on the bench'],
] as const

const wordsOf = (page: Page) => page.locator('main').innerText()

/** What the links in the page and in its footer lead to. */
const linksOf = (page: Page) =>
  page.locator('main a, footer a').evaluateAll((links) =>
    links.map((link) => ({
      href: link.getAttribute('href') ?? '',
      target: link.getAttribute('target'),
      rel: link.getAttribute('rel') ?? '',
    })),
  )

describe.each(pages)('%s', (path, title, name) => {
  it('fits phones and desktops, has its title and heading, and links that lead somewhere', async () => {
    const page = await site.open({
      viewport: { width: 360, height: 740 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
    })
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    const response = await page.goto(path)
    expect(response?.status()).toBe(200)
    await heading(page).waitFor()
    expect(await heading(page).innerText()).toBe(name)
    expect(await heading(page).count()).toBe(1)
    await eventually(() => page.title()).toBe(`${title} · Robo Kids Learning`)

    const anchors = await page.locator('main [id]').evaluateAll((elements) => elements.map(({ id }) => `#${id}`))
    const known = [...pagePaths, ...Object.keys(redirects), ...anchors]
    for (const { href, target, rel } of await linksOf(page)) {
      if (href.startsWith('https://')) {
        expect({ href, target, rel }).toEqual({ href, target: '_blank', rel: 'noopener noreferrer' })
      } else if (!href.startsWith('mailto:')) {
        expect(known).toContain(href)
      }
    }

    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await sidewaysScroll(page)).toBe(0)
    }
    expect(await findings(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await findings(page)).toEqual([])
    expect(complaints).toEqual([])
  })
})

describe('the hub', () => {
  it('has four news cards and three guide cards, each of which leads on wherever it is pressed', async () => {
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
      // A corner of the picture, then one of the words.
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
    await page.goBack({ waitUntil: 'commit' })
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

  it('tells October 3 in Tokyo, too', async () => {
    const page = await site.open({ timezoneId: 'Asia/Tokyo' })
    await page.goto('/news/fall-launch')
    await page.getByText('Friday, October 3, 2025').waitFor()
  })

  it('shows the rest of itself when there are no prices', async () => {
    site.api.on('GET /api/classes', () => ({ status: 400, json: { code: 'validation_failed', message: 'No.' } }))
    const page = await site.open()
    await page.goto('/news/fall-launch')
    await page.getByText('On its page').first().waitFor()
    expect(await wordsOf(page)).toContain('A sibling joins free')
  })
})

describe('a guide', () => {
  const sketch = (name: string) => readFile(join(import.meta.dirname, '..', 'src', 'content', 'guides', name), 'utf8')

  it('copies its sketch as it is', async () => {
    const page = await site.open()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/guides/servo-guide')
    await page.getByRole('button', { name: 'Copy servo-serial.ino' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await sketch('servo-serial.ino'))
  })

  it('marks the sketch where the browser does not let it copy', async () => {
    const page = await site.open()
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    })
    await page.goto('/guides/motor-guide')
    await page.getByRole('button', { name: 'Copy motor.ino' }).click()
    await page.getByText('Marked: copy it with your keys').waitFor()
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

describe('the first load of what is read', () => {
  it.each(['/terms', '/news/bugbots', '/guides/light-switch'])(
    'needs at most 122 KB of script for %s and moves nothing',
    async (path) => {
      const page = await site.open({ viewport: { width: 1280, height: 900 } })
      const loaded: Promise<Buffer>[] = []
      page.on('response', (response) => {
        if (response.url().endsWith('.js')) loaded.push(response.body())
      })
      await watchLayoutShift(page)
      await page.goto(path, { waitUntil: 'networkidle' })
      await heading(page).waitFor()
      const scripts = await Promise.all(loaded)
      const size = scripts.reduce((sum, script) => sum + gzipSync(script, { level: 9 }).length, 0)
      expect(size).toBeGreaterThan(50_000)
      expect(size).toBeLessThanOrEqual(122 * 1024)
      expect(await layoutShift(page)).toBeLessThan(0.02)
    },
  )
})
