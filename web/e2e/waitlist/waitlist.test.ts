import type { WaitlistView } from '@robokids/contracts/waitlist'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventually, useSite } from '../fixture.ts'
import { alertBox, dateCards, faultsOf, fillSignUp, heading, submitButton } from '../pages.ts'
import { draw } from '../screenshots.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const reference = '019a0c3e-7b1d-7a2c-9f52-3f1c2d4e5a6c'
const widths = [390, 1280]

const entry = (changes: Partial<WaitlistView> = {}): WaitlistView => ({
  entryId: reference,
  status: 'waiting',
  guardianName: 'Maren Holt',
  email: 'maren.holt@example.com',
  children: [
    { childName: 'Ivo', childAge: 9 },
    { childName: 'Noa', childAge: 7 },
  ],
  classSessionId: '019a0000-0000-7000-8000-000000000003',
  classType: 'basic',
  levelTitle: 'Level 1 Foundations',
  startDate: '2025-10-06',
  startTime: '16:00',
  durationMinutes: 75,
  timeZone: 'America/Los_Angeles',
  familyTimeZone: 'America/New_York',
  place: 3,
  familiesWaiting: 7,
  offerEndsAt: null,
  closedReason: null,
  endedAt: null,
  registrationId: null,
  createdAt: '2025-09-20T18:00:00.000Z',
  ...changes,
})

/** The server's answer to reading the entry and to each step; a step changes what is read. */
function serve(first: WaitlistView) {
  let now = first
  const ended = { place: null, endedAt: '2025-09-20T18:00:00.000Z' }
  site.api.on('GET /api/waitlist/:reference', () => ({ json: now }))
  for (const [step, status] of [
    ['leave', 'left'],
    ['decline', 'declined'],
  ] as const) {
    site.api.on(`POST /api/waitlist/:reference/${step}`, () => {
      now = { ...now, ...ended, status }
      return { json: now }
    })
  }
}

const changes = () => site.api.calls.filter(({ method, path }) => method === 'POST' && path.startsWith('/api/waitlist'))
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

function fullWith(familiesWaiting: number) {
  for (const level of site.api.classes.levels) {
    for (const session of level.sessions) if (session.seatsLeft === 0) Object.assign(session, { familiesWaiting })
  }
}

async function offered(page: Page, changesOfEntry: Partial<WaitlistView> = {}) {
  serve(entry({ status: 'offered', place: null, offerEndsAt: inHours(21.5), ...changesOfEntry }))
  await page.goto(`/waitlist?offer=${reference}`)
  await page.getByRole('button', { name: /^Take the seats?, / }).waitFor()
}

async function fillAddress(page: Page) {
  await page.getByLabel('Address line 1').fill('14 Alder Way')
  await page.getByLabel('City').fill('Cambridge')
  await page.getByLabel('State', { exact: true }).fill('MA')
  await page.getByLabel('Zip code').fill('02139')
}

describe('the waitlist of a full class', () => {
  it('is reached from its date by keyboard, keeps what was typed, and gives a place that one click leaves', async () => {
    fullWith(6)
    serve(entry())
    site.api.on('POST /api/waitlist', () => ({ json: entry() }))
    const page = await site.open()
    await page.goto('/robokidspage1')
    await fillSignUp(page, {
      children: [
        { name: 'Ivo', age: '9' },
        { name: 'Noa', age: '7' },
      ],
    })
    expect(await dateCards(page).locator('label').last().innerText()).toContain('Full. 6 families wait.')
    expect(await faultsOf(page, widths)).toEqual([])
    await draw(page, 'waitlist on the sign-up page')
    const link = page.getByRole('link', { name: 'Join the waitlist for Monday, October 6, 2025' })
    await link.focus()
    await link.press('Enter')
    await page.getByRole('button', { name: 'Join with 2 children' }).waitFor()
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    expect(await page.getByLabel("Child's first name").nth(1).inputValue()).toBe('Noa')
    await page.getByText('You wait for 2 seats together. We offer seats in order.').waitFor()
    await page.getByText('for 2 children, when you take the seats').waitFor()
    expect(await faultsOf(page, widths)).toEqual([])
    await draw(page, 'waitlist join')

    await page.getByRole('button', { name: 'Join with 2 children' }).dblclick()
    await eventually(() => heading(page).innerText()).toBe('You are 3rd of 7 families.')
    expect(changes()).toHaveLength(1)
    expect(changes()[0]?.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/),
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      childName: 'Ivo',
      childAge: 9,
      siblings: [{ childName: 'Noa', childAge: 7 }],
      startDate: '2025-10-06',
      classType: 'basic',
      familyTimeZone: 'America/Los_Angeles',
    })
    expect(new URL(page.url()).searchParams.get('reference')).toBe(reference)
    expect(await faultsOf(page, widths)).toEqual([])
    await draw(page, 'waitlist place')
    await page.getByRole('button', { name: 'Leave the line' }).click()
    await eventually(() => heading(page).innerText()).toBe('You left the line.')
    await page.getByRole('link', { name: 'Join the line again' }).waitFor()
    await draw(page, 'waitlist left')
  })

  it('is offered when the class fills while the form is filled in, with everything typed kept', async () => {
    const page = await site.open()
    site.api.on('POST /api/registrations', () =>
      refusal('class_full', 'This class is full. Please choose another date.'),
    )
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await alertBox(page).getByRole('link', { name: 'Join the waitlist' }).click()
    await page.getByRole('button', { name: 'Join with 1 child' }).waitFor()
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('maren.holt@example.com')
  })

  it('shows what is wrong, and leads back to the form where there are seats after all', async () => {
    const page = await site.open()
    site.api.on('POST /api/waitlist', () => refusal('class_not_full', 'There are seats for you right now.'))
    await page.goto('/waitlist?classType=basic&startDate=2025-10-06')
    await page.getByRole('button', { name: 'Join with 1 child' }).click()
    await page.getByText('Guardian name is required.').waitFor()
    expect(await page.getByLabel('Guardian name').evaluate((field) => field === document.activeElement)).toBe(true)
    await page.getByLabel('Guardian name').fill('Maren Holt')
    await page.getByLabel('Email', { exact: true }).fill('maren.holt@example.com')
    await page.getByLabel("Child's first name").fill('Ivo')
    await page.getByLabel("Child's age").fill('9')
    await page.getByRole('button', { name: 'Join with 1 child' }).click()
    await page.getByRole('link', { name: 'Register now' }).click()
    await page.waitForURL('**/robokidspage1**')
    await eventually(() => page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
  })
})

