import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { eventually, useSite } from '../fixture.ts'
import { alertBox, breakStorage, closeAlert, heading, sidewaysScroll, textsSeen, watchTexts } from '../pages.ts'
import { held, refusal } from '../stub-api.ts'
import { sampleWaiver } from '../waiver-pdf.ts'

const site = useSite()
const reference = sampleView().registrationId
const confirmed = sampleView({ status: 'confirmed' }, { status: 'paid', url: null })
const record = {
  registrationId: reference,
  guardianName: 'Maren Holt',
  email: 'maren.holt@example.com',
  childName: 'Ivo',
  childAge: 9,
  addressLine1: '14 Alder Way',
  addressLine2: '',
  city: 'Cambridge',
  state: 'MA',
  zipCode: '02139',
  startDate: '2025-10-03',
  classType: 'basic',
  timestamp: '2025-09-20T17:00:00.000Z',
}

const agree = (page: Page) => page.getByLabel('I have read the waiver and agree to it.')
const submit = (page: Page) => page.getByRole('button', { name: /^(I Agree & Complete Registration|Sending\.\.\.)$/ })
const waivers = () => site.api.callsOf('POST', /^\/api\/waivers$/)
const saved = (page: Page) =>
  page.evaluate(() => [sessionStorage.getItem('roboKidsWaiverSession'), localStorage.getItem('roboKidsRegistration')])

/** Opens a waiver page in a tab whose session storage contains this text. */
async function openWaiver(stored: string, path = '/robokids/waiver') {
  const page = await site.open()
  await page.goto('/')
  await page.evaluate((text) => {
    sessionStorage.setItem('roboKidsWaiverSession', text)
    localStorage.setItem('roboKidsRegistration', text)
  }, stored)
  await page.goto(path)
  return page
}

