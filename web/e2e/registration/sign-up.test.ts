import { robotSpider } from '@robokids/contracts/products'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { eventually, useSite } from '../fixture.ts'
import {
  alertBox,
  breakStorage,
  chooseDate,
  chosenDate,
  closeAlert,
  dateCards,
  fillSignUp,
  firstOpenDate,
  sampleFamily,
  signUpPaths,
  submitButton,
} from '../pages.ts'
import { maren } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()

const registrations = () => site.api.callsOf('POST', /^\/api\/registrations$/)
/** Waits for a field's error, which may come from the server. */
const errorOf = async (page: Page, label: string) => {
  const described = page.getByLabel(label).and(page.locator('[aria-invalid="true"]'))
  const [id] = ((await described.getAttribute('aria-describedby')) ?? '').split(' ')
  return page.locator(`#${id}`).innerText()
}

async function openForm(page: Page, path = '/robokidspage1') {
  await page.goto(path)
  await firstOpenDate(page)
}

describe('the sign-up form', () => {
  it('announces each time that it was not sent, even for the same reason', async () => {
    const page = await site.open()
    await openForm(page)
    await submitButton(page).click()
    const said = page.getByRole('alert').getByText('Please check the marked fields.')
    await said.waitFor()
    await chooseDate(page)
    await page.getByLabel('Guardian name').press('Enter')
    const before = await said.elementHandle()
    await page.getByLabel('Guardian name').press('Enter')
    await eventually(async () => before?.evaluate((words) => words.isConnected)).toBe(false)
    await said.waitFor()
    expect(await page.getByLabel('Guardian name').evaluate((field) => field === document.activeElement)).toBe(true)
  })

  it('sends the specified fields, keeps the registration and goes to the checkout address', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [call] = registrations()
    expect(call?.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      guardianName: 'Maren Holt',
      childName: 'Ivo',
      childAge: 9,
      siblings: [],
      email: 'maren.holt@example.com',
      addressLine1: '14 Alder Way',
      addressLine2: '',
      city: 'Cambridge',
      state: 'MA',
      zipCode: '02139',
      startDate: '2025-10-03',
      classType: 'basic',
      unlessRegistered: true,
      familyTimeZone: 'America/Los_Angeles',
      agreed: {
        kind: 'registration',
        lines: [{ sku: 'class:basic', quantity: 1, unitAmount: 40_000 }],
        date: '2025-10-03',
        currency: 'usd',
        dueNow: 40_000,
        credit: 0,
        renewal: null,
        termsVersion: null,
        reckonedAt: null,
      },
    })
    const stored = await page.evaluate(() => [
      sessionStorage.getItem('roboKidsWaiverSession'),
      localStorage.getItem('roboKidsRegistration'),
    ])
    for (const record of stored) {
      expect(JSON.parse(record ?? '')).toMatchObject({
        registrationId: call?.body['id'],
        guardianName: 'Maren Holt',
        zipCode: '02139',
      })
    }
  })

  it.each(Object.entries(signUpPaths))('sells %s at %s', async (classType, path) => {
    const page = await site.open()
    await openForm(page, path)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(registrations()[0]?.body).toMatchObject({ classType })
  })

  it('shows the price, dates with seats left, the kit and the link to the form before the first field', async () => {
    const page = await site.open()
    await openForm(page)
    const facts = await page.locator('header dl, main dl').first().innerText()
    for (const fact of ['$400', '6 weeks', 'In the box', 'What happens next']) expect(facts).toContain(fact)
    const fields = await page.locator('form input').evaluateAll((all) => all.map((input) => input.getAttribute('name')))
    expect(fields.indexOf('guardianName')).toBe(fields.lastIndexOf('startDate') + 1)
    await expect(page.getByText('Recommended ages: 6 to 13').count()).resolves.toBe(1)
  })

  it('offers the dates of the server with their length, time and seats, from "Select a date" on, and no full one', async () => {
    const page = await site.open({ timezoneId: 'America/New_York' })
    await openForm(page)
    const time = '7:00 PM your time (4:00 PM Pacific)'
    expect(await dateCards(page).locator('label').allInnerTexts()).toEqual([
      `Friday, October 3, 2025\n${time}\n10 seats left\n6 weeks`,
      `Saturday, October 4, 2025\n${time}\n7 seats left\n6 weeks`,
      `Sunday, October 5, 2025\n${time}\n1 seat left\n6 weeks`,
      `Monday, October 6, 2025\n${time}\nClass full\nJoin the waitlist\nfor Monday, October 6, 2025`,
    ])
    expect(await dateCards(page).getByText('Select a date').count()).toBe(1)
    expect(
      await dateCards(page)
        .locator('input:disabled')
        .evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
    ).toEqual(['2025-10-06'])
    expect(await chosenDate(page)).toBe('')
  })

  it('selects the date of a link, lets another be chosen for good, and suggests another when it is full', async () => {
    const page = await site.open()
    await page.goto('/robokidslanding')
    const card = page.getByRole('article').filter({ hasText: 'Level 2' })
    await eventually(() => card.getByRole('link', { name: /2025/ }).count()).toBe(3)
    await card.getByRole('link', { name: 'Saturday, October 4, 2025' }).click()
    await page.waitForURL('**/robokidspage2?startDate=2025-10-04')
    await eventually(() => chosenDate(page)).toBe('2025-10-04')
    await chooseDate(page, '2025-10-05')
    await page.waitForURL(/robokidspage2$/)
    await page.reload()
    await firstOpenDate(page)
    expect(await chosenDate(page)).toBe('2025-10-05')

    await page.goto('/robokidspage3?startDate=2025-10-06')
    await dateCards(page).getByText('Monday, October 6, 2025 is full.').waitFor()
    expect(await chosenDate(page)).toBe('')
    await submitButton(page).click()
    expect(await errorOf(page, 'Start date')).toBe('This date is full. Choose another one.')
    await page.getByRole('button', { name: 'Choose Friday, October 3, 2025' }).click()
    expect(await chosenDate(page)).toBe('2025-10-03')
    await page.goto('/robokidspage3?startDate=2024-10-06')
    await dateCards(page).getByText('Sunday, October 6, 2024 isn’t available.').waitFor()
  })

  it.each(['Asia/Tokyo', 'America/Los_Angeles', 'Europe/London'])(
    'shows October 3 as October 3 in %s',
    async (timezoneId) => {
      const page = await site.open({ timezoneId })
      await openForm(page)
      const first = dateCards(page)
        .locator('label')
        .filter({ has: page.locator('[value="2025-10-03"]') })
      expect(await first.innerText()).toContain('Friday, October 3, 2025')
    },
  )

  it('sends one request for a double click and Enter, and says Processing... meanwhile', async () => {
    const page = await site.open()
    const registering = held(({ body }) => ({
      json: { checkoutUrl: `${site.url}/card-page`, registrationId: body['id'] },
    }))
    site.api.on('POST /api/registrations', registering.handler)
    await openForm(page)
    await fillSignUp(page)
    await page.getByLabel('Zip code').focus()
    await page.evaluate(() => {
      const form = document.querySelector('form')
      const button = form?.querySelector<HTMLButtonElement>('button[type=submit]')
      button?.click()
      button?.click()
      form?.requestSubmit()
    })
    await page.keyboard.press('Enter')
    await eventually(() => submitButton(page).innerText()).toBe('Processing...')
    expect(await submitButton(page).isDisabled()).toBe(true)
    registering.release()
    await page.waitForURL('**/card-page')
    expect(registrations()).toHaveLength(1)
  })

  it('names what is missing beside each field and goes to the first', async () => {
    const page = await site.open()
    await openForm(page)
    await submitButton(page).click()
    await eventually(() => page.locator('[aria-invalid]').count()).toBe(9)
    expect(await errorOf(page, 'Guardian name')).toBe('Guardian name is required.')
    expect(await errorOf(page, 'Start date')).toBe('Choose a date.')
    expect(await dateCards(page).evaluate((group) => group === document.activeElement)).toBe(true)

    await fillSignUp(page, { zipCode: '2139', children: [{ name: 'Ivo', age: '4' }] })
    await submitButton(page).click()
    expect(await errorOf(page, 'Zip code')).toBe('Zip code must be exactly five digits.')
    expect(await errorOf(page, "Child's age")).toBe('A child must be at least 5 years old.')
    expect(await page.getByLabel('Zip code').evaluate((field) => field === document.activeElement)).toBe(true)
    expect(registrations()).toHaveLength(0)
  })

  it("shows the server's issues beside their fields", async () => {
    const page = await site.open()
    site.api.on('POST /api/registrations', () =>
      refusal('validation_failed', 'Please check the marked fields.', [
        { path: 'siblings.0.childName', message: 'This name cannot be printed.' },
        { path: 'email', message: 'This address takes no mail.' },
      ]),
    )
    await openForm(page)
    await fillSignUp(page, { children: [...sampleFamily.children, { name: 'Noa', age: '7' }] })
    await submitButton(page).click()
    expect(await closeAlert(page)).toBe('Please check the marked fields.')
    expect(await errorOf(page, 'Email')).toBe('This address takes no mail.')
    expect(await page.getByText('This name cannot be printed.').count()).toBe(1)
    await eventually(() => page.getByLabel('Email').evaluate((field) => field === document.activeElement)).toBe(true)
  })

  it.each([
    [
      'the server says why',
      refusal('class_full', 'This class is full. Please choose another date.'),
      'This class is full. Please choose another date.',
    ],
    ['the server says nothing', { status: 500, json: {} }, 'Registration failed. Please try again.'],
    [
      'no checkout address comes',
      { json: { registrationId: '019a0000-0000-7000-8000-00000000000b' } },
      'Registration failed. Please try again.',
    ],
    ['the connection breaks', { lost: true }, 'Something went wrong. Please try again.'],
    ['the answer is no JSON', { status: 502, html: '<h1>Bad gateway</h1>' }, 'Something went wrong. Please try again.'],
  ])('alerts and returns to idle with everything kept when %s', async (_, answer, message) => {
    const page = await site.open()
    site.api.on('POST /api/registrations', () => answer)
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    expect(await closeAlert(page)).toBe(message)
    expect(await submitButton(page).innerText()).toBe('Continue to payment')
    expect(await submitButton(page).isEnabled()).toBe(true)
    expect(await page.getByLabel('Zip code').inputValue()).toBe('02139')
    expect(await page.getByLabel("Child's first name").inputValue()).toBe('Ivo')
    expect(await chosenDate(page)).toBe('2025-10-03')
  })

  it('sends the same id again after a lost response, and another one after a field has changed', async () => {
    const page = await site.open()
    site.api.on('POST /api/registrations', () => ({ lost: true }))
    await openForm(page)
    await fillSignUp(page)
    for (const city of ['Cambridge', 'Cambridge', 'Boston', 'Cambridge']) {
      await page.getByLabel('City').fill(city)
      await submitButton(page).click()
      await closeAlert(page)
    }
    // The browser may retry a request whose connection broke: only the ids per content matter.
    const idsOf = (city: string) =>
      new Set(
        registrations()
          .filter(({ body }) => body['city'] === city)
          .map(({ body }) => body['id']),
      )
    expect(registrations().length).toBeGreaterThanOrEqual(4)
    expect(idsOf('Cambridge').size).toBe(1)
    expect(idsOf('Boston').size).toBe(1)
    expect(idsOf('Boston')).not.toEqual(idsOf('Cambridge'))
  })

  it('uses a new id when the old one belongs to something else', async () => {
    const page = await site.open()
    const { api } = site
    api.on('POST /api/registrations', ({ body }, nth) =>
      nth === 1
        ? refusal('id_reused', 'This id belongs to another registration.')
        : { json: { checkoutUrl: `${site.url}/card-page`, registrationId: body['id'] } },
    )
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [first, second] = registrations()
    expect(second?.body).toEqual({ ...first?.body, id: expect.not.stringMatching(String(first?.body['id'])) })
  })

  it('uses a new id for a registration that was closed, but never for one that is paid', async () => {
    const page = await site.open()
    const { api } = site
    let status: 'cancelled' | 'confirmed' = 'cancelled'
    api.on('GET /api/registrations/:reference', () => ({ json: sampleView({ status }, { status: 'paid', url: null }) }))
    api.on('POST /api/registrations', ({ body }, nth) =>
      nth % 2 === 1
        ? refusal('registration_closed', 'This registration is closed. Please register again.')
        : { json: { checkoutUrl: `${site.url}/card-page`, registrationId: body['id'] } },
    )
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(registrations()).toHaveLength(2)

    status = 'confirmed'
    await openForm(page)
    await submitButton(page).click()
    await page.getByRole('heading', { name: "You're Registered" }).waitFor()
    expect(registrations()).toHaveLength(3)
    expect(page.url()).toContain(`/robokids/success?reference=${String(registrations()[2]?.body['id'])}`)
  })

  it('keeps what was typed after a reload and on another level', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page, { children: [...sampleFamily.children, { name: 'Noa', age: '7' }] })
    await page.reload()
    await firstOpenDate(page)
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    expect(await page.getByLabel("Child's first name").nth(1).inputValue()).toBe('Noa')
    expect(await chosenDate(page)).toBe('2025-10-03')
    await openForm(page, '/robokidspage2')
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('maren.holt@example.com')
  })

  it('works again after coming back from the card page', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    await page.goBack()
    await eventually(() => submitButton(page).innerText()).toBe('Continue to payment')
    await eventually(() => page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    // The dates are refetched.
    await eventually(() => chosenDate(page)).toBe('2025-10-03')
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [first, second] = registrations()
    expect(second?.body).toEqual(first?.body)
  })

  it('releases the seats of the previous attempt after a field was changed, but not those being paid', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    const sendFrom = async (city: string) => {
      await openForm(page)
      await page.getByLabel('City').fill(city)
      await submitButton(page).click()
      await page.waitForURL('**/card-page')
      return registrations().at(-1)?.body ?? {}
    }
    const first = await sendFrom('Cambridge')
    const second = await sendFrom('Boston')
    expect(first['replaces']).toBeUndefined()
    expect(second).toMatchObject({ replaces: first['id'], unlessRegistered: true })

    site.api.tell(sampleView({ registrationId: String(second['id']) }))
    await page.goto(`/robokids/success?reference=${String(second['id'])}`)
    await page.getByText('We haven’t received your payment yet.').waitFor()
    expect((await sendFrom('Fresno'))['replaces']).toBeUndefined()
  })

  it('releases the seats that the server holds, when a request that changes them was lost', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const first = registrations().at(-1)?.body ?? {}
    site.api.on('POST /api/registrations', () => refusal('upstream_unavailable', 'Please try again in a moment.'))
    site.api.on('GET /api/registrations/:reference', () =>
      refusal('registration_not_found', 'We know no such registration.'),
    )
    await openForm(page)
    await page.getByLabel('City').fill('Boston')
    await submitButton(page).click()
    await eventually(() => alertBox(page).innerText()).toContain('Please try again in a moment.')
    await closeAlert(page)
    const lost = registrations().at(-1)?.body ?? {}
    expect(lost['replaces']).toBe(first['id'])
    await page.getByLabel('City').fill('Fresno')
    await submitButton(page).click()
    await eventually(() => registrations().at(-1)?.body['city']).toBe('Fresno')
    expect(registrations().at(-1)?.body['replaces']).toBe(first['id'])
    expect(registrations().at(-1)?.body['id']).not.toBe(lost['id'])
  })

  it('lets a parent continue with the date that their own held seats have filled, and says why', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const startDate = String(registrations().at(-1)?.body['startDate'])
    const { levels } = site.api.classes
    site.api.classes = {
      ...site.api.classes,
      levels: levels.map((level) => ({
        ...level,
        sessions: level.sessions.map((session) => ({ ...session, seatsLeft: 0 })),
      })),
    }
    await page.goBack()
    const card = dateCards(page).locator('label', { has: page.locator(`[value="${startDate}"]`) })
    await card.getByText('Full, but we may be holding your seat').waitFor()
    expect(await card.getByRole('radio').isChecked()).toBe(true)
    expect(await dateCards(page).getByText('Class full').count()).toBe(3)
    await page.getByLabel('City').fill('Fresno')
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(registrations().at(-1)?.body).toMatchObject({ city: 'Fresno', startDate })
  })

  it('says that a child is registered already, beside the child', async () => {
    const page = await site.open()
    const message = 'Ivo is already registered for this class and date. The confirmation is in your email.'
    site.api.on('POST /api/registrations', () =>
      refusal('already_registered', message, [{ path: 'childName', message }]),
    )
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await eventually(() => alertBox(page).innerText()).toContain(message)
    await closeAlert(page)
    expect(await errorOf(page, "Child's first name")).toBe(message)
  })

  it('pays for the existing registration when another tab has sent the same one', async () => {
    const page = await site.open()
    const standing = sampleView().registrationId
    site.api.on('POST /api/registrations', () => ({
      json: { checkoutUrl: `${site.url}/card-page`, registrationId: standing },
    }))
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const stored = await page.evaluate(() => sessionStorage.getItem('roboKidsWaiverSession'))
    expect(JSON.parse(stored ?? '')).toMatchObject({ registrationId: standing })
  })

  it('works again when the browser restores the page from its back/forward cache', async () => {
    const page = await site.open()
    site.api.on('POST /api/registrations', ({ body }) => ({
      // A URL that does not leave the page.
      json: { checkoutUrl: `${site.url}/api/nothing-there`, registrationId: body['id'] },
    }))
    await page.route('**/api/nothing-there', (route) => route.fulfill({ status: 204 }))
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await eventually(() => registrations().length).toBe(1)
    expect(await submitButton(page).innerText()).toBe('Processing...')
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await eventually(() => submitButton(page).innerText()).toBe('Continue to payment')
    expect(await submitButton(page).isEnabled()).toBe(true)
  })

  it('shows the total with siblings, with and without the promotion', async () => {
    const page = await site.open()
    await openForm(page)
    const total = () =>
      page
        .locator('[aria-live]')
        .filter({ hasText: /^Total for/ })
        .innerText()
    expect(await total()).toMatch(/1 child\s+\$400\.00/)
    await page.getByRole('button', { name: 'Add a sibling' }).click()
    expect(await total()).toContain('$400.00')
    expect(await total()).toContain('One sibling joins free: you save $400.00')
    await page.getByRole('button', { name: 'Add a sibling' }).click()
    expect(await total()).toContain('$800.00')
    await page.getByRole('button', { name: 'Remove this sibling' }).first().click()
    expect(await page.getByLabel("Child's first name").count()).toBe(2)

    await openForm(page, '/robokidspage4')
    expect(await total()).toMatch(/2 children\s+\$2,000\.00/)
  })

  it('welcomes a child outside the recommended ages', async () => {
    const page = await site.open()
    await openForm(page, '/robokidspage4')
    await fillSignUp(page, { children: [{ name: 'Ivo', age: '8' }] })
    expect(await page.getByText('We made this class for ages 11 to 16.').innerText()).toContain(
      'Ivo is younger but still welcome',
    )
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
  })

  it('rejects more children than the date has seats', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page, { startDate: '2025-10-05', children: [...sampleFamily.children, { name: 'Noa', age: '7' }] })
    await submitButton(page).click()
    expect(await errorOf(page, 'Start date')).toBe(
      'This date has 1 seat left, and you are registering 2 children. Choose another one.',
    )
    expect(registrations()).toHaveLength(0)
  })

  it('can be sent again when it holds the last seat itself', async () => {
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page, { startDate: '2025-10-05' })
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    for (const level of site.api.classes.levels) level.sessions[2]!.seatsLeft = 0
    await openForm(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(registrations()[1]?.body).toEqual(registrations()[0]?.body)
  })

  it('can be completed with the keyboard alone', async () => {
    const page = await site.open()
    await openForm(page)
    await dateCards(page).getByRole('radio').first().focus()
    const keys = page.keyboard
    await keys.press('Space')
    await keys.press('ArrowDown')
    await keys.press('ArrowUp')
    await keys.press('Tab')
    // The waitlist of the full date is next.
    await keys.press('Tab')
    for (const text of [
      'Maren Holt',
      'maren.holt@example.com',
      '14 Alder Way',
      '',
      'Cambridge',
      'MA',
      '02139',
      'Ivo',
      '9',
    ]) {
      await keys.type(text)
      await keys.press('Tab')
    }
    // "Add a sibling" is next.
    await keys.press('Tab')
    await keys.press('Enter')
    await page.waitForURL('**/card-page')
    expect(registrations()[0]?.body).toMatchObject({ guardianName: 'Maren Holt', startDate: '2025-10-03', childAge: 9 })
  })

  it.each(['blocked', 'full'] as const)('registers when storage is %s', async (how) => {
    const page = await site.open()
    await breakStorage(page, how)
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(registrations()).toHaveLength(1)
  })

  it('says that the dates could not be loaded, and loads them on a retry', async () => {
    const page = await site.open()
    let down = true
    site.api.on('GET /api/classes', () =>
      down ? refusal('rate_limited', 'Too many requests. Please try again in a minute.') : { json: site.api.classes },
    )
    await page.goto('/robokidspage1')
    await page.getByText('We could not load the dates and the price.').waitFor()
    down = false
    await page.getByRole('button', { name: 'Try again' }).click()
    expect(await firstOpenDate(page)).toBe('2025-10-03')
  })

  it('is linked in the first viewport, and keeps its price and button visible without covering a field', async () => {
    const page = await site.open({ timezoneId: 'America/New_York' })
    const bar = page.locator('[data-pay-bar]')
    /** The hidden parts of the price and the button, and what covers the focused element. */
    const faults = (place: string) =>
      page.evaluate((where) => {
        const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect()
        const [banner, price] = [box('[aria-label="Cookies"]'), box('[data-pay-bar]')]
        const button = box('[data-pay-bar] button')
        const lowest = banner?.top ?? innerHeight
        const at = document.activeElement
        const focused = at?.getBoundingClientRect()
        const said = `${where}, ${at?.getAttribute('name') ?? at?.textContent}`
        if (!price || !button || !focused) return [`${said}: nothing there`]
        const inBar = at?.closest('[data-pay-bar]')
        return [
          price.top < 60 || button.bottom > lowest + 1
            ? [`${said}: the button stands at ${button.bottom} of ${lowest}`]
            : [],
          focused.top < 60 ? [`${said}: under the header`] : [],
          focused.bottom > (inBar ? lowest : price.top) + 1 ? [`${said}: ${focused.bottom} is under ${price.top}`] : [],
          document.documentElement.scrollWidth > innerWidth ? [`${said}: too wide`] : [],
        ].flat()
      }, place)

    const found: string[] = []
    for (const [width, height] of [
      [360, 740],
      [390, 844],
      // With an on-screen keyboard.
      [390, 508],
      [768, 1024],
      [1280, 800],
      [1920, 1080],
    ] as const) {
      const size = `${width}x${height}`
      await page.setViewportSize({ width, height })
      if (height > 600) {
        await page.goto('/robokidslanding')
        const way = page.getByRole('list', { name: 'Register' }).getByRole('link').first()
        const [button, banner] = [
          await way.boundingBox(),
          await page.getByRole('region', { name: 'Cookies' }).boundingBox(),
        ]
        if (!button || !banner || button.y + button.height > banner.y) found.push(`${size}: no way to register`)
      }
      await openForm(page)
      await page.getByRole('button', { name: 'Add a sibling' }).click()
      await dateCards(page).getByRole('radio').first().focus()
      for (let field = 0; field < 16; field++) {
        found.push(...(await faults(size)))
        await page.keyboard.press('Tab')
      }
    }
    expect(found).toEqual([])
    // The bar moves down to where the banner was.
    await openForm(page)
    await page.getByRole('button', { name: 'Accept' }).click()
    await eventually(() => bar.evaluate((one) => Math.abs(one.getBoundingClientRect().bottom - innerHeight) < 2)).toBe(
      true,
    )
    await submitButton(page).click()
    expect(await alertBox(page).count()).toBe(0)
  })

  it('is filled in from the account without overwriting what was typed, and stored for that account only', async () => {
    const { accounts } = site.api
    accounts.user = maren
    const reading = held(() => ({ json: accounts.profile }))
    site.api.on('GET /api/profile', reading.handler)
    const page = await site.open({ viewport: { width: 1280, height: 900 } })
    const typed = (where: Page, label: string | RegExp) => where.getByLabel(label, { exact: true }).inputValue()
    const kept = (where: Page) => where.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    await openForm(page)
    await page.getByLabel('Guardian name').fill('Maren H.')
    reading.release()
    await eventually(() => typed(page, 'Email')).toBe('maren.holt@example.com')
    expect(await typed(page, 'Guardian name')).toBe('Maren H.')
    expect([await typed(page, 'Address line 1'), await typed(page, 'City')]).toEqual(['14 Alder Way', 'Cambridge'])
    expect([await typed(page, 'State'), await typed(page, 'Zip code')]).toEqual(['MA', '02139'])
    await page.getByLabel("Child's first name").fill('Ivo')

    const another = await page.context().newPage()
    await page.close()
    await openForm(another, '/robokidspage2')
    await eventually(() => typed(another, "Child's first name")).toBe('Ivo')
    expect(await typed(another, 'Guardian name')).toBe('Maren H.')
    await another.getByRole('button', { name: 'Logout' }).click()
    await another.waitForURL(`${site.url}/`)
    await eventually(() => kept(another)).not.toContain('Ivo')
    await openForm(another)
    expect([await typed(another, 'Email'), await typed(another, "Child's first name")]).toEqual(['', ''])

    accounts.user = { ...maren, userId: '019a0000-0000-7000-8000-0000000000a2', email: 'ada.lind@example.com' }
    accounts.profile = { ...accounts.profile, ...accounts.user, givenName: 'Ada', familyName: 'Lind', address: '' }
    await openForm(another)
    await eventually(() => typed(another, 'Guardian name')).toBe('Ada Lind')
    expect([await typed(another, 'Email'), await typed(another, 'City')]).toEqual(['ada.lind@example.com', ''])
    await fillSignUp(another, { guardianName: 'Ada Lind' })
    await submitButton(another).click()
    await another.waitForURL('**/card-page')
    expect(await another.evaluate(() => Object.keys(localStorage).filter((key) => /Draft/.test(key)))).toEqual([])
    await another.goBack()
    await eventually(() => typed(another, "Child's first name")).toBe('Ivo')
  })
})

