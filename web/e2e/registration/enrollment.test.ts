import { randomUUIDv7 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { localAdminSecret } from '@robokids/runtime/config'
import { eventually } from '@robokids/test/bed'
import { startSystem, type System } from '@robokids/test/system'
import { readTaggedPdf } from '@robokids/test/tagged-pdf'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, newVisitor } from '../browser.ts'
import { chosenDate, detailsOf, fillSignUp, firstOpenDate, heading, signWaiver, submitButton } from '../pages.ts'

let system: System
let browser: Browser
beforeAll(async () => {
  await buildWeb()
  ;[system, browser] = await Promise.all([startSystem({ bff: { WEB_DIST: join(root, 'web/dist') } }), launchBrowser()])
})
afterAll(async () => {
  await browser.close()
  await system.stop()
})

async function payOnPage(page: Page, card: string): Promise<void> {
  await page.getByLabel('Card number').fill(card)
  await page.getByLabel('Expiry date').fill('12 / 34')
  await page.getByLabel('Security code').fill('123')
  await page.getByLabel('Name on card').fill('Maren Holt')
  await page.getByRole('button', { name: /^Pay \$/ }).click()
}

const mailWith = (address: string, subject: RegExp) =>
  eventually(async () => (await system.mailsTo(address)).find((mail) => subject.test(mail.subject)), 20_000)

const attachment = async (
  mail: { id: string; attachments?: { generatedFileName: string; contentType: string }[] },
  type: string,
) => {
  const name = mail.attachments?.find((one) => one.contentType.startsWith(type))?.generatedFileName
  return (await fetch(`${system.mailbox.url}/email/${mail.id}/attachment/${name}`)).arrayBuffer()
}

