import type { RegistrationView } from '@robokids/contracts/bff'
import type { Order } from '@robokids/contracts/shop'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { sampleOrder } from '../../src/shop/sample-order.ts'
import { eventually, useSite } from '../fixture.ts'
import { detailsOf, heading } from '../pages.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const reference = sampleView().registrationId

type Status = RegistrationView['status']
type Refund = NonNullable<RegistrationView['checkout']>['refunds'][number]

const refund = (status: Refund['status'], amount: number): Refund => ({
  amount,
  currency: 'usd',
  status,
  reason: 'requested',
})
const dispute = (status: string, amount: number) => ({ amount, currency: 'usd' as const, status })

function paidView(status: Status, checkout: Partial<NonNullable<RegistrationView['checkout']>>): RegistrationView {
  const signed = status === 'waiver_signed'
  return sampleView(
    { status, waiverSignedAt: signed ? '2025-09-20T18:00:00.000Z' : null },
    { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z', ...checkout },
  )
}

/** The completed steps above the page; empty if there are none. */
const doneSteps = (page: Page) =>
  page.getByRole('navigation', { name: 'Enrollment steps' }).getByText('(done)').locator('..').allInnerTexts()

async function offersNoSigning(page: Page): Promise<void> {
  expect(
    await page
      .getByRole('main')
      .getByRole('link', { name: /waiver/i })
      .count(),
  ).toBe(0)
  expect(await page.getByRole('button', { name: /I Agree/ }).count()).toBe(0)
  const done = (await doneSteps(page)).join(' ')
  expect(done).not.toMatch(/waiver|kit/i)
}

const pendingRefund = paidView('confirmed', { refunds: [refund('pending', 40_000)] })

describe('a registration whose money goes back', () => {
  it.each<[string, RegistrationView, string, string]>([
    ['is on its way back', pendingRefund, 'Your refund is on its way', '$400.00 is being refunded to your card.'],
    [
      'is on its way back after the waiver was signed',
      paidView('waiver_signed', { refunds: [refund('pending', 40_000)] }),
      'Your refund is on its way',
      'there’s nothing to sign, and no kit ships',
    ],
    [
      'is back',
      paidView('cancelled', { refunds: [refund('succeeded', 40_000)] }),
      'This registration was canceled',
      '$400.00 was refunded to your card.',
    ],
    [
      'was not taken by the bank',
      paidView('cancelled', { refunds: [refund('failed', 40_000)] }),
      'This registration was canceled',
      'We still owe you this money',
    ],
    [
      'was given back by the bank',
      paidView('confirmed', { disputes: [dispute('lost', 40_000)] }),
      'Your payment was returned',
      'Your bank returned $400.00 to you.',
    ],
    [
      'is disputed',
      paidView('confirmed', { disputes: [dispute('needs_response', 40_000)] }),
      'Your payment is disputed',
      'Nothing can be signed or shipped until your bank decides.',
    ],
  ])('offers no signing and shows nothing as done that is not, where it %s', async (_, view, title, text) => {
    site.api.tell(view)
    const page = await site.open()
    await page.goto(`/robokids/success?reference=${reference}`)
    await eventually(() => heading(page).innerText()).toBe(title)
    expect(await page.locator('main').innerText()).toContain(text)
    await offersNoSigning(page)
    // Also by the link in an older mail, and with a stored record that says paid.
    await page.goto(`/robokids/waiver?reference=${reference}`)
    await eventually(() => heading(page).innerText()).toBe(title)
    await offersNoSigning(page)
    await page.evaluate((record) => sessionStorage.setItem('roboKidsWaiverSession', JSON.stringify(record)), {
      registrationId: reference,
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      classType: 'basic',
    })
    await page.goto('/robokids/waiver')
    await eventually(() => heading(page).innerText()).toBe(title)
    await offersNoSigning(page)
    await page.goto(`/robokids/receipt?reference=${reference}`)
    await page.getByText('RK-000123').waitFor()
    await offersNoSigning(page)
  })

  it('says on its receipt what is owed', async () => {
    site.api.tell(paidView('cancelled', { refunds: [refund('failed', 40_000), refund('succeeded', 10_000)] }))
    const page = await site.open()
    await page.goto(`/robokids/receipt?reference=${reference}`)
    await page.getByText('RK-000123').waitFor()
    expect(await detailsOf(page)).toMatchObject({
      'Amount paid': '$400.00',
      Refunded: '$100.00',
      'Failed refund': '$300.00, still owed to you',
    })
  })

  it('updates the waiver page when it was cancelled while that was open', async () => {
    site.api.tell(paidView('confirmed', {}))
    site.api.on('POST /api/waivers', () => {
      site.api.tell(pendingRefund)
      return refusal('registration_not_paid', 'The money for it is on its way back.')
    })
    const page = await site.open()
    await page.goto(`/robokids/waiver?reference=${reference}`)
    await page.getByLabel('I have read the waiver and agree to it.').check()
    await page.getByRole('button', { name: 'I Agree & Complete Registration' }).click()
    await eventually(() => heading(page).innerText()).toBe('Your refund is on its way')
  })

  it('updates as soon as the money is back', async () => {
    site.api.tell(pendingRefund)
    const page = await site.open()
    await page.goto(`/robokids/success?reference=${reference}`)
    await eventually(() => heading(page).innerText()).toBe('Your refund is on its way')
    site.api.tell(paidView('cancelled', { refunds: [refund('succeeded', 40_000)] }))
    await eventually(() => heading(page).innerText()).toBe('This registration was canceled')
  })
})

describe('an order whose money goes back', () => {
  const shipped = { status: 'shipped', shippedAt: '2025-09-25T17:00:00.000Z' } as const

  it.each<[string, Partial<Order>, string, string, RegExp]>([
    [
      'is on its way back',
      { refunds: [refund('pending', 60_000)] },
      'Your refund is on its way',
      '$600.00 is being refunded to your card.',
      /ll ship it|Thank you/,
    ],
    [
      'is back',
      { status: 'refunded', refunds: [refund('succeeded', 60_000)] },
      'Your order is refunded',
      'Nothing will be shipped.',
      /had shipped/,
    ],
    [
      'is back for what came back',
      { ...shipped, status: 'refunded', refunds: [refund('succeeded', 60_000)] },
      'Your returned order is refunded',
      'It’s for what we had shipped to you.',
      /Nothing will be shipped|canceled/,
    ],
    [
      'is on its way back after it was shipped',
      { ...shipped, refunds: [refund('pending', 60_000)] },
      'Your refund is on its way',
      'It’s for what we had shipped to you.',
      /Nothing will be shipped/,
    ],
    [
      'was not taken by the bank',
      { status: 'refunded', refunds: [refund('failed', 60_000)] },
      'Your order is canceled',
      'Your bank didn’t accept the refund of $600.00.',
      /\$0\.00|We received/,
    ],
    [
      'is disputed',
      { disputes: [dispute('needs_response', 60_000)] },
      'Your payment is disputed',
      'Nothing can be shipped until your bank decides.',
      /Thank you|ll ship it/,
    ],
    [
      'was given back by the bank',
      { disputes: [dispute('lost', 60_000)] },
      'Your bank returned your payment',
      'Nothing will be shipped.',
      /Thank you|ll ship it/,
    ],
  ])('is told as it is, where it %s', async (_, changes, title, text, never) => {
    site.api.on('GET /api/orders/:reference', () => ({ json: { ...sampleOrder, ...changes } }))
    const page = await site.open()
    await page.goto(`/shop/success?reference=${sampleOrder.orderId}`)
    await eventually(() => heading(page).innerText()).toBe(title)
    const main = await page.locator('main').innerText()
    expect(main).toContain(text)
    expect(main).not.toMatch(never)
  })
})