describe('the page of an offer', () => {
  it('changes nothing by itself, tells its end, and leads from the address to the payment', async () => {
    const page = await site.open({ timezoneId: 'America/New_York' })
    await offered(page)
    await page.reload()
    await page.getByRole('button', { name: 'Take the seats, $400.00' }).waitFor()
    expect(changes()).toEqual([])
    expect(await heading(page).innerText()).toMatch(
      /^2 seats are yours until [A-Z][a-z]+day, [A-Z][a-z]+ \d+, \d+:\d\d [AP]M Pacific\.$/,
    )
    await page.getByText(/^21 hours left\. That is .* your time\.$/).waitFor()
    expect(await faultsOf(page, widths)).toEqual([])
    await draw(page, 'waitlist offer')
    site.api.on('POST /api/waitlist/:reference/accept', () => ({
      json: { checkoutUrl: `${site.url}/card-page`, registrationId: reference },
    }))
    await page.getByRole('button', { name: 'Take the seats, $400.00' }).click()
    await page.getByText('Address line 1 is required.').waitFor()
    await fillAddress(page)
    await page.getByRole('button', { name: 'Take the seats, $400.00' }).click()
    await page.waitForURL('**/card-page')
    expect(changes()).toHaveLength(1)
    expect(changes()[0]?.body).toMatchObject({
      addressLine1: '14 Alder Way',
      zipCode: '02139',
      agreed: { lines: [{ sku: 'class:basic', quantity: 1, unitAmount: 40_000 }], date: '2025-10-06' },
    })
  })

  it('asks once before the seats go to the next family', async () => {
    const page = await site.open()
    await offered(page)
    await page.getByRole('button', { name: 'No, thank you' }).click()
    const question = page.getByRole('dialog', { name: 'Give the seats to the next family?' })
    await draw(page, 'waitlist decline')
    await question.getByRole('button', { name: 'Keep the seats' }).click()
    expect(changes()).toEqual([])
    await page.getByRole('button', { name: 'No, thank you' }).click()
    await question.getByRole('button', { name: 'Give them to the next family' }).click()
    await page.getByText('The seats went to the next family.').waitFor()
    expect(changes().map(({ path }) => path)).toEqual([`/api/waitlist/${reference}/decline`])
  })

  it('says that the offer ended, also before the server does, and when it is accepted too late', async () => {
    const page = await site.open()
    await offered(page, { offerEndsAt: inHours(1) })
    site.api.on('POST /api/waitlist/:reference/accept', () =>
      refusal('offer_ended', 'The offer ended. The seats went to the next family.'),
    )
    await fillAddress(page)
    await page.getByRole('button', { name: /^Take the seats/ }).click()
    await page.getByRole('alert').getByText('The offer ended. The seats went to the next family.').waitFor()
    serve(entry({ status: 'offered', place: null, offerEndsAt: '2025-09-24T19:00:00.000Z' }))
    await page.reload()
    await eventually(() => heading(page).innerText()).toBe('The offer ended on Wednesday.')
    expect(await faultsOf(page, widths)).toEqual([])
    await draw(page, 'waitlist offer ended')
  })

  it.each([
    [{ status: 'closed', closedReason: 'class_cancelled' }, 'This class was canceled, so the line is closed.'],
    [{ status: 'closed', closedReason: 'class_started' }, 'This class has begun, so the line is closed.'],
    [{ status: 'accepted', registrationId: reference }, 'You took the seats.'],
  ] as const)('tells what became of it: %j', async (changed, title) => {
    const page = await site.open()
    serve(entry({ ...changed, place: null }))
    await page.goto(`/waitlist?offer=${reference}`)
    await eventually(() => heading(page).innerText()).toBe(title)
    expect(await page.getByRole('button', { name: /^Take/ }).count()).toBe(0)
  })

  it('knows no place of a reference that the server does not know', async () => {
    const page = await site.open()
    site.api.on('GET /api/waitlist/:reference', () =>
      refusal('waitlist_entry_not_found', 'We can’t find this place in line.'),
    )
    await page.goto('/waitlist?reference=nonsense')
    await page.getByText('We can’t find this place in line.').waitFor()
  })
})