describe('a parent', () => {
  it('enrolls a child: landing, sign-up, a declined card, payment, confirmation, waiver, receipt, and both mails', async () => {
    const email = 'maren.holt+ivo@example.com'
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidslanding')
    await page.getByRole('main').getByRole('link', { name: 'Register for Level 1' }).first().click()
    await page.getByLabel('Guardian name').waitFor()
    const { startDate } = await fillSignUp(page, {
      email,
      guardianName: "Una O'Neil",
      children: [{ name: 'Zoë 🤖 M̃aria', age: '9' }],
    })
    await submitButton(page).click()

    await page.getByRole('button', { name: 'Pay $400.00' }).waitFor()
    const payPage = page.url()
    await payOnPage(page, '4000 0000 0000 9995')
    await page.getByText('Your card has insufficient funds.').first().waitFor()
    expect(page.url()).toBe(payPage)
    await payOnPage(page, '4242 4242 4242 4242')

    await page.waitForURL(/\/robokids\/success/)
    await page.getByRole('heading', { level: 1, name: "You're Registered" }).waitFor()
    const details = Object.values(await detailsOf(page)).join('\n')
    for (const text of ["Una O'Neil", 'Zoë 🤖 M̃aria', email, '02139']) expect(details).toContain(text)

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Add to calendar' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('robo-kids-class.ics')
    const added = await readFile(await download.path(), 'utf8')

    // Screen readers read the same text in the PDF as on the page.
    await page.getByRole('link', { name: 'Read and sign the waiver' }).click()
    const paper = page.getByRole('article', { name: /^Participation Agreement/ })
    const words = (await paper.innerText()).replaceAll(/\s+/gu, ' ').trim()
    const file = await readTaggedPdf(new Uint8Array(await (await fetch(`${system.siteUrl}/waiver.pdf`)).arrayBuffer()))
    expect(file).toMatchObject({ language: 'en-US', displaysTitle: true, isMarked: true, untagged: '' })
    expect(file.text.replaceAll('• ', '')).toBe(words)
    await page.goBack()

    await signWaiver(page)
    await page.goto('/robokids/receipt')
    await page.getByText('Receipt number').waitFor()
    const receiving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download PDF' }).click()
    const received = await receiving
    expect(received.suggestedFilename()).toMatch(/^robo-kids-receipt-RK-\d+\.pdf$/)
    const receipt = await readTaggedPdf(new Uint8Array(await readFile(await received.path())))
    expect(receipt).toMatchObject({ language: 'en-US', displaysTitle: true, isMarked: true, untagged: '' })
    const shown = await page.locator('main p, main dt, main dd').filter({ visible: true }).allInnerTexts()
    const wordsOf = (text: string) => text.normalize('NFC').replaceAll(/\s+/gu, ' ').trim()
    // Without the text about the buttons.
    expect(wordsOf(receipt.text)).toBe(wordsOf(shown.slice(0, -1).join(' ')))
    await page.evaluate(() => {
      window.print = () => {
        Object.assign(window, { printed: true })
        window.dispatchEvent(new Event('afterprint'))
      }
    })
    await page.getByRole('button', { name: 'Download & Close' }).click()
    await page.waitForURL(`${system.siteUrl}/`)
    expect(await page.evaluate(() => (window as unknown as { printed?: boolean }).printed)).toBe(true)

    const confirmation = await mailWith(email, /registered/i)
    expect(confirmation.text).toContain('$400.00')
    const calendar = new TextDecoder().decode(await attachment(confirmation, 'text/calendar'))
    expect(calendar).toContain(`${(startDate ?? '').replaceAll('-', '')}T160000`)
    expect(calendar).toContain('TZID:America/Los_Angeles')
    // The same entry: adding it twice shows it once.
    expect(added).toBe(calendar)

    const signed = await mailWith(email, /waiver/i)
    const { text } = await readTaggedPdf(new Uint8Array(await attachment(signed, 'application/pdf')))
    expect(text.slice(0, file.text.length)).toBe(file.text)
    expect(text).toContain("Signed by Una O'Neil")
    expect(text).toContain('For the child Zoë')
    expect(await system.mailsTo(email)).toHaveLength(2)
    expect(errors).toEqual([])
    await context.close()
  })

  it('gets from home to the payment page on a phone with at most 5 taps and 11 fields, and pays for two siblings', async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl, ...phone })
    const page = await context.newPage()
    const done = { presses: 0, fields: 0 }
    const press = async (what: Locator) => {
      await what.tap()
      done.presses += 1
    }
    const type = async (field: Locator, text: string) => {
      await field.fill(text)
      done.fields += 1
    }
    await page.goto('/')
    await press(page.getByRole('main').getByRole('link', { name: 'View Classes' }).first())
    const level = page.getByRole('article').filter({ hasText: 'Level 1 Foundations' })
    await press(level.getByRole('link', { name: /^\w+, \w+ \d+, \d{4}$/ }).first())
    await firstOpenDate(page)
    expect(await chosenDate(page)).toMatch(/^\d{4}-\d\d-\d\d$/)
    await type(page.getByLabel('Guardian name'), 'Ada Lind')
    await type(page.getByLabel('Email', { exact: true }), 'ada.lind@example.com')
    await type(page.getByLabel('Address line 1'), '3 Quay Street')
    await type(page.getByLabel('City'), 'Oakland')
    await type(page.getByLabel('State', { exact: true }), 'CA')
    await type(page.getByLabel('Zip code'), '94607')
    await type(page.getByLabel("Child's first name"), 'Ivo')
    await type(page.getByLabel("Child's age"), '9')
    // For one child, one press is left.
    expect(done).toEqual({ presses: 2, fields: 8 })
    await press(page.getByRole('button', { name: 'Add a sibling' }))
    await type(page.getByLabel("Child's first name").nth(1), 'Noa')
    await type(page.getByLabel("Child's age").nth(1), '7')
    await press(submitButton(page))
    await page.getByRole('button', { name: 'Pay $400.00' }).waitFor()
    expect(done.presses).toBeLessThanOrEqual(5)
    expect(done.fields).toBeLessThanOrEqual(11)

    await payOnPage(page, '4242 4242 4242 4242')
    await page.getByRole('heading', { level: 1, name: "You're Registered" }).waitFor()
    expect(Object.values(await detailsOf(page)).join('\n')).toMatch(/Ivo, age 9\nNoa, age 7/)
    expect(errors).toEqual([])
    await context.close()
  })

  it('pays for one child with a sibling while the promotion is on, and both have a seat', async () => {
    const { context } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidspage2')
    const children = [
      { name: 'Ivo', age: '9' },
      { name: 'Noa', age: '8' },
    ]
    const { startDate } = await fillSignUp(page, { email: 'two@example.com', children })
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Pay $500.00' }).waitFor()
    const session = (await system.openDates('intermediate')).find((one) => one.date === startDate)
    expect(session?.seatsLeft).toBe(8)
    await context.close()
  })

  it('finds the same checkout again after coming back from the card page', async () => {
    const { context } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidspage4')
    await fillSignUp(page, { email: 'back@example.com', children: [{ name: 'Ivo', age: '12' }] })
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Pay $1,000.00' }).waitFor()
    const payPage = page.url()
    await page.goBack()
    await page.waitForURL(/robokidspage4/)
    await submitButton(page).click()
    await page.waitForURL(payPage)
    await context.close()
  })

  it('has one seat and one open checkout after coming back and changing a field', async () => {
    const { context } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidspage3')
    await fillSignUp(page, { email: 'changed@example.com', children: [{ name: 'Ivo', age: '12' }] })
    const startDate = await chosenDate(page)
    const seatsLeft = async () => (await system.openDates('advanced')).find((one) => one.date === startDate)?.seatsLeft
    const before = await seatsLeft()
    const pay = page.getByRole('button', { name: 'Pay $750.00' })
    await submitButton(page).click()
    await pay.waitFor()
    const first = page.url()
    await page.goBack()
    await page.waitForURL(/robokidspage3/)
    await page.getByLabel('City').fill('Fresno')
    await submitButton(page).click()
    await pay.waitFor()
    expect(page.url()).not.toBe(first)
    expect(await seatsLeft()).toBe((before ?? 0) - 1)
    const sessionId = new URL(first).pathname.split('/').at(-1) ?? ''
    await eventually(async () => {
      const [attempt] = await system.sql('billing')`
        select status from checkout_attempts where stripe_session_id = ${sessionId}`
      return attempt?.['status'] === 'expired'
    })
    expect((await system.pay(first)).status).toBe('expired')
    await context.close()
  })

  it('sees that a payment is being processed while the services are down, and its result once they are up', async () => {
    const { context } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidspage3')
    await fillSignUp(page, { email: 'patient@example.com', children: [{ name: 'Ivo', age: '12' }] })
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Pay $750.00' }).waitFor()
    await system.nats.kill()
    await payOnPage(page, '4242 4242 4242 4242')
    await page.waitForURL(/\/robokids\/success/)
    await heading(page).waitFor()
    expect(await heading(page).innerText()).not.toContain("You're Registered")
    await system.nats.restart()
    await page.getByRole('heading', { level: 1, name: "You're Registered" }).waitFor()
    await context.close()
  })
})

