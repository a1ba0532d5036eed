import { describe, expect, it } from 'vitest'
import { supportEmail } from '../../src/contact/support-email.ts'
import { sampleView } from '../../src/registration/sample-view.ts'
import { eventually, useSite } from '../fixture.ts'
import {
  breakStorage,
  chosenDate,
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
const address = `/robokids/success?reference=${reference}`
const confirmed = sampleView({ status: 'confirmed' }, { status: 'paid', url: null, receiptNumber: 'RK-000123' })
const seatGone = { amount: 40000, currency: 'usd', reason: 'seat_gone' } as const

describe('the confirmation page', () => {
  it.each(['/robokids/success', '/robokids-success'])(
    'says "You\'re Registered" at %s once it is confirmed',
    async (path) => {
      site.api.tell(confirmed)
      const page = await site.open()
      await page.goto(`${path}?reference=${reference}`)
      await eventually(() => heading(page).innerText()).toBe("You're Registered")
      expect(await detailsOf(page)).toEqual({
        Guardian: 'Maren Holt',
        Child: 'Ivo, age 9',
        Email: 'maren.holt@example.com',
        'Shipping address': '14 Alder Way\nSan Mateo, CA 02139',
        'Start date': 'Friday, October 3, 2025, 4:00 PM Pacific',
        'Class type': 'Level 1 Foundations',
      })
      await page.getByText('$400.00 paid, receipt RK-000123.').waitFor()
      const ticket = page.getByRole('region', { name: 'Ivo' })
      expect(await ticket.locator('img').getAttribute('src')).toBe('/drawings/rover.svg')
      // The due step comes first.
      expect(await ticket.locator('a, button').allInnerTexts()).toEqual(['Read and sign the waiver', 'Add to calendar'])
      const next = page.getByRole('region', { name: 'What happens next' })
      expect(await next.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
        'Sign the waiver',
        'The kit arrives',
        'The first class',
      ])
      await next.getByText('We ship it to San Mateo, CA, so that it arrives before Friday, October 3, 2025.').waitFor()
      await next.getByText('The program runs for 6 weeks.').waitFor()
      await page.getByRole('link', { name: 'Read and sign the waiver' }).click()
      await page.waitForURL(`**/robokids/waiver?reference=${reference}`)
    },
  )

  it.each([
    ['Asia/Tokyo', 'Friday, October 3, 2025, 4:00 PM Pacific\nSaturday, October 4, 8:00 AM your time'],
    ['America/Los_Angeles', 'Friday, October 3, 2025, 4:00 PM Pacific'],
    ['America/New_York', 'Friday, October 3, 2025, 7:00 PM your time (4:00 PM Pacific)'],
    ['Europe/London', 'Friday, October 3, 2025, 4:00 PM Pacific\nSaturday, October 4, 12:00 AM your time'],
  ])('shows October 3 as October 3 in %s, with the time there', async (timezoneId, shown) => {
    site.api.tell(confirmed)
    const page = await site.open({ timezoneId })
    await page.goto(address)
    expect((await detailsOf(page))['Start date']).toBe(shown)
  })

  it.each([
    [{ status: 'held' }, { status: 'paid' }],
    [{ status: 'held' }, { status: 'processing' }],
    [{ status: 'held' }, { status: 'open' }],
    [{ status: 'expired' }, { status: 'paid' }],
  ] as const)(
    'says that the payment is being processed while it is %o with a checkout %o',
    async (registration, checkout) => {
      site.api.tell(sampleView(registration, checkout))
      const page = await site.open()
      await page.goto(address)
      await eventually(() => heading(page).innerText()).toBe('Your payment is being processed')
      expect(await page.locator('main').innerText()).not.toMatch(/You're Registered|Payment Successful/)
    },
  )

  it('stays on the page when the calendar entry cannot be loaded, and says where else to find it', async () => {
    site.api.tell(
      sampleView({ status: 'waiver_signed', waiverSignedAt: '2025-09-20T18:00:00.000Z' }, { status: 'paid' }),
    )
    site.api.on('GET /api/registrations/:reference/calendar.ics', () => refusal('upstream_unavailable', 'Not now.'))
    const page = await site.open()
    await page.goto(address)
    await page.getByRole('button', { name: 'Add to calendar' }).click()
    await page.getByRole('alert').getByText('It’s also in your confirmation email.').waitFor()
    expect(await heading(page).innerText()).toBe("You're Registered")
    await page.getByRole('heading', { name: 'The waiver is signed (done)' }).waitFor()
  })

  it.each([
    ['nothing is heard of the payment', '/robokids/success', { status: 'open' }],
    ['the payment is under way', '/robokids/success', { status: 'paid' }],
    ['nobody can be asked', '/robokids/success', null],
    ['the payment is under way', '/robokids-payment', { status: 'paid' }],
    ['nobody can be asked', '/robokids-payment', null],
    ['nobody can be asked', '/success', null],
    ['nobody can be asked', '/shop/success', null],
  ] as const)('says after a minute whom to write to, where %s, at %s', async (_, path, checkout) => {
    if (checkout) site.api.tell(sampleView({}, checkout))
    else {
      for (const kind of ['registrations', 'membership-checkouts', 'orders'])
        site.api.on(`GET /api/${kind}/:reference`, () => refusal('upstream_unavailable', 'Not now.'))
    }
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.clock.install()
    await page.goto(`${path}?reference=${reference}`)
    await page.getByText(/We(’re waiting for| can’t check| haven’t received)/).waitFor()
    await page.clock.runFor(50_000)
    expect(await page.getByText('This is taking longer than usual.').count()).toBe(0)
    await page.clock.runFor(15_000)
    const help = page.getByRole('status').filter({ hasText: 'This is taking longer than usual.' })
    await help.getByText('Please don’t pay again.').waitFor()
    await help.getByText(reference, { exact: true }).waitFor()
    const address = `mailto:${supportEmail}?subject=${encodeURIComponent(`My payment ${reference}`)}`
    expect(await help.getByRole('link').getAttribute('href')).toBe(address)
    expect(await sidewaysScroll(page)).toBe(0)
  })

  it('updates by the event stream as soon as the payment is known', async () => {
    site.api.tell(sampleView({}, { status: 'paid' }))
    const page = await site.open()
    await page.goto(address)
    await eventually(() => heading(page).innerText()).toBe('Your payment is being processed')
    await eventually(() => site.api.callsOf('GET', /events$/).length).toBe(1)
    const asked = site.api.callsOf('GET', new RegExp(`${reference}$`)).length
    site.api.tell(confirmed)
    await eventually(() => heading(page).innerText()).toBe("You're Registered")
    expect(site.api.callsOf('GET', new RegExp(`${reference}$`)).length).toBe(asked)
  })

  it('polls the payment faster right after the parent has returned', async () => {
    site.api.tell(sampleView({}, { status: 'open' }))
    const page = await site.open()
    await page.clock.install()
    await page.goto(address)
    await eventually(() => heading(page).innerText()).toBe('Your payment is being processed')
    const queries = () => site.api.callsOf('GET', new RegExp(`${reference}$`)).map(({ query }) => query)
    expect(queries().at(0)).toBe('?returned=true')
    await page.clock.runFor(60_000)
    await eventually(() => queries().at(-1)).toBe('')
  })

  it('does not update while its tab is hidden, and does as soon as it is visible', async () => {
    site.api.tell(sampleView({}, { status: 'paid' }))
    const page = await site.open()
    await page.goto(address)
    await eventually(() => site.api.watchersOf(reference)).toBe(1)
    const show = (state: DocumentVisibilityState) =>
      page.evaluate((visibility) => {
        Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      }, state)
    await show('hidden')
    await eventually(() => site.api.watchersOf(reference)).toBe(0)
    site.api.tell(confirmed)
    await show('visible')
    await eventually(() => heading(page).innerText()).toBe("You're Registered")
  })

  it.each([
    ['answers HTML twice', (nth: number) => nth <= 2],
    ['always answers HTML', () => true],
  ])('asks by itself within 10 seconds when the event stream %s', async (_, fails) => {
    site.api.on('GET /api/registrations/:reference/events', (_call, nth) =>
      fails(nth) ? { status: 502, html: '<h1>Bad gateway</h1>' } : { status: 200, html: '' },
    )
    site.api.tell(sampleView({}, { status: 'paid' }))
    const page = await site.open()
    await page.goto(address)
    await eventually(() => heading(page).innerText()).toBe('Your payment is being processed')
    site.api.tell(confirmed)
    await expect.poll(() => heading(page).innerText(), { timeout: 10_000, interval: 200 }).toBe("You're Registered")
  })

  it('says processing, not success and not failure, while the server is unreachable', async () => {
    site.api.on('GET /api/registrations/:reference', () =>
      refusal('upstream_unavailable', 'Please try again in a moment.'),
    )
    site.api.on('GET /api/registrations/:reference/events', () =>
      refusal('upstream_unavailable', 'Please try again in a moment.'),
    )
    const page = await site.open()
    await page.goto(address)
    await eventually(() => heading(page).innerText()).toBe('Your payment is being processed')
    site.api.on('GET /api/registrations/:reference', () => ({ json: confirmed }))
    await eventually(() => heading(page).innerText()).toBe("You're Registered")
  })

  it.each([
    ['succeeded', '$400.00 was refunded to your card.'],
    ['pending', '$400.00 is being refunded to your card.'],
  ] as const)('says that the seat is gone and the money back: refund %s', async (status, text) => {
    site.api.tell(
      sampleView(
        { status: 'rejected', rejectionReason: 'class_full' },
        { status: 'paid', refunds: [{ ...seatGone, status }] },
      ),
    )
    const page = await site.open()
    await watchTexts(page)
    await page.goto(address)
    await page.getByText(text).waitFor()
    expect(await heading(page).innerText()).toBe('We couldn’t give you a seat')
    await page.getByText('The last seat went to another family before your payment arrived.').waitFor()
    expect(await textsSeen(page)).not.toContain("You're Registered")
  })

  it('says why a card was declined, and leads to the payment', async () => {
    site.api.tell(sampleView({}, { lastDecline: 'Your card has insufficient funds.' }))
    const page = await site.open()
    await page.goto(address)
    await page.getByText('Your card has insufficient funds.').waitFor()
    expect(await heading(page).innerText()).toBe('Your payment did not go through')
    await page.getByRole('link', { name: 'Go to payment' }).click()
    await page.waitForURL(`**/robokids-payment?reference=${reference}`)
  })

  it('says that an expired registration was not charged, and leads to the form with its data', async () => {
    site.api.tell(sampleView({ status: 'expired' }, { status: 'expired', url: null }))
    const page = await site.open()
    await breakStorage(page, 'blocked')
    await page.goto(address)
    await page.getByText('You weren’t charged.').waitFor()
    await page.getByRole('button', { name: 'Start again with my details' }).click()
    await firstOpenDate(page)
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    expect(await chosenDate(page)).toBe('2025-10-03')
  })

  it('says what was refunded of a cancelled registration', async () => {
    site.api.tell(
      sampleView(
        { status: 'cancelled' },
        { status: 'paid', refunds: [{ ...seatGone, reason: 'requested', status: 'succeeded' }] },
      ),
    )
    const page = await site.open()
    await page.goto(address)
    await page.getByText('$400.00 was refunded to your card.').waitFor()
    expect(await heading(page).innerText()).toBe('This registration was canceled')
  })

  it('shows query parameters as they were typed, and saves them with a fresh time', async () => {
    const page = await site.open()
    const query =
      'guardianName=Maren%20Holt&childName=true&email=maren.holt%2Bx%40example.com&startDate=2027-01-08&classType=basic&addressLine1=1e5&city=null&state=CA'
    await page.goto(`/robokids/success?${query}&zipCode=02139`)
    // Whatever the link says, it is unverified.
    expect(await heading(page).innerText()).toBe("You're Registered")
    await page.getByText('We haven’t checked these details.').waitFor()
    expect(await detailsOf(page)).toEqual({
      Guardian: 'Maren Holt',
      Child: 'true',
      Email: 'maren.holt+x@example.com',
      'Shipping address': '1e5\nnull, CA 02139',
      'Start date': 'Friday, January 8, 2027',
      'Class type': 'Level 1 Foundations',
    })
    expect(page.url()).not.toContain('%22')
    const record = JSON.parse((await page.evaluate(() => sessionStorage.getItem('roboKidsWaiverSession'))) ?? '')
    expect(record).toMatchObject({ childName: 'true', addressLine1: '1e5', city: 'null', zipCode: '02139' })
    expect(Math.abs(Date.now() - Date.parse(record.timestamp))).toBeLessThan(60_000)

    const other = await site.open()
    await other.goto(`/robokids/success?${query}&zipCode=94401&childName=Noa`)
    expect(await detailsOf(other)).toMatchObject({ Child: 'true', 'Shipping address': '1e5\nnull, CA 94401' })
  })

  it('prefers the record of the tab, then of the browser, to the URL', async () => {
    const page = await site.open()
    await page.goto('/')
    await page.evaluate(() =>
      localStorage.setItem('roboKidsRegistration', JSON.stringify({ guardianName: 'Local', email: 'l@example.com' })),
    )
    await page.goto('/robokids/success?guardianName=Query&email=q%40example.com')
    expect(await detailsOf(page)).toMatchObject({ Guardian: 'Local' })
    await page.evaluate(() =>
      sessionStorage.setItem(
        'roboKidsWaiverSession',
        JSON.stringify({ guardianName: 'Session', email: 's@example.com' }),
      ),
    )
    await page.reload()
    expect(await detailsOf(page)).toMatchObject({ Guardian: 'Session' })
  })

  it.each(['localStorage', 'sessionStorage'] as const)(
    'saves a record without a reference that %s holds, with a fresh time, and leads on with it',
    async (storage) => {
      const known = {
        guardianName: 'Maren Holt',
        email: 'maren.holt@example.com',
        childName: 'Ivo',
        childAge: 9,
        address: { line1: '14 Alder Way', line2: '', city: 'San Mateo', state: 'CA', zip: '02139' },
        selectedDate: '2027-01-08',
        classType: 'basic',
        timestamp: '2025-09-20T17:00:00.000Z',
      }
      const page = await site.open()
      await page.goto('/')
      await page.evaluate(
        ([name, text]) =>
          window[name].setItem(name === 'localStorage' ? 'roboKidsRegistration' : 'roboKidsWaiverSession', text),
        [storage, JSON.stringify(known)] as const,
      )
      await page.goto('/robokids/success')
      expect(await heading(page).innerText()).toBe("You're Registered")
      await page.getByText('use the link in the email we sent you').waitFor()
      const record = JSON.parse((await page.evaluate(() => sessionStorage.getItem('roboKidsWaiverSession'))) ?? '')
      expect(record).toMatchObject({ email: known.email, startDate: '2027-01-08', zipCode: '02139' })
      expect(Math.abs(Date.now() - Date.parse(record.timestamp))).toBeLessThan(60_000)

      await page.getByRole('link', { name: 'Read and sign the waiver' }).click()
      await page.getByText('please use the link in the email').waitFor()
      await page.getByLabel('I have read the waiver and agree to it.').waitFor()

      await page.goto('/robokids-payment')
      expect(await detailsOf(page)).toMatchObject({ Child: 'Ivo, age 9', Email: known.email })
      await page.getByText('If you’ve paid, use the link in the email we sent you').waitFor()
      await page.getByText('$400.00').waitFor()
      await page.getByRole('button', { name: 'Continue to register and pay' }).click()
      await firstOpenDate(page)
      expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    },
  )

  it('names what is missing in brackets', async () => {
    const page = await site.open()
    await page.goto('/robokids/success?email=maren.holt%40example.com')
    expect(await detailsOf(page)).toEqual({
      Guardian: '[Missing Guardian Name]',
      Child: '[Missing Child Name]',
      Email: 'maren.holt@example.com',
      'Shipping address': '[Missing Address]',
      'Start date': '[Missing Start Date]',
      'Class type': '[Missing Class Type]',
    })
    await page.evaluate(() =>
      sessionStorage.setItem('roboKidsWaiverSession', JSON.stringify({ guardianName: 'Maren Holt' })),
    )
    await page.goto('/robokids/success')
    expect(await detailsOf(page)).toMatchObject({ Guardian: 'Maren Holt', Email: '[Missing Email]' })
  })

  it.each(['', '?guardianName=Maren', '?reference=019a0000-0000-7000-8000-00000000dead'])(
    'says that there is no data at %j, and leads to the form',
    async (query) => {
      const page = await site.open()
      await page.goto(`/robokids/success${query}`)
      await page.getByText('No user data found. Please register again.').waitFor()
      await page.getByRole('link', { name: 'Go to registration' }).click()
      await page.waitForURL('**/robokids')
    },
  )

  it('shows nothing but a loading state until the registration is known', async () => {
    const loading = held(() => ({ json: confirmed }))
    site.api.on('GET /api/registrations/:reference', loading.handler)
    const page = await site.open()
    await watchTexts(page)
    await page.goto(address)
    await page.getByText('Loading your registration...').waitFor()
    loading.release()
    await page.getByRole('heading', { name: "You're Registered" }).waitFor()
    expect(await textsSeen(page)).not.toMatch(/No user data found|not found|\[Missing/)
  })

  it.each(['blocked', 'full'] as const)('is loaded by its reference when storage is %s', async (how) => {
    site.api.tell(confirmed)
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await breakStorage(page, how)
    await page.goto(address)
    await page.getByRole('heading', { name: "You're Registered" }).waitFor()
    expect(await sidewaysScroll(page)).toBe(0)
  })
})
