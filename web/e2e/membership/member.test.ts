import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { eventually } from '@robokids/test/bed'
import { startSystem, type System } from '@robokids/test/system'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAuthenticator, fillRegistration, goodPassword, passwordField, proceedButton } from '../accounts.ts'
import { launchBrowser, newVisitor } from '../browser.ts'

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

const newestCode = (address: string, count: number) =>
  eventually(async () => {
    const mails = await system.mailsTo(address)
    const codes = mails.flatMap((mail) => /(?<!RK-)\b\d{6}\b/.exec(mail.text)?.[0] ?? [])
    return codes.length >= count && codes.at(-1)
  }, 20_000)

/** Opens every link of every mail, without and with a browser, as mail scanners do before the recipient. */
async function openAsScanner(address: string): Promise<void> {
  const texts = (await system.mailsTo(address)).map(({ text }) => text)
  const links = texts.flatMap((text) => text.match(/https?:\/\/[^\s<>)]+/g) ?? [])
  expect(links.filter((link) => link.startsWith(system.siteUrl))).not.toEqual([])
  const scanner = await browser.newContext()
  const page = await scanner.newPage()
  for (const link of new Set(links)) {
    for (const method of ['HEAD', 'GET', 'GET']) {
      const { status, headers } = await fetch(link, { method })
      expect([status, headers.getSetCookie()]).toEqual([200, []])
    }
    await page.goto(link)
  }
  expect(await scanner.cookies()).toEqual([])
  await scanner.close()
}

/** Pays on the provider's page, and returns. */
async function updateCard(page: Page, number: string): Promise<void> {
  await page.getByRole('button', { name: 'Update card' }).click()
  await page.getByRole('link', { name: 'Update card' }).click()
  await page.getByLabel('Card number').fill(number)
  await page.getByLabel('Expiry date').fill('12 / 34')
  await page.getByLabel('Security code').fill('123')
  await page.getByLabel('Name on card').fill('Zoë Holt')
  await page.getByRole('button', { name: 'Save card' }).click()
  await page
    .getByText(`ending in ${number.slice(-4)}`)
    .first()
    .waitFor()
  await page.goto(`${system.siteUrl}/profile`)
}

/** Pays on the provider's page, and returns to the result. */
async function subscribe(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Subscribe/ }).waitFor()
  await page.getByLabel('Card number').fill('4242 4242 4242 4242')
  await page.getByLabel('Expiry date').fill('12 / 34')
  await page.getByLabel('Security code').fill('123')
  await page.getByLabel('Name on card').fill('Zoë Holt')
  await page.getByRole('button', { name: /Subscribe/ }).click()
  await page.waitForURL('**/success?**')
  await page.getByRole('heading', { level: 1, name: 'Payment Successful!' }).waitFor()
}

const day = 24 * 3600

/** Declines a card, replaces it, switches to yearly, and cancels in two clicks. */
async function liveAsMember(page: Page): Promise<void> {
  const section = page.getByRole('region', { name: 'Your membership' })
  await section.getByText('$7.00 a month').waitFor()
  // The waiver does not ask for known values.
  await section.getByRole('link', { name: 'Complete Waiver Form' }).click()
  await page.getByLabel("Child's first name").waitFor()
  expect(await page.getByLabel('Your full name').count()).toBe(0)
  await page.goBack()
  await section.getByText('$7.00 a month').waitFor()
  await updateCard(page, '4000 0000 0000 0341')
  await section.getByText('ending in 0341').waitFor()
  system.simulator.advanceClock(31 * day + 2 * 3600)
  await system.simulator.deliveriesIdle()
  await page.reload()
  await section.getByText('Your payment of $7.00 did not go through.').waitFor()
  await updateCard(page, '4242 4242 4242 4242')
  system.simulator.advanceClock(3 * day + 3600)
  await system.simulator.deliveriesIdle()
  await page.reload()
  await section.getByText('Renewal').waitFor()
  expect(await section.getByText('did not go through').count()).toBe(0)

  await section.getByRole('button', { name: 'Pay by the year' }).click()
  const question = page.getByRole('dialog', { name: 'Pay by the year?' })
  const now = (await question.getByRole('button', { name: /^Pay \$5\d\.\d\d now$/ }).innerText()).slice(4, -4)
  expect(await question.innerText()).toContain('Credit for unused time')
  await question.getByRole('button', { name: /^Pay/ }).click()
  await section.getByText('$60.00 a year').first().waitFor()
  await section.getByText(`: ${now}`).waitFor()

  await section.getByRole('button', { name: 'Cancel membership' }).click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await section.getByText('Your membership is canceled.').waitFor()
  await section.getByText('you won’t be charged again').first().waitFor()
  await section.getByRole('button', { name: 'Keep my membership' }).click()
  await section.getByText('Your membership continues.').waitFor()
  await section.getByRole('button', { name: 'Cancel membership' }).click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await section.getByText('Your membership ends on').first().waitFor()
}

