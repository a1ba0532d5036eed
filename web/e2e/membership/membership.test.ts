import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  agree,
  fillRegistration,
  goodPassword,
  messageLine,
  passwordField,
  proceedButton,
  signedUp,
} from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import {
  breakStorage,
  chooseDate,
  chosenDate,
  dateCards,
  detailsOf,
  firstOpenDate,
  heading,
  textsSeen,
  watchTexts,
} from '../pages.ts'
import { maren } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()

const signUps = () => site.api.callsOf('POST', /^\/api\/auth\/sign-up$/)
const checkouts = () => site.api.callsOf('POST', /^\/api\/createStripeSession$/)

async function openForm(page: Page) {
  await page.goto('/membership/register')
  await firstOpenDate(page)
}

describe('the membership offer', () => {
  it('shows both prices and links to the login and the registration', async () => {
    const page = await site.open()
    await page.goto('/membership')
    // The prices load after the first paint.
    for (const price of ['$7 a month', '$60 a year'])
      await eventually(() => page.locator('main').innerText()).toContain(price)
    await page.getByRole('link', { name: 'Login' }).click()
    await page.waitForURL('**/membership/login')
    await page.goBack()
    await page.getByRole('link', { name: 'Choose yearly' }).click()
    await page.waitForURL('**/membership/register?plan=yearly')
    expect(await page.getByRole('radio', { name: '$60 per year' }).isChecked()).toBe(true)
  })

  it('shows the price book’s prices on every page, and none when it is unreachable', async () => {
    let reached = true
    site.api.on('GET /api/membership-plans', () =>
      reached
        ? { json: { plans: site.api.accounts.plans.map((plan) => ({ ...plan, amount: plan.amount + 200 })) } }
        : refusal('upstream_unavailable', 'Please try again in a moment.'),
    )
    const page = await site.open()
    await page.goto('/terms')
    await page.getByText('A membership costs $9 per month or $62 per year, as you choose.').waitFor()
    reached = false
    await page.goto('/membership')
    await page.getByText('We could not load the prices.').waitFor()
    expect(await page.locator('main').innerText()).not.toContain('$')
    await page.goto('/membership/register')
    await page.getByText('The terms could not be loaded.').waitFor()
    expect(await page.locator('main').innerText()).not.toContain('$')
    await page.goto('/terms')
    await page.getByText('A membership costs what the membership page shows, per month or per year').waitFor()
    await page.goto('/membership')
    await page.getByText('We could not load the prices.').waitFor()
    reached = true
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('$9 a month').waitFor()
  })
})