describe('the waiver page', () => {
  it.each(['/robokids/waiver', '/waiver'])('shows the document and takes the signature at %s', async (path) => {
    const signing = held(() => ({
      json: { waiverId: reference, registrationId: reference, signedAt: '2025-09-20T18:00:00.000Z' },
    }))
    site.api.on('POST /api/waivers', signing.handler)
    const page = await openWaiver(JSON.stringify(record), path)
    // The text is part of the page; the PDF is only loaded on demand.
    const paper = page.getByRole('article', { name: 'Participation waiver' })
    await paper.waitFor()
    expect(await paper.getByRole('heading').allInnerTexts()).toEqual(['Participation waiver', '1. The risks'])
    expect(await paper.getByRole('listitem').allInnerTexts()).toEqual(sampleWaiver.blocks[5]?.lines)
    expect(await page.locator('object').count()).toBe(0)
    await page.getByText('Show the PDF on this page').click()
    expect(await page.locator('object').getAttribute('data')).toMatch(/^\/waiver\.pdf/)
    expect(await page.getByRole('link', { name: 'Download the waiver (PDF)' }).getAttribute('href')).toBe('/waiver.pdf')
    expect(await submit(page).isDisabled()).toBe(true)
    await agree(page).check()
    await submit(page).click()
    await eventually(() => submit(page).innerText()).toBe('Sending...')
    expect(await submit(page).isDisabled()).toBe(true)
    signing.release()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    await page.getByText('A confirmation email will arrive shortly').waitFor()
    // The short page that replaces the long one is shown, and announced, from its top.
    expect(await page.evaluate(() => [window.scrollY, document.activeElement?.tagName])).toEqual([0, 'H1'])
    const { siblings: _, ...sent } = { siblings: [], ...record }
    expect(waivers().map(({ body }) => body)).toEqual([{ ...sent, documentSha256: sampleWaiver.sha256 }])
    expect(await saved(page)).toEqual([null, null])
    await page.getByRole('link', { name: 'Back to the homepage' }).click()
    await page.waitForURL(`${site.url}/`)
  })

  it('reads the variant with selectedDate and a nested address', async () => {
    const { startDate, addressLine1, addressLine2, city, state, zipCode, childAge: _, timestamp: __, ...rest } = record
    const address = { line1: addressLine1, line2: addressLine2, city, state, zip: zipCode }
    const page = await openWaiver(JSON.stringify({ ...rest, selectedDate: startDate, address }))
    await agree(page).check()
    await submit(page).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    expect(waivers()[0]?.body).toMatchObject({
      startDate,
      addressLine1,
      zipCode,
      childAge: '',
      timestamp: expect.any(Number),
    })
  })

  it.each([
    ['the registration is missing', '', 'Registration info missing. Please return to the form.'],
    ['the registration cannot be read', '{"guardianName":', 'There was a problem loading your registration.'],
    ['the registration is no record', '[1]', 'There was a problem loading your registration.'],
  ])('alerts and goes to the form when %s', async (_, stored, message) => {
    const page = await openWaiver(stored)
    expect(await closeAlert(page)).toBe(message)
    await page.waitForURL('**/robokids')
  })

  it.each(['email', 'guardianName', 'classType'])('alerts when %s is missing', async (name) => {
    const page = await openWaiver(JSON.stringify({ ...record, [name]: '' }))
    await agree(page).check()
    await submit(page).click()
    expect(await closeAlert(page)).toBe('Missing required info. Please return to the form.')
    expect(waivers()).toHaveLength(0)
    await page.getByRole('link', { name: 'Return to the form' }).click()
    await page.waitForURL('**/robokids')
  })

  it('can be sent again after a lost response', async () => {
    let up = false
    site.api.on('POST /api/waivers', () =>
      up
        ? { json: { waiverId: reference, registrationId: reference, signedAt: '2025-09-20T18:00:00.000Z' } }
        : { lost: true },
    )
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    expect(await closeAlert(page)).toBe('There was a problem submitting the waiver. Please try again.')
    expect(await saved(page)).not.toContain(null)
    up = true
    await submit(page).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    const bodies = waivers().map(({ body }) => JSON.stringify(body))
    expect(new Set(bodies).size).toBe(1)
    expect(await saved(page)).toEqual([null, null])
  })

  it("shows the server's message when the registration is not paid", async () => {
    site.api.on('POST /api/waivers', () => refusal('registration_not_paid', 'This registration is not paid yet.'))
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    expect(await closeAlert(page)).toBe('There was a problem submitting the waiver. Please try again.')
    await page.getByText('This registration is not paid yet.').waitFor()
    expect(await saved(page)).not.toContain(null)
  })

  it('falls back to "Server error" when the server sends no message', async () => {
    site.api.on('POST /api/waivers', () => ({ status: 500, json: {} }))
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    await closeAlert(page)
    await page.getByText('Server error').waitFor()
  })

  it('shows a waiver that was signed before as done', async () => {
    site.api.on('POST /api/waivers', () => refusal('waiver_already_signed', 'This waiver is already signed.'))
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    await page.getByRole('heading', { name: 'This waiver is already signed' }).waitFor()
    expect(await saved(page)).toEqual([null, null])
  })

  it('asks to read again when the document has changed meanwhile', async () => {
    site.api.on('POST /api/waivers', () =>
      refusal('waiver_document_changed', 'The waiver has changed. Please read it again.'),
    )
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    await closeAlert(page)
    await page.getByText('The waiver has changed. Please read it again.').waitFor()
    expect(await agree(page).isChecked()).toBe(false)
    expect(await submit(page).isDisabled()).toBe(true)
  })

  it('signs nothing when the document cannot be loaded', async () => {
    site.api.on('GET /api/waiver-document', () => refusal('upstream_unavailable', 'Please try again in a moment.'))
    const page = await openWaiver(JSON.stringify(record))
    await agree(page).check()
    await submit(page).click()
    expect(await closeAlert(page)).toBe('There was a problem submitting the waiver. Please try again.')
    expect(waivers()).toHaveLength(0)
  })

  it.each(['blocked', 'full'] as const)('is loaded by its reference with storage that is %s', async (how) => {
    site.api.tell(confirmed)
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await breakStorage(page, how)
    await page.goto(`/waiver?reference=${reference}`)
    await agree(page).check()
    expect(await sidewaysScroll(page)).toBe(0)
    await submit(page).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    expect(waivers()[0]?.body).toMatchObject({ registrationId: reference, childAge: 9, zipCode: '02139' })
    await page.getByRole('link', { name: 'See your receipt' }).click()
    await eventually(() => heading(page).innerText()).toBe('Receipt')
  })

  it('shows nothing but a loading state until the registration is known', async () => {
    const loading = held(() => ({ json: confirmed }))
    site.api.on('GET /api/registrations/:reference', loading.handler)
    const page = await site.open()
    await watchTexts(page)
    await page.goto(`/waiver?reference=${reference}`)
    await page.getByText('Loading your registration...').waitFor()
    loading.release()
    await agree(page).waitFor()
    expect(await alertBox(page).count()).toBe(0)
    expect(await textsSeen(page)).not.toMatch(/missing|not found|problem|No user data/)
  })

  it.each([
    ['cancelled', 'This registration was canceled', '$400.00 was refunded to your card.'],
    ['rejected', 'We couldn’t give you a seat', '$400.00 was refunded to your card.'],
    ['expired', 'This registration has expired', 'You weren’t charged.'],
  ] as const)(
    'has nothing to sign for a registration that is %s, and says how it ended',
    async (status, title, text) => {
      const refund = { amount: 40000, currency: 'usd', reason: 'requested', status: 'succeeded' } as const
      const paid = status !== 'expired'
      site.api.tell(
        sampleView({ status }, { status: paid ? 'paid' : 'expired', url: null, refunds: paid ? [refund] : [] }),
      )
      const page = await site.open()
      await page.goto(`/robokids/waiver?reference=${reference}`)
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText(text).waitFor()
      expect(await submit(page).count()).toBe(0)
      expect(await page.getByText('once we receive the payment').count()).toBe(0)
      expect(await page.locator('[aria-current=step]').innerText()).toMatch(/Pay$/)
    },
  )

  it('is shown as done to a parent who returns after signing', async () => {
    site.api.tell(
      sampleView({ status: 'waiver_signed', waiverSignedAt: '2025-09-20T18:00:00.000Z' }, { status: 'paid' }),
    )
    const page = await site.open()
    await page.goto(`/waiver?reference=${reference}`)
    await page.getByRole('heading', { name: 'This waiver is already signed' }).waitFor()
    expect(await submit(page).count()).toBe(0)
  })
})

