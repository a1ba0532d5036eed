import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { eventually, useSite } from '../fixture.ts'
import {
  chosenDate,
  closeAlert,
  detailsOf,
  firstOpenDate,
  heading,
  sidewaysScroll,
  textsSeen,
  watchTexts,
} from '../pages.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()
const reference = sampleView().registrationId
const address = `/robokids-payment?reference=${reference}`

const payButton = (page: Page) => page.getByRole('button', { name: /^(Pay|Hold a seat again|Processing)/ })
const checkouts = () => site.api.callsOf('POST', /\/checkout$/)

describe('the payment page', () => {
  it('shows the registration and leads to its checkout, once for a double click', async () => {
    site.api.tell(
      sampleView({
        children: [
          { childName: 'Ivo', childAge: 9 },
          { childName: 'Noa', childAge: 7 },
        ],
      }),
    )
    const page = await site.open()
    await page.goto(address)
    expect(await detailsOf(page)).toEqual({
      Guardian: 'Maren Holt',
      Children: 'Ivo, age 9\nNoa, age 7',
      Email: 'maren.holt@example.com',
      'Shipping address': '14 Alder Way\nSan Mateo, CA 02139',
      'Start date': 'Friday, October 3, 2025, 4:00 PM Pacific',
      'Class type': 'Level 1 Foundations',
    })
    expect(await payButton(page).innerText()).toBe('Pay $400.00 by card')
    await payButton(page).dblclick()
    await page.waitForURL('**/card-page')
    expect(checkouts()).toHaveLength(1)
  })

  it('works again after coming back from the card page', async () => {
    site.api.tell(sampleView())
    const page = await site.open()
    await page.goto(address)
    await payButton(page).click()
    await page.waitForURL('**/card-page')
    await page.goBack()
    await eventually(() => payButton(page).innerText()).toBe('Pay $400.00 by card')
    await payButton(page).click()
    await page.waitForURL('**/card-page')
  })

  it('finds the registration that is stored in the browser', async () => {
    site.api.tell(sampleView())
    const page = await site.open()
    await page.goto('/')
    await page.evaluate(
      (id) => localStorage.setItem('roboKidsRegistration', JSON.stringify({ registrationId: id })),
      reference,
    )
    await page.goto('/robokids-payment')
    await eventually(() => heading(page).innerText()).toBe('Pay for your seat')
  })

  it.each([
    ['nothing is saved', '/robokids-payment'],
    ['the server knows no such registration', '/robokids-payment?reference=not-one-of-ours'],
  ])('says that nothing was found when %s', async (_, path) => {
    const page = await site.open()
    await page.goto(path)
    await page.getByText('Registration info not found. Please go back and try again.').waitFor()
    await page.getByRole('link', { name: 'Go to registration' }).click()
    await page.waitForURL('**/robokids')
  })

  it('shows nothing but a loading state until the registration is known', async () => {
    const loading = held(() => ({ json: sampleView() }))
    site.api.on('GET /api/registrations/:reference', loading.handler)
    const page = await site.open()
    await watchTexts(page)
    await page.goto(address)
    await page.getByText('Loading your registration...').waitFor()
    loading.release()
    await payButton(page).waitFor()
    expect(await textsSeen(page)).not.toMatch(/not found|No user data|Please go back/)
  })

  it('asks for the current price when the old checkout has expired', async () => {
    site.api.classes.levels[0]!.price.amount = 42000
    site.api.tell(sampleView({}, { status: 'expired', url: null }))
    const page = await site.open()
    await page.goto(address)
    await eventually(() => payButton(page).innerText()).toBe('Pay $420.00 by card')
  })

  it('says why the card was declined', async () => {
    site.api.tell(sampleView({}, { lastDecline: 'Your card has insufficient funds.' }))
    const page = await site.open()
    await page.goto(address)
    await page.getByText('Your card was declined, and you weren’t charged.').waitFor()
    await page.getByText('Your card has insufficient funds.').waitFor()
    expect(await payButton(page).isEnabled()).toBe(true)
  })

  it.each([
    ['confirmed', 'paid', 'This registration is paid'],
    ['held', 'paid', 'Your payment is being processed'],
  ] as const)('does not ask for money twice: %s, checkout %s', async (status, checkout, title) => {
    site.api.tell(sampleView({ status }, { status: checkout, url: null }))
    const page = await site.open()
    await page.goto(address)
    await eventually(() => heading(page).innerText()).toBe(title)
    expect(await payButton(page).count()).toBe(0)
    await page.getByRole('link', { name: 'Go to your confirmation' }).click()
    await page.waitForURL(`**/robokids/success?reference=${reference}`)
  })

  it('says that nothing was charged for an expired registration, and leads to the form with its data', async () => {
    site.api.tell(sampleView({ status: 'expired' }, { status: 'expired', url: null }))
    const page = await site.open()
    await page.goto(address)
    await page.getByText('You weren’t charged.').waitFor()
    expect(await page.locator('main').innerText()).not.toMatch(/Payment Successful|You're Registered/)
    await page.getByRole('button', { name: 'Start again with my details' }).click()
    await page.waitForURL('**/robokidspage1')
    await firstOpenDate(page)
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    expect(await page.getByLabel('Zip code').inputValue()).toBe('02139')
    expect(await page.getByLabel("Child's age").inputValue()).toBe('9')
    expect(await chosenDate(page)).toBe('2025-10-03')
  })

  it('holds the seat of an expired registration again if it is free', async () => {
    site.api.tell(sampleView({ status: 'expired' }, { status: 'expired', url: null }))
    const page = await site.open()
    await page.goto(address)
    await page.getByRole('button', { name: 'Hold a seat again and pay $400.00 by card' }).click()
    await page.waitForURL('**/card-page')
  })

  it('says that the class is full, and leads to other dates', async () => {
    site.api.tell(sampleView())
    site.api.on('POST /api/registrations/:reference/checkout', () =>
      refusal('class_full', 'This class is full. Please choose another date.'),
    )
    const page = await site.open()
    await page.goto(address)
    await payButton(page).click()
    await page.getByText('This class is full. Please choose another date.').waitFor()
    await page.getByRole('button', { name: 'Choose another date' }).click()
    await page.waitForURL('**/robokidspage1')
  })

  it('alerts when the checkout cannot be created, and can be retried', async () => {
    site.api.tell(sampleView())
    site.api.on('POST /api/registrations/:reference/checkout', () =>
      refusal('upstream_unavailable', 'Please try again in a moment.'),
    )
    const page = await site.open()
    await page.goto(address)
    await payButton(page).click()
    expect(await closeAlert(page)).toBe('Please try again in a moment.')
    expect(await payButton(page).isEnabled()).toBe(true)
  })

  it('updates by itself when the payment is confirmed in another tab', async () => {
    site.api.tell(sampleView())
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.goto(address)
    await payButton(page).waitFor()
    expect(await sidewaysScroll(page)).toBe(0)
    site.api.tell(sampleView({ status: 'confirmed' }, { status: 'paid', url: null }))
    await eventually(() => heading(page).innerText()).toBe('This registration is paid')
  })
})