describe('wherever money is taken', () => {
  it('shows the terms, the waiver, the sales policy and the hold time beside the button', async () => {
    const { registrationId, heldUntil } = sampleView()
    site.api.tell(sampleView())
    const page = await site.open({ timezoneId: 'America/New_York' })
    await page.addInitScript((item) => sessionStorage.setItem('cart', JSON.stringify([item])), {
      id: robotSpider,
      name: 'Robot Spider',
      price: 300,
      quantity: 1,
    })
    for (const [path, button] of [
      ['/robokidspage1', 'Continue to payment'],
      [`/robokids-payment?reference=${registrationId}`, /^Pay/],
      ['/membership/register', 'Proceed to Payment'],
      ['/shop', 'Check out'],
    ] as const) {
      await page.goto(path)
      await page.getByRole('button', { name: button }).waitFor()
      const terms = page.getByRole('list', { name: 'Before you pay' }).getByRole('link')
      expect(await terms.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
        '/terms#refunds',
        '/terms',
        '/waiver.pdf',
      ])
      expect(await page.getByText('We hold your seat for 10 minutes.').count()).toBe(path === '/shop' ? 0 : 1)
    }
    await page.goto(`/robokids-payment?reference=${registrationId}`)
    expect(heldUntil).toBe('2025-09-20T17:36:00.000Z')
    await page.getByText('Your seat is held until 1:36 PM.').waitFor()
  })

  it('says that loading takes longer only after a second', async () => {
    const loading = held(() => ({ json: sampleView() }))
    site.api.on('GET /api/registrations/:reference', loading.handler)
    const page = await site.open()
    await page.goto(`/robokids-payment?reference=${sampleView().registrationId}`)
    const note = page.getByText('This is taking longer than usual.').filter({ visible: true })
    await note.waitFor()
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      await page.emulateMedia({ reducedMotion })
      expect(await note.evaluate((one) => getComputedStyle(one).animationDuration)).toBe('1s')
    }
    loading.release()
    await page.getByRole('button', { name: /^Pay/ }).waitFor()
    expect(await note.count()).toBe(0)
  })
})

