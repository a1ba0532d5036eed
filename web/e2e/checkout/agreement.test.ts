import type { AgreementTerms } from '@robokids/contracts/agreement'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { orderTerms, registrationTerms } from '@robokids/contracts/offers'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleAgreement } from '../../src/checkout/sample-agreement.ts'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { sampleView } from '../../src/registration/sample-view.ts'
import { agree, fillRegistration, proceedButton } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { fillSignUp, firstOpenDate, submitButton } from '../pages.ts'
import { maren } from '../stub-accounts.ts'
import { type Answer, refusal } from '../stub-api.ts'

const site = useSite()

const question = (page: Page) => page.getByRole('alertdialog')
const cardPage = () => `${site.url}/card-page`
const bodiesOf = (path: RegExp) => site.api.callsOf('POST', path).map(({ body }) => body)
const refusedFor = (
  code: 'price_changed' | 'terms_changed' | 'quote_outdated',
  terms: Partial<AgreementTerms>,
): Answer => refusal(code, 'Something else is offered now.', undefined, { agreement: sampleAgreement(terms) })

/** Old and new values: `Due now` → [`$400.00`, `$450.00`]; once if they are equal. */
async function comparisonOf(page: Page): Promise<Record<string, string[]>> {
  await question(page).waitFor()
  return question(page)
    .locator('tbody')
    .evaluateAll((parts) =>
      Object.fromEntries(
        parts.map((part) => [
          part.querySelector('th')?.innerText ?? '',
          [...part.querySelectorAll('td')].map((cell) => cell.innerText),
        ]),
      ),
    )
}

/** It is announced by its title, and input meant for the page does nothing in it. */
async function isReadFromItsTitle(page: Page, title: string): Promise<void> {
  await page.getByRole('alertdialog', { name: title }).waitFor()
  await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(title)
}

const priceChanged = 'The price changed while you were here'

