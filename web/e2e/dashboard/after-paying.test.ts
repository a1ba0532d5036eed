import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { localAdminSecret } from '@robokids/runtime/config'
import { eventually } from '@robokids/test/bed'
import { startSystem, type System } from '@robokids/test/system'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillRegistration, proceedButton } from '../accounts.ts'
import { launchBrowser, newVisitor } from '../browser.ts'
import { faultsOf, fillSignUp, signWaiver, submitButton } from '../pages.ts'

let system: System
let browser: Browser
beforeAll(async () => {
  await buildWeb()
  const settings = { identity: {}, bff: { WEB_DIST: join(root, 'web/dist') } }
  ;[system, browser] = await Promise.all([startSystem(settings), launchBrowser()])
})
afterAll(async () => {
  await browser.close()
  await system.stop()
})

const widths = [390, 1280]
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

async function pay(page: Page, button: RegExp): Promise<void> {
  await page.getByRole('button', { name: button }).waitFor()
  await page.getByLabel('Card number').fill('4242 4242 4242 4242')
  await page.getByLabel('Expiry date').fill('12 / 34')
  await page.getByLabel('Security code').fill('123')
  await page.getByLabel('Name on card').fill('Maren Holt')
  await page.getByRole('button', { name: button }).click()
}

const mailTo = (address: string, subject: RegExp) =>
  eventually(async () => {
    const mails = await system.mailsTo(address)
    const mail = mails.find((one) => subject.test(one.subject))
    if (!mail) throw new Error(`no mail like ${String(subject)}: ${mails.map((one) => one.subject).join('; ')}`)
    return mail
  })

/** The calendar that is attached to a mail. */
async function calendarOf(mail: Awaited<ReturnType<typeof mailTo>>): Promise<string> {
  const name = mail.attachments?.find(({ contentType }) => contentType.startsWith('text/calendar'))?.generatedFileName
  const answer = await fetch(`${system.mailbox.url}/email/${mail.id}/attachment/${name}`)
  return (await answer.text()).replaceAll('\r\n ', '')
}

/** Registers without an account, pays and signs. @returns the date of the class */
async function enroll(page: Page, email: string, children: { name: string; age: string }[]): Promise<string> {
  await page.goto('/robokidspage1')
  const { startDate = '' } = await fillSignUp(page, { email, children })
  await submitButton(page).click()
  await pay(page, /^Pay \$/)
  await page.waitForURL(/\/robokids\/success/)
  await signWaiver(page)
  return startDate
}

/** Becomes a member, which makes an account. */
async function becomeMember(page: Page, email: string): Promise<void> {
  await page.goto('/membership/register')
  await fillRegistration(page, { email })
  await proceedButton(page).click()
  await pay(page, /Subscribe/)
  await page.waitForURL('**/success?**')
  const { text } = await mailTo(email, /code to confirm/)
  await page.goto(`/confirm?email=${encodeURIComponent(email)}`)
  await page.getByLabel('Confirmation code').fill(/\b\d{6}\b/.exec(text)?.[0] ?? '')
  await page.getByRole('button', { name: 'Confirm Account' }).click()
  await page.getByText('✅ Account confirmed!').first().waitFor()
}

async function sessionOn(date: string, classType: string): Promise<string> {
  const [session] = await system.sql('enrollment')<{ id: string }[]>`
    select id from class_sessions where class_type = ${classType} and date = ${date}`
  return session?.id ?? ''
}

/** What an operator's command sends. */
async function operate(service: 'enrollment' | 'billing', path: string, body: object): Promise<void> {
  const answer = await fetch(system.processes[service].url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-secret': localAdminSecret },
    body: JSON.stringify(body),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}

const linkIn = (text: string, path: RegExp) =>
  text.match(/https?:\/\/[^\s<>)]+/g)?.find((link) => path.test(new URL(link).pathname)) ?? ''

const children = [
  { name: 'Ivo', age: '9' },
  { name: 'Noa', age: '8' },
]

describe('a family after paying', () => {
  it('finds on its home what it bought without an account, moves one of two children for the difference, takes the money of a class that the school cancels, and books members’ classes, on a phone', async () => {
    const email = `maren.${randomUUID()}@example.com`
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl, ...phone })
    const page = await context.newPage()
    const startDate = await enroll(page, email, children)
    await becomeMember(page, email)

    await page.goto('/dashboard')
    await page.getByRole('heading', { name: 'Ivo and Noa', exact: true }).waitFor()
    expect(await faultsOf(page, widths)).toEqual([])
    await page.getByRole('link', { name: 'Move Ivo and Noa' }).click()
    await page.getByRole('checkbox', { name: 'Noa' }).check()
    await page.getByRole('button', { name: 'Next' }).click()
    const dearer = page.getByRole('listitem').filter({ hasText: '+$100.00' }).first()
    await dearer.getByRole('link', { name: /^Choose/ }).click()
    await page.getByRole('button', { name: 'Pay $100.00 and move Noa' }).click()
    await pay(page, /^Pay \$100\.00/)
    await page.waitForURL('**/dashboard?**')
    await page.getByText(/^Noa moved to Level 2, /).waitFor()
    await page.getByRole('heading', { name: 'Ivo', exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Noa', exact: true }).waitFor()
    expect(await faultsOf(page, widths)).toEqual([])
    const moved = await mailTo(email, /moved|new class/i)
    expect(await calendarOf(moved)).toContain('BEGIN:VEVENT')

    await operate('enrollment', `/admin/class-sessions/${await sessionOn(startDate, 'basic')}/cancellation`, {
      id: randomUUIDv7(),
      families: 1,
    })
    const cancelled = await mailTo(email, /cancel/i)
    expect(cancelled.text).toContain('all $400.00 goes back')
    expect(await calendarOf(cancelled)).toContain('STATUS:CANCELLED')
    await page.goto('/dashboard')
    await page.getByText('Canceled by us').waitFor()
    await page.goto(linkIn(cancelled.text, /^\/choice/))
    await page.getByRole('link', { name: 'Get $400.00 back' }).click()
    await page.getByRole('button', { name: 'Get $400.00 back' }).click()
    await page.getByText('We sent $400.00 back to your card').waitFor()
    expect((await mailTo(email, /^Canceled: Ivo/)).text).toContain('$400.00')
    const refunded = () => [...system.provider.refunds.values()].reduce((sum, { object }) => sum + object.amount, 0)
    expect(refunded()).toBe(40_000)

    // The next month's payment gives a class to book.
    system.simulator.advanceClock(32 * 24 * 3600)
    await system.simulator.deliveriesIdle()
    await page.goto('/dashboard/book')
    await page.getByText('1 class to book.').waitFor()
    await page
      .getByRole('button', { name: /^Book / })
      .first()
      .click()
    await page.getByRole('button', { name: 'Book this class' }).click()
    await page.getByText(/^Booked: /).waitFor()
    await page
      .getByRole('link', { name: /^Move / })
      .last()
      .click()
    await page
      .getByRole('button', { name: /^Choose / })
      .last()
      .click()
    await page.getByRole('button', { name: 'Move this class' }).click()
    await page.getByText('Your next class comes on').waitFor()
    await mailTo(email, /^Moved: members’ class/)
    expect(await faultsOf(page, widths)).toEqual([])
    await page
      .getByRole('button', { name: /^Cancel / })
      .last()
      .click()
    await page.getByRole('button', { name: 'Cancel this class' }).click()
    await page.getByText('1 class to book.').waitFor()
    expect(errors).toEqual([])
    await context.close()
  })
})
