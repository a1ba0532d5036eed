import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { supportEmail } from '../../src/contact/support-email.ts'
import { findings } from '../axe.ts'
import { eventually, useSite } from '../fixture.ts'
import { sidewaysScroll } from '../pages.ts'
import { maren } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()

const messages = () => site.api.callsOf('POST', /^\/api\/contact$/)
const send = (page: Page) => page.getByRole('button', { name: /^Send/ })
const fields = ['Your name', 'Email', 'What is it about?', /^Order or registration/, 'Message'] as const
const field = (page: Page, label: (typeof fields)[number]) =>
  page.getByRole('main').getByLabel(label, typeof label === 'string' ? { exact: true } : {})
const typed = (page: Page) => Promise.all(fields.map((label) => field(page, label).inputValue()))

const written = ['Maren Holt', 'maren.holt@example.com', 'kit', 'RK-000123', 'The servo is missing.\n\nThank you']

async function write(page: Page): Promise<void> {
  await page.goto('/contact')
  for (const [index, label] of fields.entries()) {
    const value = written[index] ?? ''
    await (index === 2 ? field(page, label).selectOption(value) : field(page, label).fill(value))
  }
}

describe('the contact form', () => {
  it('sends a message, and shows its number and when it is answered', async () => {
    const { handler, release } = held(() => ({ json: { reference: 'M-0F3A9C1B' } }))
    site.api.on('POST /api/contact', handler)
    const page = await site.open()
    await write(page)
    await send(page).dblclick()
    await page.getByRole('button', { name: 'Sending...' }).waitFor()
    release()
    const told = page.getByRole('status').filter({ hasText: 'We got your message.' })
    await told.waitFor()
    expect(await told.innerText()).toMatch(/maren\.holt@example\.com within 48 hours[^]*M-0F3A9C1B/)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('M-0F3A9C1B')
    const [name, email, topic, reference, message] = written
    expect(messages().map(({ body }) => body)).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{14}7/), name, email, topic, reference, message },
    ])
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('servo')
    await page.getByRole('button', { name: 'Write another message' }).click()
    await eventually(() => typed(page)).toEqual(['', '', '', '', ''])
  })

  it('keeps the message on a server error and over a reload, and sends it again as the same message', async () => {
    const away = [
      refusal('upstream_unavailable', 'Please try again in a moment.'),
      { status: 502, html: 'Bad Gateway' },
    ]
    site.api.on('POST /api/contact', (_, nth) => away[nth - 1] ?? { json: { reference: 'M-0F3A9C1B' } })
    const page = await site.open()
    await write(page)
    const failed = page.getByRole('alert').getByText(`We couldn’t send your message. It’s still here`)
    for (let n = 1; n <= 2; n += 1) {
      await send(page).click()
      await failed.waitFor()
      await eventually(() => messages().length).toBe(n)
      expect(await typed(page)).toEqual(written)
      expect(await failed.innerText()).toContain(supportEmail)
    }
    await page.reload()
    await eventually(() => typed(page)).toEqual(written)
    await send(page).click()
    await page.getByText('We got your message.').waitFor()
    expect(new Set(messages().map(({ body }) => body['id'])).size).toBe(1)
    // Another message has another id.
    await page.getByRole('button', { name: 'Write another message' }).click()
    await write(page)
    await send(page).click()
    await page.getByText('We got your message.').waitFor()
    expect(new Set(messages().map(({ body }) => body['id'])).size).toBe(2)
  })

  it('says beside each field what is missing, by its own checks and the server’s', async () => {
    const page = await site.open()
    await page.goto('/contact')
    await send(page).click()
    await page.getByRole('alert').getByText('Please check the marked fields.').waitFor()
    for (const words of ['Name', 'Email', 'Message'])
      await page.locator('main form').getByText(`${words} is required.`).last().waitFor()
    await page.locator('main form').getByText('Choose what it is about.').last().waitFor()
    await eventually(() => field(page, 'Your name').evaluate((one) => one === document.activeElement)).toBe(true)
    expect(messages()).toEqual([])
    expect(await findings(page)).toEqual([])

    await write(page)
    const issue = { path: 'email', message: 'Enter an email address, like name@example.com.' }
    site.api.on('POST /api/contact', () => refusal('validation_failed', issue.message, [issue]))
    await send(page).click()
    await eventually(() => field(page, 'Email').getAttribute('aria-invalid')).toBe('true')
    site.api.on('POST /api/contact', () => refusal('rate_limited', 'Too many requests. Please try again in an hour.'))
    await send(page).click()
    await page.getByText('Too many requests. Please try again in an hour.').waitFor()
    expect(await typed(page)).toEqual(written)
  })

  it('fills in the signed-in user, and clears what they typed when they log out', async () => {
    site.api.accounts.user = maren
    const page = await site.open()
    await page.goto('/contact')
    await eventually(() => typed(page)).toEqual(['Maren Holt', maren.email, '', '', ''])
    await field(page, 'Your name').fill('')
    expect(await field(page, 'Your name').inputValue()).toBe('')
    await field(page, 'Message').fill('Of me alone.')
    await page.getByRole('button', { name: 'Logout' }).click()
    await eventually(() => page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('Of me alone.')
  })

  it('fits every window, and says where to write without scripts', async () => {
    const page = await site.open()
    await page.goto('/contact')
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await sidewaysScroll(page)).toBe(0)
    }
    const bare = await site.open({ javaScriptEnabled: false })
    await bare.goto('/contact')
    const address = bare.getByRole('main').getByRole('link', { name: supportEmail })
    expect(await address.getAttribute('href')).toBe(`mailto:${supportEmail}`)
    expect(await bare.locator('noscript p').first().innerText()).toContain('This form needs JavaScript.')
    expect(await field(bare, 'Message').isDisabled()).toBe(true)
  })
})
