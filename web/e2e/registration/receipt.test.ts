import { readFile } from 'node:fs/promises'
import { receiptDetails } from '@robokids/contracts/receipt'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { useSite } from '../fixture.ts'
import { detailsOf, heading, sidewaysScroll, textsSeen, watchTexts } from '../pages.ts'
import { refusal } from '../stub-api.ts'
import { waiverPdf } from '../waiver-pdf.ts'

const site = useSite()
const reference = sampleView().registrationId
const signed = sampleView(
  { status: 'waiver_signed', waiverSignedAt: '2025-09-20T18:00:00.000Z' },
  { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z' },
)
const receipt = {
  guardianName: 'Maren Holt',
  email: 'maren.holt@example.com',
  childName: 'Ivo',
  childAge: '9',
  address1: '14 Alder Way',
  address2: 'Unit 2',
  city: 'Cambridge',
  state: 'MA',
  zip: '02139',
  startDate: '2025-10-03',
  timestamp: '2025-09-20T17:00:00.000Z',
}

async function openReceipt(stored: object, path = '/robokids/receipt') {
  const page = await site.open({ timezoneId: 'America/Los_Angeles' })
  await page.addInitScript(() => {
    Object.assign(window, { prints: 0 })
    window.print = () => {
      ;(window as unknown as { prints: number }).prints += 1
    }
  })
  await page.goto('/')
  await page.evaluate((text) => sessionStorage.setItem('roboKidsReceipt', text), JSON.stringify(stored))
  await page.goto(path)
  return page
}

const closeDialog = (page: Page) => page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
const prints = (page: Page) => page.evaluate(() => (window as unknown as { prints: number }).prints)

describe('the receipt page', () => {
  it('shows the saved data, and prints nothing else', async () => {
    const page = await openReceipt(receipt)
    expect(await detailsOf(page)).toEqual({
      Guardian: 'Maren Holt',
      Child: 'Ivo, age 9',
      Email: 'maren.holt@example.com',
      'Shipping address': '14 Alder Way\nUnit 2\nCambridge, MA 02139',
      'Start date': 'Friday, October 3, 2025',
      Date: 'September 20, 2025 at 10:00 AM Pacific',
    })
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('body').innerText()).not.toMatch(/Privacy Policy|cookies|Log in/)
    expect(await page.locator('main dl').isVisible()).toBe(true)
  })

  it('adds amount and receipt number when the server knows them', async () => {
    site.api.tell(signed)
    const page = await openReceipt({ ...receipt, registrationId: reference })
    await page.getByText('RK-000123').waitFor()
    expect(await detailsOf(page)).toMatchObject({
      'Amount paid': '$400.00',
      'Receipt number': 'RK-000123',
      Date: 'September 20, 2025 at 10:05 AM Pacific',
      'Waiver signed': 'September 20, 2025 at 11:00 AM Pacific',
    })
  })

  it('says why two children cost what one does, and that the payment is disputed', async () => {
    site.api.tell({
      ...signed,
      children: [...signed.children, { childName: 'Noa', childAge: 7 }],
      checkout: signed.checkout && {
        ...signed.checkout,
        disputes: [{ amount: 40000, currency: 'usd', status: 'needs_response' }],
      },
    })
    const page = await openReceipt({ ...receipt, registrationId: reference })
    await page.getByText('RK-000123').waitFor()
    expect(await detailsOf(page)).toMatchObject({
      'Amount paid': '$400.00',
      Seats: '1 × $400.00, a sibling joins free',
      Disputed: '$400.00, your bank is reviewing it',
    })
    await page.goto(`/robokids/success?reference=${reference}`)
    await page.getByText('$400.00 of your payment is disputed with your bank: your bank is reviewing it.').waitFor()
  })

  it('does not deduct a refunded second payment, nor a failed refund, from the amount', async () => {
    const refund = { amount: 40000, currency: 'usd' } as const
    site.api.tell({
      ...signed,
      checkout: signed.checkout && {
        ...signed.checkout,
        refunds: [
          { ...refund, reason: 'duplicate', status: 'succeeded' },
          { ...refund, reason: 'requested', status: 'failed' },
          { ...refund, amount: 5000, reason: 'requested', status: 'pending' },
        ],
      },
    })
    const page = await openReceipt({ ...receipt, registrationId: reference })
    await page.getByText('RK-000123').waitFor()
    const details = await detailsOf(page)
    expect(details).toMatchObject({
      'Amount paid': '$400.00',
      'Refund on its way': '$50.00',
      'Extra payment, refunded': '$400.00',
    })
    expect(Object.keys(details)).not.toContain('Refunded')
  })

  it('downloads the PDF of a paid registration, keeps its data, and says so when there is no PDF', async () => {
    site.api.tell(signed)
    let known = false
    const address = 'GET /api/registrations/:reference/receipt.pdf'
    const unknown = refusal('not_found', 'There is nothing at this address.')
    site.api.on(address, () =>
      known ? { pdf: { bytes: waiverPdf, name: 'robo-kids-receipt-RK-000123.pdf' } } : unknown,
    )
    const page = await openReceipt({ ...receipt, registrationId: reference })
    // An in-app browser.
    await page.evaluate(() => Reflect.deleteProperty(window, 'print'))
    const pdf = page.getByRole('button', { name: 'Download PDF' })
    await page.getByRole('button', { name: 'Download & Close' }).click()
    await page.getByRole('alert').getByText('Press “Download PDF” instead.').waitFor()
    // An older server has no such file.
    await pdf.click()
    await page.getByText('We can’t make the PDF right now. Please try again in a moment.').waitFor()
    known = true
    const downloading = page.waitForEvent('download')
    await pdf.click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('robo-kids-receipt-RK-000123.pdf')
    expect((await readFile(await download.path())).equals(waiverPdf)).toBe(true)
    expect(await page.getByText('We can’t make').count()).toBe(0)
    expect(await page.evaluate(() => sessionStorage.getItem('roboKidsReceipt'))).toContain('Maren Holt')
    // An unknown or unpaid registration has no file.
    site.api.tell({ ...signed, status: 'held', checkout: signed.checkout && { ...signed.checkout, paidAt: null } })
    await page.reload()
    await page.getByText('Not received yet').waitFor()
    expect(await pdf.count()).toBe(0)
  })

  it('shows the status from the server, whatever the browser has stored', async () => {
    const told = { ...signed, guardianName: 'Ada Lind', address: { ...signed.address, city: 'Oakland' } }
    site.api.tell(told)
    const page = await openReceipt({ ...receipt, registrationId: reference })
    await page.getByText('RK-000123').waitFor()
    const rows = receiptDetails(told, undefined, (text) => text)
    expect(await detailsOf(page)).toEqual(Object.fromEntries(rows.map(([name, lines]) => [name, lines.join('\n')])))
  })

  it('opens the print dialog, and a second later clears the saved data and goes home', async () => {
    const page = await openReceipt(receipt)
    await page.getByRole('button', { name: 'Download & Close' }).click()
    expect(await prints(page)).toBe(1)
    expect(await heading(page).innerText()).toBe('Receipt')
    await closeDialog(page)
    await page.waitForURL(`${site.url}/`)
    expect(await page.evaluate(() => sessionStorage.getItem('roboKidsReceipt'))).toBeNull()
  })

  it('keeps its data while the print dialog of a phone is open, for which the page does not wait', async () => {
    const page = await openReceipt(receipt)
    await page.clock.install()
    // A print by other means than our button changes nothing.
    await closeDialog(page)
    await page.getByRole('button', { name: 'Download & Close' }).click()
    expect(await prints(page)).toBe(1)
    await page.clock.runFor(60_000)
    expect(await heading(page).innerText()).toBe('Receipt')
    expect(await detailsOf(page)).toMatchObject({ Guardian: 'Maren Holt' })
    // If the dialog never opened, as in an in-app browser, it can be tried again.
    await page.getByRole('button', { name: 'Download & Close' }).click()
    expect(await prints(page)).toBe(2)
    await closeDialog(page)
    await page.clock.runFor(900)
    expect(await page.evaluate(() => sessionStorage.getItem('roboKidsReceipt'))).not.toBeNull()
    await page.clock.runFor(200)
    await page.waitForURL(`${site.url}/`)
    expect(await page.evaluate(() => sessionStorage.getItem('roboKidsReceipt'))).toBeNull()
  })

  it.each([{}, { ...receipt, guardianName: '' }])(
    'goes silently to the form without a saved guardian name: %o',
    async (stored) => {
      const page = await openReceipt(stored)
      await page.waitForURL('**/robokids')
      expect(await page.getByRole('alertdialog').count()).toBe(0)
    },
  )

  it('is loaded by its reference when nothing is saved', async () => {
    site.api.on('GET /api/registrations/:reference', () => ({ delayMs: 800, json: signed }))
    const page = await site.open({ viewport: { width: 390, height: 800 } })
    await watchTexts(page)
    await page.goto(`/robokids/receipt?reference=${reference}`)
    await page.getByText('RK-000123').waitFor()
    expect(await sidewaysScroll(page)).toBe(0)
    expect(await textsSeen(page)).not.toMatch(/Guardian name|not found|No user data/)
  })

  it('prints the receipt without the rest of the page', async () => {
    const page = await openReceipt(receipt)
    await page.getByText('Maren Holt').waitFor()
    await page.emulateMedia({ media: 'print' })
    const visible = await page.locator('body').innerText()
    expect(visible).toContain('Maren Holt')
    expect(visible).not.toMatch(/Download & Close|Sign waiver|Privacy|Home/)
  })
})