describe('a price that changed while somebody registered', () => {
  const dearer = registrationTerms({
    classType: 'basic',
    startDate: '2025-10-03',
    children: 1,
    siblingJoinsFree: true,
    unitAmount: 45_000,
  })

  function changePrice(): void {
    site.api.classes.levels[0]!.price.amount = 45_000
    site.api.on('POST /api/registrations', ({ body }) =>
      (body['agreed'] as AgreementTerms).dueNow === dearer.dueNow
        ? { json: { checkoutUrl: cardPage(), registrationId: body['id'] } }
        : refusedFor('price_changed', dearer),
    )
  }

  it('is shown beside the old one, and agreeing to it continues the same registration with what was typed', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    changePrice()
    await submitButton(page).press('Enter')
    await isReadFromItsTitle(page, priceChanged)
    expect(await comparisonOf(page)).toEqual({
      What: ['Level 1 Foundations: 1 seat at $400.00', 'Level 1 Foundations: 1 seat at $450.00'],
      When: ['Friday, October 3, 2025'],
      'Due now': ['$400.00', '$450.00'],
    })
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Agree to $450.00 and continue')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/card-page')
    const [first, second] = bodiesOf(/^\/api\/registrations$/)
    expect(second).toEqual({ ...first, agreed: dearer })
  })

  it('can be agreed to for a registration that replaces another, too', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    await page.goto('/robokidspage1')
    await firstOpenDate(page)
    await page.getByLabel('City').fill('Boston')
    changePrice()
    await submitButton(page).click()
    await question(page).getByRole('button', { name: 'Agree to $450.00 and continue' }).click()
    await page.waitForURL('**/card-page')
    const [first, second, third] = bodiesOf(/^\/api\/registrations$/)
    expect(second).toMatchObject({ replaces: first?.['id'] })
    expect(third).toEqual({ ...second, agreed: dearer })
  })

  it('leaves everything as it was when the parent goes back, and the page shows the new price', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    changePrice()
    await submitButton(page).click()
    await question(page).getByRole('button', { name: 'Back to the form' }).click()
    await question(page).waitFor({ state: 'hidden' })
    await eventually(() => submitButton(page).evaluate((button) => button === document.activeElement)).toBe(true)
    expect(await page.getByLabel('Zip code').inputValue()).toBe('02139')
    await page.getByText('$450.00').first().waitFor()
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [first, second] = bodiesOf(/^\/api\/registrations$/)
    expect(second).toEqual({ ...first, agreed: dearer })
  })

  it('is shown again when it has changed once more', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    site.api.on('POST /api/registrations', ({ body }, nth) =>
      nth === 3
        ? { json: { checkoutUrl: cardPage(), registrationId: body['id'] } }
        : refusedFor('price_changed', nth === 1 ? dearer : { ...dearer, dueNow: 46_000 }),
    )
    await submitButton(page).click()
    await question(page).getByRole('button', { name: 'Agree to $450.00 and continue' }).click()
    await question(page).getByRole('button', { name: 'Agree to $460.00 and continue' }).waitFor()
    expect((await comparisonOf(page))['Due now']).toEqual(['$450.00', '$460.00'])
    await question(page).getByRole('button', { name: 'Agree to $460.00 and continue' }).click()
    await page.waitForURL('**/card-page')
  })

  it('is only reported when the response does not contain the new one', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    site.api.on('POST /api/registrations', () => refusal('price_changed', 'The price is another one now.'))
    await submitButton(page).click()
    await eventually(() => question(page).innerText()).toContain('The price is another one now.')
  })

  it('can be agreed to on the payment page as well', async () => {
    site.api.tell(sampleView({}, { status: 'expired', url: null }))
    const page = await site.open()
    await page.goto(`/robokids-payment?reference=${sampleView().registrationId}`)
    site.api.on('POST /api/registrations/:reference/checkout', (_, nth) =>
      nth === 1
        ? refusedFor('price_changed', dearer)
        : { json: { checkoutUrl: cardPage(), registrationId: sampleView().registrationId } },
    )
    await page.getByRole('button', { name: 'Pay $400.00 by card' }).click()
    expect((await comparisonOf(page))['Due now']).toEqual(['$400.00', '$450.00'])
    await question(page).getByRole('button', { name: 'Agree to $450.00 and continue' }).click()
    await page.waitForURL('**/card-page')
    expect(bodiesOf(/\/checkout$/).map(({ agreed }) => (agreed as AgreementTerms).dueNow)).toEqual([40_000, 45_000])
  })
})

describe('a price that changed while something was in the cart', () => {
  const dearer = orderTerms([{ sku: 'product:robot-spider', quantity: 2, unitAmount: 35_000 }])

  it('is shown beside the old one, and agreeing to it continues the same order', async () => {
    const page = await site.open()
    await page.goto('/shop')
    const add = page.getByRole('button', { name: /^Add Robot Spider to cart/ })
    await add.click()
    await add.click()
    site.api.on('POST /api/checkout', ({ body }, nth) =>
      nth === 2 ? { json: { checkoutUrl: cardPage(), orderId: body['orderId'] } } : refusedFor('price_changed', dearer),
    )
    await page.getByRole('button', { name: 'Check out' }).click()
    await isReadFromItsTitle(page, priceChanged)
    expect(await comparisonOf(page)).toEqual({
      What: ['Robot Spider: 2 × $300.00', 'Robot Spider: 2 × $350.00'],
      'Due now': ['$600.00', '$700.00'],
    })
    await page.keyboard.press('Escape')
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Check out')
    site.api.on('POST /api/checkout', ({ body }) =>
      (body['agreed'] as AgreementTerms).dueNow === 70_000
        ? { json: { checkoutUrl: cardPage(), orderId: body['orderId'] } }
        : refusedFor('price_changed', dearer),
    )
    await page.getByRole('button', { name: 'Check out' }).click()
    await question(page).getByRole('button', { name: 'Agree to $700.00 and continue' }).click()
    await page.waitForURL('**/card-page')
    const sent = bodiesOf(/^\/api\/checkout$/)
    expect(new Set(sent.map(({ orderId }) => orderId)).size).toBe(1)
    expect(sent.at(-1)).toMatchObject({ agreed: dearer })
  })
})