describe('a class date', () => {
  it.each(['Asia/Tokyo', 'America/Los_Angeles', 'Europe/London'])(
    'is the same day in a browser set to %s',
    async (timezoneId) => {
      const { registrationId, checkoutUrl } = await system.register({
        classType: 'basic',
        email: `${timezoneId.slice(0, 4)}@example.com`,
      })
      await system.pay(checkoutUrl)
      const { startDate } = await system.reaches(registrationId, 'confirmed')
      const day = Temporal.PlainDate.from(startDate).toLocaleString('en-US', { dateStyle: 'full' })
      const { context } = await newVisitor(browser, { baseURL: system.siteUrl, timezoneId })
      const page = await context.newPage()
      await page.goto(`/robokids/success?reference=${registrationId}`)
      await page.getByRole('heading', { level: 1, name: "You're Registered" }).waitFor()
      expect(Object.values(await detailsOf(page)).join('\n')).toContain(day)
      await page.evaluate(() => sessionStorage.clear())
      await page.goto(
        '/robokids-success?guardianName=M&childName=I&email=m@example.com&startDate=2025-10-03&classType=basic',
      )
      await page.getByText('October 3, 2025').waitFor()
      await context.close()
    },
  )

  it('waits for a full class with two children, is offered the seats that a refund frees, takes them and pays', async () => {
    const email = 'bo.lind@example.com'
    const [open] = await system.openDates('custom')
    const startDate = open?.date ?? ''
    const siblings = [{ childName: 'Other', childAge: 12 }]
    const other = await system.register({ classType: 'custom', startDate, siblings })
    await system.pay(other.checkoutUrl)
    await system.reaches(other.registrationId, 'confirmed')
    await system.sql('enrollment')`
      update class_sessions set capacity = held + sold where class_type = 'custom' and date = ${startDate}`

    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/robokidspage4')
    await page
      .getByRole('link', { name: /^Join the waitlist for/ })
      .first()
      .click()
    // The form that is about to go has fields of the same names.
    await page.getByRole('heading', { level: 1, name: 'Join the waitlist' }).waitFor()
    await page.getByLabel('Guardian name').fill('Bo Lind')
    await page.getByLabel('Email', { exact: true }).fill(email)
    await page.getByRole('button', { name: 'Add a sibling' }).click()
    for (const [index, name] of ['Una', 'Per'].entries()) {
      await page.getByLabel("Child's first name").nth(index).fill(name)
      await page.getByLabel("Child's age").nth(index).fill('12')
    }
    await page.getByRole('button', { name: 'Join with 2 children' }).click()
    await page.getByRole('heading', { level: 1, name: 'You are 1st of 1 family.' }).waitFor()
    await mailWith(email, /in line/)

    const refunded = await fetch(`${system.processes.billing.url}/refunds`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-secret': localAdminSecret },
      body: JSON.stringify({ registrationId: other.registrationId, refundId: randomUUIDv7() }),
    })
    expect(refunded.status).toBe(200)
    const offer = await mailWith(email, /2 seats are yours/)
    expect(await system.openDates('custom')).toContainEqual(expect.objectContaining({ date: startDate, seatsLeft: 0 }))
    await page.goto(/http\S+\/waitlist\?offer=[-0-9a-f]+/.exec(offer.text)?.[0] ?? '')
    await page.getByLabel('Address line 1').fill('14 Alder Way')
    await page.getByLabel('City').fill('Cambridge')
    await page.getByLabel('State', { exact: true }).fill('MA')
    await page.getByLabel('Zip code').fill('02139')
    await page.getByRole('button', { name: /^Take the seats, \$/ }).click()
    await payOnPage(page, '4242 4242 4242 4242')
    await page.waitForURL(/\/robokids\/success/)
    await page.getByRole('heading', { level: 1, name: "You're Registered" }).waitFor()
    const confirmation = await mailWith(email, /You're registered/)
    expect(confirmation.text).toContain('Una')
    await page.goto(/http\S+\/waitlist\?offer=[-0-9a-f]+/.exec(offer.text)?.[0] ?? '')
    await page.getByRole('heading', { level: 1, name: 'You took the seats.' }).waitFor()
    expect(errors).toEqual([])
    await context.close()
  })
})
