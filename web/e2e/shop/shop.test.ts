import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { eventually } from '@robokids/test/bed'
import { startSystem, type System } from '@robokids/test/system'
import type { Browser, Page } from 'playwright-core'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from '../axe.ts'
import { launchBrowser, newVisitor } from '../browser.ts'

let system: System
let browser: Browser
beforeAll(async () => {
  await buildWeb()
  ;[system, browser] = await Promise.all([startSystem({ bff: { WEB_DIST: join(root, 'web/dist') } }), launchBrowser()])
})
afterAll(async () => {
  await browser.close()
  await system.stop()
})

async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate(() => {
      const at = document.activeElement
      return at?.textContent?.trim() ?? ''
    })
    if (typeof name === 'string' ? label === name : name.test(label)) return
  }
  throw new Error(`The Tab key does not lead to ${String(name)}.`)
}

const cartOf = (page: Page) => page.getByRole('region', { name: 'Your cart' })
const kept = (page: Page) => page.evaluate(() => sessionStorage.getItem('cart'))

async function payAs(page: Page, email: string): Promise<void> {
  for (const [label, value] of [
    ['Email', email],
    ['Full name', 'Zoë Holt'],
    ['Address', '14 Alder Way'],
    ['City', 'Cambridge'],
    ['State', 'MA'],
    ['ZIP code', '02139'],
    ['Card number', '4242 4242 4242 4242'],
    ['Expiry date', '12 / 34'],
    ['Security code', '123'],
    ['Name on card', 'Zoë Holt'],
  ] as const) {
    await page.getByLabel(label, { exact: true }).fill(value)
  }
  await page.getByRole('button', { name: /^Pay \$/ }).click()
}