describe('terms that changed while somebody became a member', () => {
  it('are shown word for word, and agreeing to them continues to the payment', async () => {
    const page = await site.open()
    await page.goto('/membership/register')
    await fillRegistration(page)
    const price = { amount: 900, currency: 'usd' } as const
    const words = renewalTerms('monthly', price)
    const terms: Partial<AgreementTerms> = {
      kind: 'membership',
      lines: [{ sku: 'membership:monthly', quantity: 1, unitAmount: 900 }],
      date: '2030-01-04',
      dueNow: 900,
      renewal: { plan: 'monthly', amount: 900, on: null },
      termsVersion: renewalTermsVersion,
    }
    const { accounts } = site.api
    accounts.plans = accounts.plans.map((plan) =>
      plan.plan === 'monthly' ? { ...plan, ...price, terms: words } : plan,
    )
    site.api.on('POST /api/createStripeSession', (_, nth) =>
      nth === 1 ? refusedFor('terms_changed', terms) : { json: { url: cardPage() } },
    )
    await proceedButton(page).click()
    await isReadFromItsTitle(page, priceChanged)
    expect(await comparisonOf(page)).toMatchObject({
      'Due now': ['$7.00', '$9.00'],
      Then: ['$7.00 a month, until you cancel', '$9.00 a month, until you cancel'],
    })
    expect(await question(page).innerText()).toContain(`I agree: ${words}`)
    await question(page).getByRole('button', { name: 'Agree to $9.00 and continue' }).click()
    await page.waitForURL('**/card-page')
    const [, second] = bodiesOf(/createStripeSession$/)
    expect(second).toMatchObject({
      consent: { version: renewalTermsVersion, text: words },
      agreed: sampleAgreement(terms).terms,
    })
    expect(bodiesOf(/sign-up$/)).toHaveLength(1)
  })

  it('have to be agreed to on the page after going back', async () => {
    const page = await site.open()
    await page.goto('/membership/register')
    await fillRegistration(page)
    const { accounts } = site.api
    accounts.plans = accounts.plans.map((plan) => ({
      ...plan,
      amount: 900,
      terms: renewalTerms(plan.plan, { amount: 900, currency: 'usd' }),
    }))
    site.api.on('POST /api/createStripeSession', () =>
      refusedFor('terms_changed', {
        kind: 'membership',
        dueNow: 900,
        renewal: { plan: 'monthly', amount: 900, on: null },
        termsVersion: renewalTermsVersion,
      }),
    )
    await proceedButton(page).click()
    await question(page).getByRole('button', { name: 'Back to the form' }).click()
    const box = page.getByLabel(/^I agree: My membership renews by itself\. \$9\.00/)
    expect(await box.isChecked()).toBe(false)
    expect(await page.getByRole('radio', { name: '$9 per month' }).isChecked()).toBe(true)
    site.api.on('POST /api/createStripeSession', () => ({ json: { url: cardPage() } }))
    await agree(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(bodiesOf(/createStripeSession$/).at(-1)).toMatchObject({ agreed: { dueNow: 900 } })
  })
})

describe('a change of plan', () => {
  const yearly = (dueNow: number, amount = 6_000): Partial<AgreementTerms> => ({
    kind: 'plan_change',
    lines: [{ sku: 'membership:yearly', quantity: 1, unitAmount: amount }],
    date: null,
    dueNow,
    credit: amount - dueNow,
    renewal: { plan: 'yearly', amount, on: '2027-11-28' },
    reckonedAt: 1_900_000_000 + dueNow,
  })
  const quote = (terms: Partial<AgreementTerms> | null) => ({
    plan: 'yearly',
    from: '2026-11-28T10:00:00.000Z',
    dueNow: terms?.dueNow ?? 5_500,
    credit: terms?.credit ?? 500,
    amount: 6_000,
    currency: 'usd',
    nextChargeAt: '2027-11-28T10:00:00.000Z',
    reckonedAt: terms?.reckonedAt ?? 1_900_000_000,
    ...(terms ? { agreement: sampleAgreement(terms) } : {}),
  })

  async function askForYearly(terms: Partial<AgreementTerms> | null = yearly(5_500)): Promise<Page> {
    const { accounts } = site.api
    accounts.user = maren
    accounts.membership = { ...sampleMembership, unpaid: null }
    site.api.on('POST /api/membership/quote', () => ({ json: quote(terms) }))
    const page = await site.open()
    await page.goto('/profile')
    await page.getByRole('button', { name: 'Pay by the year' }).click()
    await page.getByRole('dialog', { name: 'Pay by the year?' }).waitFor()
    return page
  }
  const changed = { json: { ...sampleMembership, unpaid: null, plan: 'yearly', amount: 6_000 } }

  it('is sent with its quote, and shows the current offer if that is different', async () => {
    const page = await askForYearly()
    site.api.on('POST /api/membership/switch', (_, nth) =>
      nth === 1 ? refusedFor('quote_outdated', yearly(5_700)) : changed,
    )
    await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
    await isReadFromItsTitle(page, priceChanged)
    expect(await comparisonOf(page)).toEqual({
      What: ['Membership, paid yearly'],
      'Credit for unused time': ['$5.00', '$3.00'],
      'Due now': ['$55.00', '$57.00'],
      Then: ['$60.00 a year, from Sunday, November 28, 2027'],
    })
    await question(page).getByRole('button', { name: 'Agree to $57.00 and continue' }).click()
    await page.getByText('Your plan has changed.').waitFor()
    expect(bodiesOf(/switch$/)).toEqual(
      [5_500, 5_700].map((dueNow) => ({
        plan: 'yearly',
        dueNow,
        reckonedAt: 1_900_000_000 + dueNow,
        agreed: sampleAgreement(yearly(dueNow)).terms,
      })),
    )
  })

  it('is quoted again when the response does not contain the current offer', async () => {
    const page = await askForYearly(null)
    site.api.on('POST /api/membership/switch', (_, nth) =>
      nth === 1 ? refusal('quote_outdated', 'This quote is too old.') : changed,
    )
    await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
    await eventually(() => bodiesOf(/quote$/).length).toBe(2)
    await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
    await page.getByText('Your plan has changed.').waitFor()
  })

  it('leads to the page where the bank asks to confirm it, and refetches the membership after that', async () => {
    const page = await askForYearly()
    site.api.on('POST /api/membership/switch', () =>
      refusal('payment_confirmation_required', 'Your bank asks to confirm.', undefined, { url: cardPage() }),
    )
    await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
    await isReadFromItsTitle(page, 'Your bank needs you to confirm')
    expect(await question(page).innerText()).toContain('you aren’t charged')
    await question(page).getByRole('button', { name: 'Confirm the payment' }).click()
    await page.waitForURL('**/card-page')
    site.api.accounts.membership = changed.json as typeof sampleMembership
    await page.goBack()
    await page.getByText('$60.00 a year').first().waitFor()
  })

  it('stays as it was when it is not confirmed now', async () => {
    const page = await askForYearly()
    site.api.on('POST /api/membership/switch', () =>
      refusal('payment_confirmation_required', 'Your bank asks to confirm.', undefined, { url: cardPage() }),
    )
    await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
    const asked = site.api.callsOf('GET', /^\/api\/membership$/).length
    await question(page).getByRole('button', { name: 'Not now' }).click()
    await eventually(() => site.api.callsOf('GET', /^\/api\/membership$/).length).toBe(asked + 1)
    await page.getByRole('button', { name: 'Pay by the year' }).waitFor()
  })
})

describe('a purchase that is paid already', () => {
  const standing = '019a0000-0000-7000-8000-00000000000c'

  it('is linked from the registration form, and not replaced by later requests', async () => {
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const first = String(bodiesOf(/^\/api\/registrations$/)[0]?.['id'])
    site.api.tell(sampleView({ registrationId: first, status: 'confirmed' }, { status: 'paid', url: null }))
    site.api.on('POST /api/registrations', ({ body }, nth) =>
      nth === 2
        ? refusal('already_paid', 'Your first registration is paid.', undefined, { reference: first })
        : { json: { checkoutUrl: cardPage(), registrationId: body['id'] } },
    )
    await page.goto('/robokidspage1')
    await firstOpenDate(page)
    await page.getByLabel('City').fill('Boston')
    await submitButton(page).click()
    await isReadFromItsTitle(page, 'You’re already registered')
    expect(await question(page).innerText()).toContain('Your first registration is paid.')
    await question(page).getByRole('button', { name: 'Back to the form' }).click()
    expect(await page.getByLabel('City').inputValue()).toBe('Boston')
    await page.getByLabel("Child's first name").fill('Noa')
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const sent = bodiesOf(/^\/api\/registrations$/)
    expect(sent.map(({ replaces }) => replaces)).toEqual([undefined, first, undefined])
  })

  it('is linked when the child was registered by another form, too', async () => {
    const page = await site.open()
    site.api.tell(sampleView({ registrationId: standing, status: 'confirmed' }, { status: 'paid', url: null }))
    const message = 'Ivo is already registered for this class and date.'
    site.api.on('POST /api/registrations', () =>
      refusal('already_registered', message, [{ path: 'childName', message }], { reference: standing }),
    )
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await question(page).getByText(message).waitFor()
    await question(page).getByRole('link', { name: 'See your registration' }).click()
    await page.waitForURL(`**/robokids/success?reference=${standing}`)
    await page.getByRole('heading', { name: "You're Registered" }).waitFor()
  })

  it('is linked from the payment page of an earlier registration', async () => {
    site.api.tell(sampleView({ status: 'expired' }, { status: 'expired', url: null }))
    site.api.tell(sampleView({ registrationId: standing, status: 'confirmed' }, { status: 'paid', url: null }))
    site.api.on('POST /api/registrations/:reference/checkout', () =>
      refusal('already_registered', 'Ivo is already registered for this class and date.', undefined, {
        reference: standing,
      }),
    )
    const page = await site.open()
    await page.goto(`/robokids-payment?reference=${sampleView().registrationId}`)
    await page.getByRole('button', { name: 'Hold a seat again and pay $400.00 by card' }).click()
    await isReadFromItsTitle(page, 'You’re already registered')
    await question(page).getByRole('link', { name: 'See your registration' }).click()
    await page.waitForURL(`**/robokids/success?reference=${standing}`)
  })

  async function changeOrderedCart(): Promise<{ page: Page; first: string }> {
    const page = await site.open()
    await page.goto('/shop')
    const add = page.getByRole('button', { name: /^Add Robot Spider to cart/ })
    await add.click()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
    const first = String(bodiesOf(/^\/api\/checkout$/)[0]?.['orderId'])
    await page.goto('/shop')
    await add.and(page.locator(':enabled')).click()
    site.api.on('POST /api/checkout', ({ body }) =>
      body['replaces'] === first
        ? refusal('already_paid', 'Your first order is paid.', undefined, { reference: first })
        : { json: { checkoutUrl: cardPage(), orderId: body['orderId'] } },
    )
    await page.getByRole('button', { name: 'Check out' }).click()
    await isReadFromItsTitle(page, 'You already ordered this')
    return { page, first }
  }

  it('is linked from the cart, which is empty then', async () => {
    const { page, first } = await changeOrderedCart()
    await question(page).getByRole('link', { name: 'See your order' }).click()
    await page.waitForURL(`**/shop/success?reference=${first}`)
    expect(await page.evaluate(() => sessionStorage.getItem('cart'))).toBeNull()
    await page.goto('/shop')
    await page.getByText('Your cart is currently empty.').waitFor()
  })

  it('keeps the cart for another order if the buyer wants it', async () => {
    const { page, first } = await changeOrderedCart()
    await question(page).getByRole('button', { name: 'Keep this cart' }).click()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
    const last = bodiesOf(/^\/api\/checkout$/).at(-1)
    expect(last).toMatchObject({ items: [{ sku: 'product:robot-spider', quantity: 2 }] })
    expect(last?.['replaces']).toBeUndefined()
    expect(last?.['orderId']).not.toBe(first)
  })
})
