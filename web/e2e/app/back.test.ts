import type { ClassesView } from '@robokids/contracts/bff'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { sampleOrder } from '../../src/shop/sample-order.ts'
import { agree, fillRegistration, proceedButton } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { fillSignUp, heading, submitButton } from '../pages.ts'
import { maren } from '../stub-accounts.ts'

const dearer = ({ levels, ...rest }: ClassesView): ClassesView => ({
  ...rest,
  levels: levels.map((level) => ({ ...level, price: { amount: 43_000, currency: 'usd' } })),
})
const session = (page: Page, key: string) => page.evaluate((name) => sessionStorage.getItem(name), key)

async function backToTheCardPage(page: Page): Promise<void> {
  await page.goBack()
  await page.getByRole('heading', { name: 'Card page' }).waitFor()
}

describe('a page from the back/forward cache', () => {
  const site = useSite()

  /** As if another document was shown meanwhile: some browsers in tests have no back/forward cache. */
  const leaveAndComeBack = (page: Page, forgetting: string[] = []) =>
    page.evaluate((keys) => {
      window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
      for (const key of keys) sessionStorage.removeItem(key)
      window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    }, forgetting)

  it('refetches everything and keeps what was typed', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await page.getByText('$400').first().waitFor()
    await page.getByLabel('Guardian name').fill('Maren')
    site.api.classes = dearer(site.api.classes)
    site.api.accounts.user = maren
    await leaveAndComeBack(page)
    await page.getByText('$430').first().waitFor()
    await page.getByRole('button', { name: 'Logout' }).first().waitFor({ state: 'attached' })
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren')
  })

  it('keeps an agreement to the terms that were shown', async () => {
    const page = await site.open()
    await page.goto('/membership/register')
    await agree(page)
    const { accounts } = site.api
    accounts.plans = accounts.plans.map((plan) => ({ ...plan, terms: `${plan.terms} And more.` }))
    await leaveAndComeBack(page)
    await page.getByText('And more.').waitFor()
    expect(await page.getByLabel(/^I agree: My membership renews by itself/).isChecked()).toBe(false)
  })

  it('is reloaded when another page has cleared what it shows', async () => {
    const page = await site.open()
    await page.goto('/shop')
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
    await page.getByRole('button', { name: 'Check out' }).waitFor()
    await leaveAndComeBack(page, ['cart'])
    await page.getByText('Your cart is currently empty.').waitFor()
  })
})

/**
 * Whether Back restores a page or reloads it is up to the browser, and depends on its
 * version and memory. Users must not see a difference.
 */
describe.each([
  ['which may keep the pages that are left', true],
  ['which keeps no page', false],
])('Back, in a browser %s,', (_, keepsPages) => {
  const site = useSite({ keepsPages })

  async function fillCart(): Promise<Page> {
    const page = await site.open()
    await page.goto('/shop')
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
    return page
  }

  it('from the card page shows the same cart, which can be sent again', async () => {
    const page = await fillCart()
    await page.goBack()
    await page.getByRole('button', { name: 'Add Robot Spider to cart (1 in it)' }).waitFor()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
    const [first, second] = site.api.callsOf('POST', /^\/api\/checkout$/)
    expect(second?.body).toEqual(first?.body)
  })

  it('from a paid order shows an empty cart, so that nothing is paid for twice', async () => {
    const page = await fillCart()
    const orderId = String(site.api.callsOf('POST', /^\/api\/checkout$/)[0]?.body['orderId'])
    site.api.on('GET /api/orders/:reference', () => ({ json: { ...sampleOrder, orderId } }))
    await page.goto(`/shop/success?reference=${orderId}`)
    await page.getByRole('heading', { name: 'Thank you for your pre-order' }).waitFor()
    expect(await session(page, 'cart')).toBeNull()
    await page.goBack()
    await page.goBack()
    await page.getByText('Your cart is currently empty.').waitFor()
    expect(await page.getByRole('button', { name: 'Check out' }).count()).toBe(0)
  })

  it('shows the current prices and seats', async () => {
    const page = await site.open()
    await page.goto('/robokidslanding')
    await page.getByText('$400').first().waitFor()
    await page.goto('/card-page')
    site.api.classes = dearer(site.api.classes)
    await page.goBack()
    await page.getByText('$430').first().waitFor()
  })

  it('shows the user who has signed in since, and nobody after they signed out', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 900 } })
    await page.goto('/membership')
    await page.getByRole('link', { name: 'Login' }).first().waitFor()
    await page.goto('/card-page')
    site.api.accounts.user = maren
    await page.goBack()
    const logout = page.getByRole('button', { name: 'Logout' })
    await logout.waitFor()
    await page.goForward()
    site.api.accounts.user = null
    await page.goBack()
    await logout.waitFor({ state: 'hidden' })
  })

  it('from the card page shows a registration that was paid there, and asks for no more money', async () => {
    site.api.tell(sampleView())
    const page = await site.open()
    await page.goto(`/robokids-payment?reference=${sampleView().registrationId}`)
    const pay = page.getByRole('button', { name: 'Pay $400.00 by card' })
    await pay.click()
    await page.waitForURL('**/card-page')
    site.api.tell(sampleView({ status: 'confirmed' }, { status: 'paid', url: null }))
    await page.goBack()
    await eventually(() => heading(page).innerText()).toBe('This registration is paid')
    expect(await pay.count()).toBe(0)
  })

  it('shows nothing in a form that was cleared for the next user', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    // As the receipt and the waiver do at the end.
    await page.goto('/robokids/receipt')
    await page.evaluate(() => {
      window.print = () => window.dispatchEvent(new Event('afterprint'))
    })
    await page.getByRole('button', { name: 'Download & Close' }).click()
    await heading(page).filter({ hasText: 'Empowering Kids' }).waitFor()
    await page.goBack()
    // Instead of the receipt, whose data was cleared.
    await page.waitForURL('**/robokids')
    await backToTheCardPage(page)
    await page.goBack()
    await eventually(() => page.getByLabel('Guardian name').inputValue()).toBe('')
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('')
  })

  it('shows neither the details nor the password of a member who has logged out', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 900 } })
    await page.goto('/membership/register')
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    site.api.accounts.user = maren
    await page.goto('/membership')
    await page.getByRole('button', { name: 'Logout' }).click()
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await page.goBack()
    await page.waitForURL('**/membership')
    await backToTheCardPage(page)
    await page.goBack()
    await eventually(() => page.getByLabel('Street').inputValue()).toBe('')
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
  })
})