async function logIn(page: Page, email: string, password = goodPassword): Promise<void> {
  await page.goto('/membership/login')
  await page.getByLabel('Email').fill(email)
  await passwordField(page).fill(password)
  await page.getByRole('button', { name: 'Log In', exact: true }).click()
}

describe('a member', () => {
  it('registers, pays, confirms and is signed in, has a card declined, goes yearly, cancels, adds a passkey, and logs in with it and with a new password', async () => {
    const email = `Maren.Holt.${randomUUID()}@example.com`
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    const authenticator = await addAuthenticator(page)
    await page.goto('/membership/register')
    await fillRegistration(page, { email, given_name: 'Zoë' })
    await proceedButton(page).click()

    await subscribe(page)
    await page.getByText('4:00 PM Pacific, live on a video call').waitFor()

    const code = await newestCode(email, 1)
    await openAsScanner(email)

    // In another tab, with the email in another case: the first tab signs in by itself.
    const other = await context.newPage()
    await other.goto(`/confirm?email=${encodeURIComponent(email.toLowerCase())}`)
    await other.getByLabel('Confirmation code').fill(code)
    await other.getByRole('button', { name: 'Confirm Account' }).click()
    await other.getByText('✅ Account confirmed! You can now log in.').waitFor()
    await other.close()
    await page.goto('/profile')
    await page.getByText('14 Alder Way, Cambridge, MA 02139').first().waitFor()
    await page.getByText('4:00 PM Pacific: a live class on a video call').waitFor()
    await liveAsMember(page)
    expect((await system.mailsTo(email)).map(({ subject }) => subject)).toContain(
      'You’re now a member of Robo Kids Learning',
    )

    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Your passkey is ready.').waitFor()
    expect(await authenticator.credentials()).toHaveLength(1)
    await page.getByRole('button', { name: 'Logout' }).first().click()
    await page.waitForURL(`${system.siteUrl}/`)
    await page.goBack()
    await page.waitForURL('**/membership/login')
    expect(await page.locator('body').innerText()).not.toContain('Alder Way')

    await page.getByLabel('Email').fill(email.toUpperCase())
    await page.getByRole('button', { name: 'Log in with a passkey' }).click()
    await page.getByRole('button', { name: 'Use my passkey' }).click()
    await page.waitForURL('**/profile')
    await page.getByText('14 Alder Way').first().waitFor()
    await page.getByRole('button', { name: 'Logout' }).first().click()
    await page.waitForURL(`${system.siteUrl}/`)

    // A forgotten password, with the email in another case once more.
    await page.goto('/membership/login')
    await page.getByRole('button', { name: /forgot/i }).click()
    await page.getByLabel('Email').fill(email.toLowerCase())
    await page.getByRole('button', { name: /code/i }).click()
    const reset = await newestCode(email, 2)
    await openAsScanner(email)
    await page.getByLabel(/code/i).fill(reset)
    await page.getByLabel('New password').fill('Another-2031!')
    await page.getByRole('button', { name: 'Set New Password' }).click()
    await page.getByText('✅').first().waitFor()
    await logIn(page, email, goodPassword)
    await page.getByText('Incorrect username or password.').waitFor()
    await logIn(page, email, 'Another-2031!')
    await page.waitForURL('**/dashboard')
    expect(errors).toEqual([])
    await context.close()
  })

  it('joins with a yearly plan, and signs the waiver for a child', async () => {
    const email = `Maren.Holt.${randomUUID()}@example.com`
    const { context, errors } = await newVisitor(browser, { baseURL: system.siteUrl })
    const page = await context.newPage()
    await page.goto('/membership/register?plan=yearly')
    await fillRegistration(page, { email, given_name: 'Zoë' })
    await proceedButton(page).click()
    await page.getByText('$60.00').first().waitFor()
    await subscribe(page)
    await page.getByText('$60 per year', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Complete Waiver Form' }).click()
    await page.getByLabel("Child's first name").fill('Ivo')
    await page.getByLabel("Child's age").fill('9')
    await page.getByLabel('I have read the waiver and agree to it.').check()
    await page.getByRole('button', { name: 'I Agree & Complete Registration' }).click()
    await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
    const welcome = await eventually(async () => {
      const mails = await system.mailsTo(email)
      const isSigned = mails.some(({ subject }) => subject === 'The signed waiver for your membership')
      return isSigned && mails.find(({ subject }) => subject === 'You’re now a member of Robo Kids Learning')
    }, 20_000)
    expect(welcome.text).toContain('$60.00 a year')
    // The link in the mail shows that it is done.
    await page.goto(/https?:\S+\/waiver\?membership=\S+/.exec(welcome.text)?.[0] ?? '')
    await page.getByRole('heading', { name: 'This waiver is already signed' }).waitFor()
    expect(errors).toEqual([])
    await context.close()
  })
})
