import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { eventually, useSite } from '../fixture.ts'
import { chooseDate, fillSignUp, firstOpenDate, submitButton } from '../pages.ts'
import { maren, sampleProfile } from '../stub-accounts.ts'
import { refusal } from '../stub-api.ts'

const site = useSite()
const wide = { viewport: { width: 1280, height: 900 } }
const noor = { userId: '019a0000-0000-7000-8000-0000000000a2', username: 'user_2', email: 'noor.lind@example.com' }
const question = (page: Page) => page.getByRole('alertdialog')

/** Fires the events of a tab that becomes visible again. */
const comeBackTo = (page: Page) =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))

async function openProfile(): Promise<Page> {
  const { accounts } = site.api
  accounts.user = maren
  accounts.membership = { ...sampleMembership, unpaid: null }
  const page = await site.open(wide)
  await page.goto('/profile')
  await page.getByRole('heading', { name: 'Maren Holt' }).waitFor()
  return page
}

/** Another tab signs in to a different account; requests that name another account are rejected, as by the server. */
function signInElsewhere(): void {
  const { accounts } = site.api
  accounts.user = noor
  accounts.profile = sampleProfile({ ...noor, givenName: 'Noor', familyName: 'Lind' })
  accounts.membership = null
  for (const route of ['PATCH /api/profile', 'POST /api/membership/cancel'])
    site.api.on(route, ({ account }) =>
      account === noor.userId ? { json: accounts.profile } : refusal('other_account', 'Another account is logged in.'),
    )
}

describe('a page of another account than the one that is signed in now', () => {
  it('sends its account with each change, and none when nobody is signed in', async () => {
    const page = await openProfile()
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    await page.getByRole('button', { name: 'Yes, cancel it' }).click()
    await page.getByText('Your membership is canceled.').waitFor()
    expect(site.api.callsOf('POST', /cancel$/)[0]?.account).toBe(maren.userId)
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(site.api.callsOf('POST', /^\/api\/registrations$/)[0]?.account).toBe(maren.userId)
    expect(site.api.calls.filter(({ method, account }) => method === 'GET' && account !== undefined)).toEqual([])

    site.api.accounts.user = null
    const visitor = await site.open()
    await visitor.goto('/robokidspage1')
    await fillSignUp(visitor)
    await submitButton(visitor).click()
    await visitor.waitForURL('**/card-page')
    expect(site.api.callsOf('POST', /^\/api\/registrations$/).at(-1)?.account).toBeUndefined()
  })

  it('says who is signed in now and that nothing was changed, and reloads the page for them', async () => {
    const page = await openProfile()
    signInElsewhere()
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    await page.getByRole('button', { name: 'Yes, cancel it' }).click()
    await page.getByRole('alertdialog', { name: 'Another account is logged in' }).waitFor()
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(
      'Another account is logged in',
    )
    await question(page).getByText(`${noor.email} is now logged in`).waitFor()
    expect(await question(page).innerText()).toContain('Nothing was changed.')
    await question(page).getByRole('button', { name: 'Continue with that account' }).click()
    await page.getByRole('heading', { name: 'Noor Lind' }).waitFor()
    // From now on the page belongs to the new account.
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Last name').fill('Lindt')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your details are saved.').waitFor()
    expect(site.api.callsOf('PATCH', /profile$/).map(({ account }) => account)).toEqual([noor.userId])
  })

  it('offers to log out the account that is signed in now', async () => {
    const page = await openProfile()
    signInElsewhere()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Last name').fill('Holt-Lind')
    await page.getByRole('button', { name: 'Save' }).click()
    await question(page).getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL('**/membership/login')
    await question(page).waitFor({ state: 'hidden' })
    expect(site.api.callsOf('POST', /sign-out$/).map(({ account }) => account)).toEqual([undefined])
    expect(await page.getByRole('button', { name: 'Logout' }).count()).toBe(0)
    // A sign-in after a sign-out is not another account.
    await page.getByLabel('Email').fill(maren.email)
    await page.getByLabel('Password', { exact: true }).fill('Robot-2030!')
    await page.getByRole('button', { name: 'Log In', exact: true }).click()
    await page.waitForURL('**/dashboard')
    expect(await question(page).count()).toBe(0)
  })

  it('keeps what was typed for the account that continues, and does not interrupt reading', async () => {
    site.api.accounts.user = maren
    const page = await site.open(wide)
    await page.goto('/robokidspage1')
    await page.getByRole('button', { name: 'Logout' }).waitFor()
    // Its prefilled values would be those of another account.
    await fillSignUp(page, {
      guardianName: 'Maren H.',
      email: 'maren@example.org',
      addressLine1: '3 Quay Street',
      city: 'Oakland',
      state: 'CA',
      zipCode: '94607',
    })
    site.api.accounts.user = noor
    site.api.on('POST /api/registrations', ({ account, body }) =>
      account === noor.userId
        ? { json: { checkoutUrl: `${site.url}/card-page`, registrationId: body['id'] } }
        : refusal('other_account', 'Another account is logged in.'),
    )
    const profile = page.getByRole('link', { name: 'Profile', exact: true })
    await comeBackTo(page)
    await eventually(() => profile.getAttribute('title')).toBe(noor.email)
    expect(await question(page).count()).toBe(0)
    // Even if it is closed several times.
    for (const close of ['Escape', 'Continue']) {
      await submitButton(page).click()
      await question(page).getByText(noor.email).first().waitFor()
      if (close === 'Escape') await page.keyboard.press(close)
      else await question(page).getByRole('button', { name: 'Continue with that account' }).click()
      await question(page).waitFor({ state: 'hidden' })
    }
    await firstOpenDate(page)
    expect(await page.getByLabel('Zip code').inputValue()).toBe('94607')
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const accounts = site.api.callsOf('POST', /^\/api\/registrations$/).map(({ account }) => account)
    expect(accounts).toEqual([maren.userId, maren.userId, noor.userId])
  })

  it('is reloaded on return to a profile, and adopts the new account on navigation', async () => {
    const page = await openProfile()
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    signInElsewhere()
    await comeBackTo(page)
    await page.getByRole('heading', { name: 'Noor Lind' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Last name').fill('Lindt')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your details are saved.').waitFor()

    site.api.accounts.user = maren
    await comeBackTo(page)
    await page.getByRole('link', { name: 'Shop' }).first().click()
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
    expect(site.api.callsOf('POST', /checkout$/).map(({ account }) => account)).toEqual([maren.userId])
  })

  it('says when nobody is signed in any more', async () => {
    const page = await openProfile()
    site.api.accounts.user = null
    site.api.on('POST /api/membership/cancel', () => refusal('other_account', 'Another account is logged in.'))
    await page.getByRole('button', { name: 'Cancel membership' }).click()
    await page.getByRole('button', { name: 'Yes, cancel it' }).click()
    await page.getByRole('alertdialog', { name: 'You’re logged out' }).waitFor()
    await question(page).getByRole('button', { name: 'OK' }).click()
    await page.waitForURL('**/membership/login')
  })
})