describe('the shop', () => {
  it('sells the Spider by keyboard alone, sends the mail, and shows its refund', async () => {
    const email = 'zoe.holt@example.com'
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/shop')
    await page.getByText('Your cart is currently empty.').waitFor()
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).and(page.locator(':enabled')).waitFor()
    expect(await findings(page)).toEqual([])

    // Added twice, removed, and added again; all kept after a reload.
    await tabTo(page, 'Add Robot Spider to cart')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await page.getByRole('status').getByText('Your cart now has 2 of Robot Spider.').waitFor()
    await cartOf(page).getByText('$600.00').first().waitFor()
    await tabTo(page, 'Remove Robot Spider')
    await page.keyboard.press('Enter')
    await cartOf(page).getByText('Your cart is currently empty.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Your cart')
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).press('Enter')
    await page.reload()
    await cartOf(page).getByRole('button', { name: 'Remove Robot Spider' }).waitFor()
    expect(JSON.parse((await kept(page)) ?? '')).toEqual([
      { id: 'product:robot-spider', name: 'Robot Spider', price: 300, quantity: 1 },
    ])
    expect(await findings(page)).toEqual([])

    // To the card page and back: the cart is unchanged, and its button works.
    await tabTo(page, 'Check out')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Pay $300.00' }).waitFor()
    const cardPage = page.url()
    await page.goBack()
    await cartOf(page).getByRole('button', { name: 'Remove Robot Spider' }).waitFor()
    await cartOf(page).getByRole('button', { name: 'Check out' }).click()
    await page.getByRole('button', { name: 'Pay $300.00' }).waitFor()
    expect(page.url()).toBe(cardPage)
    await payAs(page, email)

    await page.waitForURL(/\/shop\/success/)
    await page.getByRole('heading', { level: 1, name: 'Thank you for your pre-order' }).waitFor()
    // The paid items are no longer in the cart, nor in the header's count.
    await page.getByRole('link', { name: /^In your cart/ }).waitFor({ state: 'hidden' })
    for (const text of ['$300.00', 'Zoë Holt', 'Cambridge, MA 02139', email]) {
      expect(await page.getByRole('main').innerText()).toContain(text)
    }
    expect(await findings(page)).toEqual([])
    expect(await kept(page)).toBeNull()
    const mailed = (subject: RegExp) =>
      eventually(async () => (await system.mailsTo(email)).find((mail) => subject.test(mail.subject)), 20_000)
    expect((await mailed(/^Your pre-order: Robot Spider$/)).text).toContain('Cambridge, MA 02139')

    const stripe = new Stripe('sk_test_dashboard', { ...system.simulator.sdk, telemetry: false })
    const [session] = (await stripe.checkout.sessions.list({ limit: 1 })).data
    await stripe.refunds.create({ payment_intent: session?.payment_intent as string })
    await mailed(/^Refund of \$300\.00: Robot Spider$/)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Your order is refunded' }).waitFor()
    expect(await page.getByRole('main').innerText()).toContain('$300.00 was refunded to your card.')
    await page.getByRole('main').getByRole('link', { name: 'Back to the shop' }).click()
    await page.getByText('Your cart is currently empty.').waitFor()
    expect(errors).toEqual([])
    await context.close()
  })

  it('treats an invalid stored cart as empty, and keeps the valid items of another', async () => {
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl, colorScheme: 'dark' })
    const page = await context.newPage()
    await page.goto('/shop')
    for (const nonsense of ['{', 'null', '7', '[7]', '{"id":1}', '[{"id":"x","name":"X","price":"300"}]', '[[]]']) {
      await page.evaluate((text) => sessionStorage.setItem('cart', text), nonsense)
      await page.reload()
      await page.getByRole('button', { name: 'Add Robot Spider to cart' }).and(page.locator(':enabled')).waitFor()
      expect(await cartOf(page).innerText()).toContain('Your cart is currently empty.')
    }
    const bear = { id: 'product:ai-teddy-bear', name: 'AI Teddy Bear Companion', price: 1 }
    await page.evaluate(
      (items) => sessionStorage.setItem('cart', JSON.stringify(items)),
      [bear, { id: 'product:robot-spider', name: 'Robot Spider', price: 0.01 }],
    )
    await page.reload()
    // Its price is the shop's, and an unavailable item can be removed to check out.
    await cartOf(page).getByText('$450.00').waitFor()
    await cartOf(page).getByText('Not available right now').waitFor()
    expect(await cartOf(page).getByRole('button', { name: 'Check out' }).isDisabled()).toBe(true)
    expect(await findings(page)).toEqual([])
    await cartOf(page).getByRole('button', { name: 'Remove AI Teddy Bear Companion' }).click()
    await cartOf(page).locator('strong', { hasText: '$300.00' }).waitFor()
    await cartOf(page).getByRole('button', { name: 'Clear cart' }).click()
    await page.getByText('Your cart is currently empty.').waitFor()
    expect(errors).toEqual([])
    await context.close()
  })

  it('notifies subscribers about the bear: confirmed by mail, and removable on its page', async () => {
    const email = 'noa.holt@example.com'
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/shop')
    await page.getByRole('button', { name: 'Notify me about the AI Teddy Bear Companion' }).click()
    const dialog = page.getByRole('dialog', { name: 'Alert for the AI Teddy Bear Companion' })
    await dialog.getByLabel('Email').fill('noa')
    await dialog.getByRole('button', { name: 'Notify me' }).click()
    await dialog.getByText('Enter an email address, like name@example.com.').first().waitFor()
    await dialog.getByLabel('Email').fill(email)
    await dialog.getByRole('button', { name: 'Notify me' }).click()
    await dialog.getByText('Please check your inbox').waitFor()
    expect(await findings(page)).toEqual([])
    const mail = await eventually(async () => (await system.mailsTo(email))[0], 20_000)
    await page.goto(/http\S+\/shop\/notice\S+/.exec(mail.text ?? '')?.[0] ?? '')
    await page.getByRole('button', { name: 'Yes, notify me' }).click()
    await page.getByText('We’ll email you when the AI Teddy Bear Companion is available.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove my address' }).click()
    await page.getByText('Your address was removed from this list.').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Notify me after all' }).click()
    await page.getByText('We’ll email you when the AI Teddy Bear Companion is available.').waitFor()
    expect(errors).toEqual([])
    await context.close()
  })

  it('shows names, prices and availability without scripts', async () => {
    const { context } = await newVisitor(browser, { baseURL: system.siteUrl, javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto('/shop')
    const text = await page.getByRole('main').innerText()
    for (const words of [
      'Robo Kids All Class Levels',
      'From $400',
      'Kit styles may vary',
      'AI Teddy Bear Companion',
      '$150.00',
      'Coming soon',
      'Robot Spider',
      '$300',
      'Final production',
      'Your cart is currently empty.',
    ]) {
      expect(text).toContain(words)
    }
    expect(await page.getByRole('link', { name: 'View Classes' }).getAttribute('href')).toBe('/robokidslanding')
    await context.close()
  })
})