describe('the waiver of a member', () => {
  const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })

  it('asks a parent who follows the link in the mail who signs for whom, and marks what is missing', async () => {
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.goto(`/waiver?membership=${reference}`)
    await agree(page).check()
    await submit(page).click()
    await page.getByText("Child's first name is required.").waitFor()
    // The signed waiver is mailed to the membership's own address.
    expect(await field(page, 'Email').count()).toBe(0)
    await page.getByText('We email the signed waiver to the address of your membership.').waitFor()
    expect(await field(page, 'Your full name').evaluate((input) => input === document.activeElement)).toBe(true)
    await field(page, 'Your full name').fill('Zoë Holt')
    await field(page, "Child's first name").fill('Ivo')
    await field(page, "Child's age").fill('nine')
    await submit(page).click()
    await page.getByText("Child's age must be a whole number.").waitFor()
    expect(waivers()).toHaveLength(0)
    await field(page, "Child's age").fill('9')
    expect(await sidewaysScroll(page)).toBe(0)
    await submit(page).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    expect(waivers().map(({ body }) => body)).toMatchObject([
      {
        registrationId: reference,
        guardianName: 'Zoë Holt',
        childName: 'Ivo',
        childAge: 9,
        classType: 'membership',
        startDate: '2030-01-04',
      },
    ])
    expect(await page.getByRole('main').innerText()).not.toMatch(/kit|receipt/i)
    await page.getByRole('link', { name: 'Go to your profile' }).waitFor()
  })

  it('that somebody else has signed can be signed again by the account that it belongs to, and by nobody else', async () => {
    const waiverId = '01a21f00-0000-7000-8000-000000000077'
    const seat = {
      membershipId: reference,
      status: 'seated',
      classDate: '2030-01-04',
      startTime: '16:00',
      waiverSignedAt: '2026-11-28T18:00:00.000Z',
    }
    site.api.on('GET /api/member-seats/:reference', () => ({ json: seat }))
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await page.goto(`/waiver?membership=${reference}`)
    await page.getByText('If you didn’t sign it, please log in').waitFor()
    expect(await page.getByRole('button', { name: 'Sign it again' }).count()).toBe(0)

    const signed = { waiverId, guardianName: 'Mallory Fox', childNames: ['Nobody'] }
    site.api.on('GET /api/member-seats/:reference', () => ({ json: { ...seat, signed } }))
    await page.reload()
    await page.getByText('Mallory Fox').waitFor()
    expect(await sidewaysScroll(page)).toBe(0)
    await page.getByRole('button', { name: 'Sign it again' }).click()
    await page.getByRole('heading', { name: 'Sign the waiver again' }).waitFor()
    await field(page, 'Your full name').fill('Zoë Holt')
    await field(page, "Child's first name").fill('Ivo')
    await field(page, "Child's age").fill('9')
    await agree(page).check()
    await submit(page).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    expect(waivers().at(-1)?.body).toMatchObject({
      registrationId: reference,
      replaces: waiverId,
      guardianName: 'Zoë Holt',
    })
  })

  it('asks only for the child when the guardian is known, shows the server’s message, and is signed once', async () => {
    const member = { ...record, childName: '', childAge: '', startDate: '2030-01-04', classType: 'membership' }
    const page = await openWaiver(JSON.stringify(member), '/waiver')
    const message = 'A child must be at least 5 years old.'
    site.api.on('POST /api/waivers', () => refusal('validation_failed', message, [{ path: 'childAge', message }]))
    await field(page, "Child's first name").fill('Ivo')
    await field(page, "Child's age").fill('4')
    expect(await field(page, 'Your full name').count()).toBe(0)
    await agree(page).check()
    await submit(page).click()
    expect(await closeAlert(page)).toBe('There was a problem submitting the waiver. Please try again.')
    await eventually(() => field(page, "Child's age").getAttribute('aria-invalid')).toBe('true')

    const seat = { membershipId: reference, status: 'seated', classDate: '2030-01-04', startTime: '16:00' }
    site.api.on('GET /api/member-seats/:reference', () => ({
      json: { ...seat, waiverSignedAt: '2026-11-28T18:00:00.000Z' },
    }))
    await page.reload()
    await page.getByRole('heading', { name: 'This waiver is already signed' }).waitFor()
    site.api.on('GET /api/member-seats/:reference', () => ({
      json: { ...seat, status: 'released', waiverSignedAt: null },
    }))
    await page.reload()
    await page.getByText('This membership has ended.').waitFor()
    expect(await submit(page).count()).toBe(0)
  })
})