describe('an account whose address was changed in another browser', () => {
  it('is shown in its current state after coming back to the page', async () => {
    const page = await openProfile()
    const { accounts } = site.api
    const email = 'maren@example.org'
    accounts.user = { ...maren, email }
    accounts.profile = sampleProfile({ email })
    await comeBackTo(page)
    await page.getByText(email).first().waitFor()
    await eventually(() => page.getByRole('link', { name: 'Profile', exact: true }).getAttribute('title')).toBe(email)
    expect(await question(page).count()).toBe(0)
    expect(await page.locator('main').innerText()).not.toContain(maren.email)
  })

  it('is shown as it is now once it was changed here', async () => {
    const page = await openProfile()
    const { accounts } = site.api
    const email = 'maren@example.org'
    site.api.on('PATCH /api/profile', () => {
      accounts.user = { ...maren, email }
      return { json: sampleProfile({ email }) }
    })
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Last name').fill('Holt-Lind')
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(() => page.getByRole('link', { name: 'Profile', exact: true }).getAttribute('title')).toBe(email)
  })
})

describe('somebody who is signed in', () => {
  it('is nowhere told to log in, and becomes a member with the account that is there', async () => {
    site.api.accounts.user = maren
    const page = await site.open(wide)
    await page.goto('/membership')
    await page.getByRole('main').getByRole('link', { name: 'Your profile' }).waitFor()
    await page.goto('/membership/register')
    await page.getByText(`You’re logged in as ${maren.email}.`).waitFor()
    expect(await page.locator('main').innerText()).not.toMatch(/log in\b/i)
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0)
    await chooseDate(page, '2030-01-04')
    await page.getByLabel(/^I agree: My membership renews by itself/).check()
    await page.getByRole('button', { name: 'Proceed to Payment' }).click()
    await page.waitForURL('**/card-page')
    expect(site.api.callsOf('POST', /sign-up$/)).toEqual([])
    expect(site.api.callsOf('POST', /createStripeSession$/)[0]).toMatchObject({
      account: maren.userId,
      body: { email: maren.email, plan: 'monthly', classDate: '2030-01-04' },
    })
  })

  it('is led to the membership that the account has, and not to the login', async () => {
    site.api.accounts.user = maren
    site.api.on('POST /api/createStripeSession', () =>
      refusal('already_member', 'This email already has a membership. Please log in to see it.'),
    )
    const page = await site.open(wide)
    await page.goto('/membership/register')
    await page.getByText(`You’re logged in as ${maren.email}.`).waitFor()
    await chooseDate(page, '2030-01-04')
    await page.getByLabel(/^I agree: My membership renews by itself/).check()
    await page.getByRole('button', { name: 'Proceed to Payment' }).click()
    await page.getByText('You already have a membership, or its payment is being processed.').waitFor()
    await page.getByText('Your membership is on').getByRole('link', { name: 'your profile' }).click()
    await page.waitForURL('**/profile')
  })
})