describe('the slideshows', () => {
  const shown = (page: Page, label: string) =>
    page.getByRole('region', { name: label }).locator('figure[aria-hidden=false] figcaption').innerText()

  it('advance every 4 and every 5 seconds, and stop when paused, hovered or hidden', async () => {
    const page = await site.open()
    await page.clock.install()
    await openForm(page)
    const first = [await shown(page, 'What your child builds'), await shown(page, 'How a class goes')]
    await page.clock.runFor(4_100)
    expect(await shown(page, 'What your child builds')).not.toBe(first[0])
    expect(await shown(page, 'How a class goes')).toBe(first[1])
    await page.clock.runFor(1_000)
    expect(await shown(page, 'How a class goes')).not.toBe(first[1])

    await page.getByRole('button', { name: 'Pause How a class goes' }).click()
    await page.mouse.move(0, 0)
    await page.getByLabel('Guardian name').focus()
    const paused = await shown(page, 'How a class goes')
    await page.getByRole('region', { name: 'What your child builds' }).hover()
    const pointedAt = await shown(page, 'What your child builds')
    await page.clock.runFor(11_000)
    expect(await shown(page, 'How a class goes')).toBe(paused)
    expect(await shown(page, 'What your child builds')).toBe(pointedAt)
    await page.getByRole('button', { name: 'Next picture of How a class goes' }).click()
    expect(await shown(page, 'How a class goes')).not.toBe(paused)
  })

  it('do not move by themselves with reduced motion', async () => {
    const page = await site.open({ reducedMotion: 'reduce' })
    await page.clock.install()
    await openForm(page)
    const first = await shown(page, 'What your child builds')
    await page.clock.runFor(20_000)
    expect(await shown(page, 'What your child builds')).toBe(first)
  })
})
