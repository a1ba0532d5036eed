import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useSite } from '../fixture.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()

describe('the class landing page', () => {
  it('shows each level with its price, dates, seats left and the link to its form', async () => {
    const page = await site.open()
    await page.goto('/robokidslanding')
    const cards = page.getByRole('article')
    const first = cards.filter({ hasText: 'Level 1 Foundations' })
    await first.getByText('$400').waitFor()
    expect(await first.getByRole('listitem').allInnerTexts()).toEqual([
      'Friday, October 3, 2025\n10 seats left',
      'Saturday, October 4, 2025\n7 seats left',
      'Sunday, October 5, 2025\n1 seat left',
      'Monday, October 6, 2025\nClass full',
    ])
    const text = await first.innerText()
    for (const words of ['6 weeks', '6 to 13', '4:00 PM Pacific']) expect(text).toContain(words)
    const leadTo = (links: Locator) => links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    const pages = ['/robokidspage1', '/robokidspage2', '/robokidspage3', '/robokidspage4']
    expect(await leadTo(cards.getByRole('link', { name: /^Register for/ }))).toEqual(pages)
    const ways = page.getByRole('list', { name: 'Register' }).getByRole('link')
    expect(await leadTo(ways)).toEqual(pages)
    expect(await ways.nth(3).innerText()).toBe(
      'Level X\nCustom Innovation Lab\nAges 11 to 16\n$1,000, from Oct 3\nRegister',
    )
    expect(await page.getByRole('link', { name: 'More dates available' }).getAttribute('href')).toBe('/contact')
    expect(await page.getByRole('blockquote').count()).toBe(3)
  })

  it('shows the sibling promotion with its last day, and only while the server says that it is on', async () => {
    const page = await site.open()
    await page.goto('/robokidslanding')
    const banner = page.getByText('Enroll one child and a sibling joins free')
    await banner.waitFor()
    expect(await page.getByText('until Friday, October 10, 2025').count()).toBe(1)
    site.api.classes = { ...site.api.classes, promotion: null }
    await page.reload()
    await page.getByText('$400').first().waitFor()
    expect(await banner.count()).toBe(0)
  })

  it('says so when a level is full, and when it has no dates', async () => {
    const { levels } = site.api.classes
    site.api.classes = {
      ...site.api.classes,
      levels: levels.map((level) => ({
        ...level,
        sessions:
          level.classType === 'basic'
            ? level.sessions.map((session) => ({ ...session, seatsLeft: 0 }))
            : level.classType === 'custom'
              ? []
              : level.sessions,
      })),
    }
    const page = await site.open()
    await page.goto('/robokidslanding')
    const card = (name: string) => page.getByRole('article').filter({ hasText: name })
    await card('Level 1').getByText('Class full').first().waitFor()
    expect(await card('Level 1').getByText('Class full').count()).toBe(4)
    expect(await card('Level 1').getByRole('link', { name: 'View Level 1' }).count()).toBe(1)
    expect(await card('Level X').getByText('New dates are coming.').count()).toBe(1)
    expect(await card('Level 2').getByRole('link', { name: 'Register for Level 2' }).count()).toBe(1)
  })

  it('keeps the levels when the server fails, and loads them on a retry', async () => {
    let down = true
    site.api.on('GET /api/classes', () => (down ? refusal('validation_failed', 'No.') : { json: site.api.classes }))
    const page = await site.open()
    await page.goto('/robokidslanding')
    await page.getByRole('alert').getByText('We could not load the dates and prices.').waitFor()
    expect(await page.getByRole('link', { name: 'Register for Level 1' }).count()).toBe(1)
    down = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('$400').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