describe('the membership registration', () => {
  it('signs up, stores the pending user without passwords, and goes to the checkout', async () => {
    const page = await site.open()
    await openForm(page)
    expect(await heading(page).innerText()).toBe('Create Your ChronoTech Account')
    expect(await page.title()).toContain('Create Your ChronoTech Account')
    expect(await page.getByRole('radio', { name: '$7 per month' }).isChecked()).toBe(true)
    expect(await page.getByText('It must be verified later, from your profile page.').count()).toBe(1)
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps().map(({ body }) => body)).toEqual([
      {
        given_name: 'Maren',
        family_name: 'Holt',
        email: 'maren.holt@example.com',
        password: goodPassword,
        birthdate: '1988-04-12',
        phone_number: '+16175550123',
        street: '14 Alder Way',
        city: 'Cambridge',
        state: 'MA',
        zip: '02139',
      },
    ])
    expect(checkouts().map(({ body }) => body)).toEqual([
      {
        email: 'maren.holt@example.com',
        plan: 'monthly',
        classDate: '2030-01-04',
        consent: {
          version: renewalTermsVersion,
          text: renewalTerms('monthly', { amount: 700, currency: 'usd' }),
        },
        familyTimeZone: 'America/Los_Angeles',
        agreed: {
          kind: 'membership',
          lines: [{ sku: 'membership:monthly', quantity: 1, unitAmount: 700 }],
          date: '2030-01-04',
          currency: 'usd',
          dueNow: 700,
          credit: 0,
          renewal: { plan: 'monthly', amount: 700, on: null },
          termsVersion: renewalTermsVersion,
          reckonedAt: null,
        },
      },
    ])
    const stored = await page.evaluate(() => [
      sessionStorage.getItem('pendingUser') ?? '',
      JSON.stringify({ ...sessionStorage, ...localStorage }),
    ])
    expect(JSON.parse(stored[0]!)).toMatchObject({
      phone_number: '+16175550123',
      address: '14 Alder Way, Cambridge, MA 02139',
      plan: 'monthly',
      classDate: '2030-01-04',
    })
    expect(stored[1]).not.toContain(goodPassword)
  })

  it('colors each password rule as soon as it is met', async () => {
    const page = await site.open()
    await openForm(page)
    const met = async (password: string) => {
      await passwordField(page).fill(password)
      return page
        .getByRole('list', { name: 'Password rules' })
        .locator('li')
        .evaluateAll((rules) => rules.map((rule) => (rule as HTMLElement).dataset['met'] === 'true'))
    }
    // Length, capital, digit, symbol: the server's rules.
    expect(await met('')).toEqual([false, false, false, false])
    expect(await met('éclair1!')).toEqual([true, false, true, true])
    expect(await met('ÉCLAIR1!')).toEqual([true, true, true, true])
    expect(await met('Пароль1!')).toEqual([true, false, true, true])
    expect(await met('Abcdef1€')).toEqual([true, true, true, false])
    expect(await met('Abcdef١!')).toEqual([true, true, false, true])
    const colours = () =>
      page
        .getByRole('list', { name: 'Password rules' })
        .locator('li')
        .evaluateAll((rules) => rules.map((rule) => getComputedStyle(rule).color))
    // The color changes by a transition.
    const isAlike = async () => {
      const [length, , digit] = await colours()
      return length === digit
    }
    await eventually(isAlike).toBe(false)
    await page.getByLabel('Show password').check()
    expect(await passwordField(page).getAttribute('type')).toBe('text')
  })

  it('rejects passwords that differ or are weak, in the words of the specification', async () => {
    const page = await site.open()
    await openForm(page)
    await fillRegistration(page)
    await page.getByLabel('Confirm password').fill(`${goodPassword}x`)
    await proceedButton(page).click()
    await eventually(() => messageLine(page).innerText()).toBe("❌ Passwords don't match.")
    await passwordField(page).fill('Abcdef1€')
    await page.getByLabel('Confirm password').fill('Abcdef1€')
    await proceedButton(page).click()
    await eventually(() => messageLine(page).innerText()).toBe(
      '❌ Password must include 1 capital letter, 1 number, 1 special character, and be at least 8 characters.',
    )
    expect(signUps()).toHaveLength(0)
  })

  it('marks missing fields and focuses the first', async () => {
    const page = await site.open()
    await openForm(page)
    await proceedButton(page).click()
    await eventually(() => page.locator('[aria-invalid]').count()).toBe(12)
    await eventually(() => dateCards(page).evaluate((group) => group === document.activeElement)).toBe(true)
    const problems = page.getByRole('list', { name: 'What to fix' })
    expect(await problems.getByRole('link').count()).toBe(12)
    await problems.getByRole('link', { name: 'City is required.' }).click()
    await eventually(() => page.getByLabel('City').evaluate((field) => field === document.activeElement)).toBe(true)
    expect(signUps()).toHaveLength(0)
  })

  it('accepts adults only: born on or before the date 18 years ago', async () => {
    const page = await site.open()
    await page.clock.setFixedTime(new Date('2026-11-28T12:00:00'))
    await openForm(page)
    expect(await page.getByLabel('Birthdate').getAttribute('max')).toBe('2008-11-27')
    await fillRegistration(page, { birthdate: '2008-11-28' })
    await proceedButton(page).click()
    await page.getByText('You must be 18 or older to register.').waitFor()
    expect(signUps()).toHaveLength(0)
    await page.getByLabel('Birthdate').fill('2008-11-27')
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
  })

  it('does nothing when the hidden field is filled in', async () => {
    const page = await site.open()
    await openForm(page)
    await fillRegistration(page)
    const decoy = page.locator('input[name=middle_name]')
    expect(await decoy.evaluate((input) => input.closest('[aria-hidden=true]') !== null)).toBe(true)
    expect(await decoy.evaluate((input) => (input as HTMLInputElement).tabIndex)).toBe(-1)
    expect((await decoy.boundingBox())?.x).toBeLessThan(0)
    const fillDecoy = (value: string) =>
      decoy.evaluate((input, typed) => {
        ;(input as HTMLInputElement).value = typed
      }, value)
    await fillDecoy('Robot')
    await proceedButton(page).click()
    expect(await messageLine(page).innerText()).toBe('')
    expect(await proceedButton(page).isEnabled()).toBe(true)
    await fillDecoy('')
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
    expect(checkouts()).toHaveLength(1)
  })

  it('keeps password managers from filling in the hidden field', async () => {
    const page = await site.open()
    await openForm(page)
    await fillRegistration(page)
    const decoy = page.locator('input[name=middle_name]')
    // Browsers and password managers skip read-only fields; each manager has its own attribute to skip a field.
    expect(
      await decoy.evaluate((input: HTMLInputElement) => [
        input.readOnly,
        input.autocomplete,
        ...['data-1p-ignore', 'data-bwignore', 'data-lpignore', 'data-form-type', 'data-protonpass-ignore'].filter(
          (name) => !input.hasAttribute(name),
        ),
      ]),
    ).toEqual([true, 'off'])
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
  })

  it('clears the error of a field once it is corrected', async () => {
    const page = await site.open()
    await openForm(page)
    await proceedButton(page).click()
    const problems = page.getByRole('list', { name: 'What to fix' })
    await problems.getByText('First name is required.').waitFor()
    await page.getByLabel('First name').fill('Maren')
    await page.getByText('First name is required.').first().waitFor({ state: 'detached' })
    expect(await page.getByLabel('First name').getAttribute('aria-invalid')).toBeNull()
    await problems.getByText('Last name is required.').waitFor()
    await agree(page)
    await page.getByText('Please agree to the terms of the membership.').first().waitFor({ state: 'detached' })
    await chooseDate(page)
    await page.getByText('Choose a class date.', { exact: true }).first().waitFor({ state: 'detached' })
  })

  it('announces each time that it was not sent, even for the same reason', async () => {
    const page = await site.open()
    await openForm(page)
    await proceedButton(page).click()
    await eventually(() => messageLine(page).innerText()).toBe('Please check the marked fields.')
    const said = await messageLine(page).locator('span').elementHandle()
    await page.getByLabel('First name').press('Enter')
    await eventually(async () => said?.evaluate((words) => words.isConnected)).toBe(false)
    // The message is empty while the form is being sent.
    await eventually(() => messageLine(page).innerText()).toBe('Please check the marked fields.')
    expect(await messageLine(page).getAttribute('role')).toBe('alert')
  })

  it.each([
    ['what the server says', refusal('UsernameExistsException', 'User already exists'), 'User already exists'],
    ['Something went wrong.', { lost: true }, 'Something went wrong.'],
    ['Something went wrong. for HTML', { status: 502, html: '<h1>Bad gateway</h1>' }, 'Something went wrong.'],
  ])('says %s when the sign-up fails, and keeps what was typed', async (_, answer, message) => {
    const page = await site.open()
    site.api.on('POST /api/auth/sign-up', () => answer)
    await openForm(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await eventually(() => messageLine(page).innerText()).toBe(message)
    expect(await page.getByLabel('Street').inputValue()).toBe('14 Alder Way')
    expect(await chosenDate(page)).toBe('2030-01-04')
    expect(checkouts()).toHaveLength(0)
    await page.reload()
    await firstOpenDate(page)
    expect(await page.getByLabel('First name').inputValue()).toBe('Maren')
    expect(await chosenDate(page)).toBe('2030-01-04')
    expect(await passwordField(page).inputValue()).toBe('')
  })

  it.each([
    [
      refusal('class_full', 'This class is full. Please choose another date.'),
      'This class is full. Please choose another date.',
    ],
    [{ status: 500, json: {} }, 'Stripe error'],
    [{ lost: true }, 'Stripe error'],
  ])('does not sign up a second time after a checkout that failed (%#)', async (answer, message) => {
    const page = await site.open()
    site.api.on('POST /api/createStripeSession', () => answer)
    await openForm(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await eventually(() => messageLine(page).innerText()).toBe(message)
    await page.getByText('Your account is ready.').waitFor()
    site.api.on('POST /api/createStripeSession', () => ({ json: { url: `${site.url}/card-page` } }))
    await page.reload()
    await page.getByText('Your account is ready.').waitFor()
    await firstOpenDate(page)
    await page.getByRole('radio', { name: '$60 per year' }).check()
    await agree(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
    expect(checkouts().at(-1)?.body).toMatchObject({ plan: 'yearly' })
  })

  it('shows the created account’s details, and asks for all of them again for another email', async () => {
    const page = await site.open()
    site.api.on('POST /api/createStripeSession', () => ({ status: 500, json: {} }))
    await openForm(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.getByText('Your account is ready.').waitFor()
    expect(await detailsOf(page)).toEqual({
      Name: 'Maren Holt',
      Birthdate: 'April 12, 1988',
      Phone: '+16175550123',
      Address: '14 Alder Way, Cambridge, MA 02139',
    })
    // Changes there would not reach the account.
    for (const field of ['First name', 'Last name', 'Birthdate', 'Phone number', 'Street', 'ZIP'])
      expect(await page.getByLabel(field).count()).toBe(0)
    await page.getByLabel('Email').fill('ivo.holt@example.com')
    expect(await page.getByLabel('Street').inputValue()).toBe('14 Alder Way')
    await page.getByLabel('First name').fill('')
    await page.getByLabel('Email').fill('Maren.Holt@example.com')
    expect(await detailsOf(page)).toMatchObject({ Name: 'Maren Holt' })
    site.api.on('POST /api/createStripeSession', () => ({ json: { url: `${site.url}/card-page` } }))
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
    expect(checkouts().at(-1)?.body).toMatchObject({ email: 'maren.holt@example.com' })
  })

  it('sends one sign-up for a double click and Enter', async () => {
    const page = await site.open()
    const signingUp = held(() => ({ json: { delivery: null, confirmed: false } }))
    site.api.on('POST /api/auth/sign-up', signingUp.handler)
    await openForm(page)
    await fillRegistration(page)
    await page.evaluate(() => {
      const form = document.querySelector('form')
      form?.querySelector<HTMLButtonElement>('button[type=submit]')?.click()
      form?.requestSubmit()
    })
    await eventually(() => proceedButton(page).innerText()).toBe('Processing...')
    expect(await proceedButton(page).isDisabled()).toBe(true)
    signingUp.release()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
  })

  it('works again after coming back from the card page', async () => {
    const page = await site.open()
    await openForm(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    await page.goBack()
    await eventually(() => proceedButton(page).innerText()).toBe('Proceed to Payment')
    expect(await detailsOf(page)).toMatchObject({ Address: '14 Alder Way, Cambridge, MA 02139' })
    await agree(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
  })

  it('only logs that the dates could not be loaded', async () => {
    const page = await site.open()
    const logged: string[] = []
    page.on('console', (message) => logged.push(message.text()))
    site.api.on('GET /api/availableSlots', () => refusal('not_found', 'Nothing here.'))
    await page.goto('/membership/register')
    await eventually(() => logged.some((text) => text.includes('Could not fetch available slots'))).toBe(true)
    expect(await messageLine(page).innerText()).toBe('')
    expect(await dateCards(page).getByRole('radio').count()).toBe(0)
    site.api.on('GET /api/availableSlots', () => ({ json: { slots: site.api.accounts.slots } }))
    await page.getByRole('button', { name: 'Check again' }).click()
    await firstOpenDate(page)
    expect(await dateCards(page).locator('label').allInnerTexts()).toEqual([
      'Friday, January 4, 2030\n4:00 PM Pacific\n7 seats left',
      'Saturday, January 5, 2030\n4:00 PM Pacific\nClass full',
      'Sunday, January 6, 2030\n4:00 PM Pacific\n10 seats left',
      'Monday, January 7, 2030\n4:00 PM Pacific\n10 seats left',
    ])
  })

  it.each(['blocked', 'full'] as const)('registers when storage is %s', async (how) => {
    const page = await site.open()
    await breakStorage(page, how)
    await openForm(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    expect(signUps()).toHaveLength(1)
  })
})

describe('the payment success of a membership', () => {
  it('shows the plan and the class date of the saved registration, and how to confirm the email', async () => {
    const page = await site.open({ timezoneId: 'Asia/Tokyo' })
    await signedUp(page)
    await page.goto('/success')
    expect(await heading(page).innerText()).toBe('Payment Successful!')
    expect(await detailsOf(page)).toEqual({
      Guardian: 'Maren Holt',
      Email: 'maren.holt@example.com',
      'Membership plan': 'Yearly',
      'Class date': 'Friday, January 4, 2030',
    })
    const ticket = page.getByRole('region', { name: 'Welcome, Maren' })
    expect(await ticket.innerText()).toMatch(/Membership, Yearly\s+Friday, January 4, 2030\s+Complete Waiver Form/)
    expect(await page.getByText('We emailed a code to').first().innerText()).toContain('m***@e***')
    await page.getByRole('link', { name: 'Enter the code' }).click()
    await page.waitForURL('**/confirm?email=maren.holt%40example.com')
    await page.goBack()
    await page.getByRole('link', { name: 'Complete Waiver Form' }).click()
    await page.waitForURL('**/waiver')
    await page.getByRole('heading', { name: 'Sign the waiver' }).waitFor()
  })

  it('shows guardian, child with age, class type and class date of a registration for the waiver', async () => {
    const page = await site.open()
    await page.addInitScript(() =>
      localStorage.setItem(
        'roboKidsRegistration',
        JSON.stringify({
          guardianName: 'Maren Holt',
          childName: 'Ivo',
          childAge: 9,
          classType: 'basic',
          startDate: '2025-10-03',
        }),
      ),
    )
    await page.goto('/success')
    expect(await detailsOf(page)).toEqual({
      Guardian: 'Maren Holt',
      Child: 'Ivo, age 9',
      'Class type': 'Level 1 Foundations',
      'Class date': 'Friday, October 3, 2025',
    })
  })

  it('says that nothing is saved only after it has checked', async () => {
    const page = await site.open()
    await page.goto('/success')
    await page.getByText('Registration info not found. Please go back and try again.').waitFor()
    expect(await page.getByText('Payment Successful!').count()).toBe(0)

    const member = await site.open()
    await watchTexts(member)
    await signedUp(member)
    site.api.on('GET /api/auth/session', () => ({ delayMs: 1_000, json: { user: null } }))
    await member.goto('/success')
    await detailsOf(member)
    expect(await textsSeen(member)).not.toContain('Registration info not found')
  })

  it('logs in by itself once the account is confirmed elsewhere, polling every 5 s', async () => {
    const page = await site.open()
    const { accounts } = site.api
    let confirmed = false
    site.api.on('POST /api/auth/auto-sign-in', () => {
      if (confirmed) accounts.user = maren
      return { json: { step: confirmed ? 'DONE' : 'waiting' } }
    })
    const asked = () => site.api.callsOf('POST', /auto-sign-in$/).length
    await page.clock.install()
    await signedUp(page)
    await page.goto('/success')
    await page.getByText('this page logs you in automatically').waitFor()
    await page.clock.runFor(4_000)
    expect(asked()).toBe(0)
    await page.clock.runFor(1_100)
    await eventually(asked).toBe(1)
    await eventually(async () => {
      await page.clock.runFor(1_000)
      return asked()
    }).toBe(2)
    confirmed = true
    await eventually(async () => {
      await page.clock.runFor(1_000)
      return page.getByText('Your account is confirmed, and you’re logged in.').count()
    }).toBe(1)
    expect(await page.getByRole('link', { name: 'Profile', exact: true }).count()).toBe(1)
  })

  it('polls once 300 ms after the tab gets visible, however many events report it', async () => {
    const page = await site.open()
    site.api.on('POST /api/auth/auto-sign-in', () => ({ json: { step: 'waiting' } }))
    const asked = () => site.api.callsOf('POST', /auto-sign-in$/).length
    await page.clock.install()
    await signedUp(page)
    await page.goto('/success')
    await page.getByText('this page logs you in automatically').waitFor()
    await page.clock.runFor(1_000)
    // The clock also runs by itself, so all events are fired at once.
    await page.evaluate(() => {
      for (let times = 0; times < 3; times += 1) {
        window.dispatchEvent(new Event('focus'))
        document.dispatchEvent(new Event('visibilitychange'))
      }
    })
    await page.clock.runFor(310)
    await eventually(asked).toBe(1)
    await page.clock.runFor(2_000)
    expect(asked()).toBe(1)
    // From then on every 5 s again.
    await eventually(async () => {
      await page.clock.runFor(1_000)
      return asked()
    }).toBe(2)
  })

  it('gives up after 3 minutes with the specified words', async () => {
    const page = await site.open()
    await page.clock.install()
    await signedUp(page)
    await page.goto('/success')
    await page.getByText('this page logs you in automatically').waitFor()
    await page.clock.fastForward(181_000)
    await page.getByText('The account was not confirmed on time.').waitFor()
    const asked = site.api.callsOf('POST', /auto-sign-in$/).length
    await page.clock.runFor(20_000)
    expect(site.api.callsOf('POST', /auto-sign-in$/)).toHaveLength(asked)
  })
})
