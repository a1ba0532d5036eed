import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { goodPassword } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { layoutShift, textsSeen, watchLayoutShift, watchTexts } from '../pages.ts'
import { maren, sampleProfile } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()

const wide = { viewport: { width: 1280, height: 900 } }
const bodiesOf = (method: string, path: RegExp) => site.api.callsOf(method, path).map(({ body }) => body)
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const press = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()

async function openProfile(page: Page, changes: Parameters<typeof sampleProfile>[0] = {}) {
  site.api.accounts.user = maren
  site.api.accounts.profile = sampleProfile(changes)
  await page.goto('/profile')
  await page.getByRole('heading', { name: 'Maren Holt' }).waitFor()
}

describe('the session', () => {
  it('shows Profile and Logout to a signed-in user only, without a layout shift', async () => {
    const visitor = await site.open(wide)
    await visitor.goto('/membership')
    await visitor.getByRole('heading', { level: 1 }).waitFor()
    expect(await visitor.getByRole('button', { name: 'Logout' }).count()).toBe(0)

    const page = await site.open(wide)
    site.api.accounts.user = maren
    site.api.on('GET /api/auth/session', () => ({ delayMs: 400, json: { user: maren } }))
    await page.goto('/membership')
    await page.getByRole('button', { name: 'Logout' }).waitFor()
    await watchLayoutShift(page)
    await page.reload()
    await page.getByRole('button', { name: 'Logout' }).waitFor()
    expect(await layoutShift(page)).toBeLessThan(0.02)
    const header = page.getByRole('banner')
    await page.setViewportSize({ width: 320, height: 700 })
    expect(await header.getByRole('link', { name: 'Profile', exact: true }).isVisible()).toBe(true)
    expect(await header.getByRole('link', { name: 'Log in' }).count()).toBe(0)
  })

  it('ends with Logout: leads home, and Back shows nothing personal', async () => {
    const page = await site.open(wide)
    await openProfile(page)
    await press(page, 'Logout')
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await page.getByRole('button', { name: 'Logout' }).waitFor({ state: 'hidden' })
    expect(bodiesOf('POST', /sign-out$/)).toEqual([{ everywhere: false }])
    await page.goBack()
    await eventually(() => new URL(page.url()).pathname).toBe('/membership/login')
    const text = await page.locator('body').innerText()
    for (const personal of ['Maren', 'maren.holt', 'Alder Way']) expect(text).not.toContain(personal)
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('aren')
  })

  it('ends with Logout at a hosted sign-in service as well', async () => {
    const page = await site.open(wide)
    const logoutUrl = 'https://login.robokids.example/logout?client_id=web'
    await page.route(logoutUrl, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Logged out</h1>' }))
    await openProfile(page)
    site.api.on('POST /api/auth/sign-out', () => {
      site.api.accounts.user = null
      return { json: { logoutUrl } }
    })
    await press(page, 'Logout')
    await page.waitForURL(logoutUrl)
    await page.getByRole('heading', { name: 'Logged out' }).waitFor()
  })

  it('clears the record of a member whose waiver was opened in this tab, and keeps a registration’s', async () => {
    const page = await site.open(wide)
    site.api.accounts.membership = { ...sampleMembership, unpaid: null }
    await openProfile(page)
    await page.getByRole('link', { name: 'Complete Waiver Form' }).click()
    await page.getByRole('heading', { name: 'Sign the waiver' }).waitFor()
    const kept = () => page.evaluate(() => sessionStorage.getItem('roboKidsWaiverSession'))
    expect(await kept()).toContain('maren.holt@example.com')
    await press(page, 'Logout')
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await eventually(kept).toBeNull()
    await page.goto('/waiver')
    await page.getByText('Registration info missing. Please return to the form.').waitFor()

    site.api.accounts.user = maren
    const registration = JSON.stringify({ guardianName: 'Maren Holt', classType: 'basic' })
    await page.evaluate((record) => sessionStorage.setItem('roboKidsWaiverSession', record), registration)
    await page.goto('/membership')
    await press(page, 'Logout')
    await page.getByRole('button', { name: 'Logout' }).waitFor({ state: 'hidden' })
    expect(await kept()).toBe(registration)
  })

  it('continues when Logout fails, and says so', async () => {
    const page = await site.open(wide)
    const logged: string[] = []
    page.on('console', (message) => logged.push(message.text()))
    await openProfile(page)
    site.api.on('POST /api/auth/sign-out', () => ({ lost: true }))
    await press(page, 'Logout')
    const alert = page.getByRole('alertdialog', { name: /^You’re still logged in on this browser/ })
    await alert.waitFor()
    expect(logged.some((text) => text.includes('Could not sign out'))).toBe(true)
    expect(new URL(page.url()).pathname).toBe('/profile')
    await press(page, 'OK')
    site.api.on('POST /api/auth/sign-out', () => {
      site.api.accounts.user = null
      return { json: {} }
    })
    await press(page, 'Logout')
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    await page.getByRole('button', { name: 'Logout' }).waitFor({ state: 'hidden' })
  })

  it('ends when any response says that it is over', async () => {
    const page = await site.open(wide)
    await openProfile(page)
    site.api.accounts.user = null
    await press(page, /^Forget Safari on iPhone$/)
    await page.waitForURL('**/membership/login')
    expect(await page.getByRole('button', { name: 'Logout' }).count()).toBe(0)
  })

  it('shows nothing of a page from the back/forward cache', async () => {
    const page = await site.open(wide)
    await openProfile(page)
    const hidden = await page.evaluate(() => {
      window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
      return document.body.innerText.includes('Alder Way')
    })
    expect(hidden).toBe(false)
    site.api.accounts.user = null
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await page.waitForURL('**/membership/login')
  })
})

describe('the profile', () => {
  it('redirects visitors to the login', async () => {
    const page = await site.open()
    await page.goto('/membership')
    await page.goto('/profile')
    await page.waitForURL('**/membership/login')
    await page.goBack()
    await eventually(() => new URL(page.url()).pathname).toBe('/membership')
    expect(site.api.callsOf('GET', /^\/api\/profile$/)).toHaveLength(0)
  })

  it('shows real data, and never the login while loading', async () => {
    const page = await site.open()
    await watchTexts(page)
    const [session, profile] = [
      held(() => ({ json: { user: maren } })),
      held(() => ({ json: sampleProfile({ birthdate: '', address: '' }) })),
    ]
    site.api.on('GET /api/auth/session', session.handler)
    site.api.on('GET /api/profile', profile.handler)
    await page.goto('/profile')
    await page.getByText('Loading your profile...').waitFor()
    session.release()
    await page.getByText('Loading your profile...').waitFor()
    profile.release()
    await page.getByRole('heading', { name: 'Maren Holt' }).waitFor()
    const details = await section(page, 'Your details').innerText()
    expect(details).toContain('maren.holt@example.com')
    expect(details).toContain('+16175550123')
    expect(details.match(/Not set/g)).toHaveLength(2)
    expect(await textsSeen(page)).not.toContain('Show Password')
  })

  it('says that it could not be loaded, and loads on a retry', async () => {
    const page = await site.open()
    site.api.accounts.user = maren
    let down = true
    site.api.on('GET /api/profile', () =>
      down ? refusal('rate_limited', 'Too many requests.') : { json: sampleProfile() },
    )
    await page.goto('/profile')
    await page.getByText('We could not load your profile.').waitFor()
    down = false
    await press(page, 'Try again')
    await page.getByRole('heading', { name: 'Maren Holt' }).waitFor()
  })

  it('saves only the changed values', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, 'Edit')
    await page.getByLabel('Last name').fill('Holt-Lind')
    await page.getByLabel('Phone number').fill('')
    await press(page, 'Save')
    await page.getByText('Enter a phone number with its area code.').waitFor()
    await page.getByLabel('Phone number').fill('(617) 555-0199')
    await press(page, 'Save')
    await page.getByText('Your details are saved.').waitFor()
    expect(bodiesOf('PATCH', /^\/api\/profile$/)).toEqual([{ familyName: 'Holt-Lind', phoneNumber: '+16175550199' }])
    await page.getByRole('heading', { name: 'Maren Holt-Lind' }).waitFor()
  })

  it('does not revert what another tab has changed meanwhile', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, 'Edit')
    await page.getByLabel('First name').fill('Mara')
    site.api.accounts.profile = sampleProfile({ phoneNumber: '+16175550177' })
    const asked = site.api.callsOf('GET', /^\/api\/profile$/).length
    const answer = page.waitForResponse('**/api/profile')
    // The tab becomes visible again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
    await answer
    expect(site.api.callsOf('GET', /^\/api\/profile$/).length).toBeGreaterThan(asked)
    await press(page, 'Save')
    await page.getByText('Your details are saved.').waitFor()
    expect(bodiesOf('PATCH', /^\/api\/profile$/)).toEqual([{ givenName: 'Mara' }])
    await page.getByText('+16175550177').waitFor()
  })

  it('asks for the code of a new email', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, 'Edit')
    await page.getByLabel('Email').fill('maren@example.org')
    await press(page, 'Save')
    await page.getByText('We emailed a code to maren@example.org.').waitFor()
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Verify')
    await page.getByText('Your email is verified.').waitFor()
    expect(bodiesOf('POST', /verification\/confirm$/)).toEqual([{ attribute: 'email', code: '123456' }])
  })

  it('says which email to log in with while a new one is unverified', async () => {
    const page = await site.open()
    const formerEmail = 'maren.holt@example.com'
    await openProfile(page, { email: 'maren@example.org', emailVerified: false, formerEmail })
    await page
      .getByText('Until you enter its code, you log in with maren.holt@example.com, and we email you there.')
      .waitFor()
    await page.getByText('Not verified yet').waitFor()
    // Password managers store a password with the email that it belongs to.
    for (const name of await page.locator('input[autocomplete="username"]').all())
      expect(await name.inputValue()).toBe('maren.holt@example.com')
  })

  it('verifies the phone by a code', async () => {
    const page = await site.open()
    await openProfile(page)
    site.api.on('POST /api/profile/verification', () => ({
      json: { delivery: { medium: 'SMS', destination: '+*******0123' } },
    }))
    await press(page, 'Verify phone')
    await page.getByText('We texted a code to +*******0123.').waitFor()
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe('code')
    expect(bodiesOf('POST', /verification$/)).toEqual([{ attribute: 'phone_number' }])
    site.api.on('POST /api/profile/verification/confirm', () =>
      refusal('CodeMismatchException', 'Invalid verification code provided, please try again.'),
    )
    await page.getByLabel('Code').fill('000000')
    await press(page, 'Verify')
    await page.getByText('Invalid verification code provided, please try again.').waitFor()
    site.api.on('POST /api/profile/verification/confirm', () => {
      site.api.accounts.profile.phoneNumberVerified = true
      return { json: site.api.accounts.profile }
    })
    await press(page, 'Verify')
    await page.getByText('Your phone number is verified.').waitFor()
    expect(await page.getByRole('button', { name: 'Verify phone' }).count()).toBe(0)
    // Text messages are a second step from now on.
    await page.getByRole('button', { name: 'Turn on (Text message)' }).waitFor()
  })

  it('changes the password', async () => {
    const page = await site.open()
    await openProfile(page)
    const form = section(page, 'Password')
    await form.getByLabel('Current password').fill(goodPassword)
    await form.getByLabel('New password').fill('weak')
    await press(page, 'Change password')
    await form.getByText('❌ Password must include').waitFor()
    await form.getByLabel('New password').fill('Robot-2031!')
    expect(await form.locator('[data-met=true]').count()).toBe(4)
    site.api.on('POST /api/auth/change-password', () => ({ status: 500, json: {} }))
    await press(page, 'Change password')
    await form.getByText('Could not set new password.').waitFor()
    site.api.on('POST /api/auth/change-password', () => ({ json: {} }))
    await press(page, 'Change password')
    await form.getByText('Your password has been changed.').waitFor()
    expect(bodiesOf('POST', /change-password$/).at(-1)).toEqual({
      previousPassword: goodPassword,
      proposedPassword: 'Robot-2031!',
    })
    expect(await form.getByLabel('Current password').inputValue()).toBe('')
  })

  it('sets up an authenticator app', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, 'Set up (Authenticator app)')
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    expect(await page.locator('main code').innerText()).toBe('JBSW Y3DP EHPK 3PXP')
    await page.getByLabel('Code from the app').fill('123456')
    site.api.on('POST /api/profile/totp/verify', () => {
      site.api.accounts.profile.mfa = { enabled: ['TOTP'], preferred: 'TOTP' }
      return { json: site.api.accounts.profile }
    })
    await press(page, 'Turn on')
    await page.getByText('Your authenticator app is set up.').waitFor()
    expect(bodiesOf('POST', /totp\/verify$/)).toEqual([{ code: '123456' }])
    await page.getByText('On, used first').waitFor()
  })

  it('turns second steps on and off, and sets the preferred one', async () => {
    const page = await site.open()
    await openProfile(page, { mfa: { enabled: ['TOTP', 'EMAIL'], preferred: 'TOTP' }, phoneNumberVerified: true })
    await press(page, 'Turn on (Text message)')
    await eventually(() => bodiesOf('POST', /mfa$/).length).toBe(1)
    await press(page, 'Use first (Email)')
    await eventually(() => bodiesOf('POST', /mfa$/).length).toBe(2)
    await press(page, 'Turn off (Authenticator app)')
    await eventually(() => bodiesOf('POST', /mfa$/)).toEqual([
      { type: 'SMS', enabled: true, preferred: false },
      { type: 'EMAIL', enabled: true, preferred: true },
      { type: 'TOTP', enabled: false, preferred: false },
    ])
  })

  it('removes a passkey after a confirmation', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, /^Remove Maren’s laptop$/)
    await press(page, 'Keep it')
    expect(site.api.callsOf('DELETE', /passkeys/)).toHaveLength(0)
    await press(page, /^Remove Maren’s laptop$/)
    site.api.on('DELETE /api/profile/passkeys/:id', () => ({ json: sampleProfile({ passkeys: [] }) }))
    await press(page, 'Remove passkey')
    await page.getByText('Passkey removed.').waitFor()
    expect(site.api.callsOf('DELETE', /^\/api\/profile\/passkeys\/key-1$/)).toHaveLength(1)
    expect(await page.getByText('Maren’s laptop').count()).toBe(0)
  })

  it('forgets a device, and signs out everywhere', async () => {
    const page = await site.open()
    await openProfile(page)
    expect(await section(page, 'Devices').getByText('This device').count()).toBe(1)
    await press(page, /^Trust Firefox on Linux$/)
    await page.getByText('This device now skips the second step.').waitFor()
    expect(bodiesOf('POST', /devices\/device-1$/)).toEqual([{ remembered: true }])
    await press(page, /^Forget Safari on iPhone$/)
    await page.getByText('Device forgotten.').waitFor()
    expect(site.api.callsOf('DELETE', /^\/api\/profile\/devices\/device-2$/)).toHaveLength(1)
    for (const failure of [{ lost: true }, refusal('upstream_unavailable', 'Please try again in a moment.')]) {
      site.api.on('POST /api/auth/sign-out', () => failure)
      await press(page, 'Log out everywhere')
      await press(page, 'Log out')
      await section(page, 'Devices').getByText('We couldn’t log you out everywhere.').waitFor()
      expect(new URL(page.url()).pathname).toBe('/profile')
    }
    site.api.on('POST /api/auth/sign-out', () => {
      site.api.accounts.user = null
      return { json: {} }
    })
    await press(page, 'Log out everywhere')
    await press(page, 'Log out')
    await page.waitForURL('**/membership/login')
    await page.getByText('You’re logged out in every browser.').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await page.getByText('You’re logged out in every browser.').count()).toBe(0)
    for (const body of bodiesOf('POST', /sign-out$/)) expect(body).toEqual({ everywhere: true })
  })

  it('asks to confirm the identity before a sensitive change, and continues with what was typed', async () => {
    const page = await site.open()
    await openProfile(page)
    const stale = refusal('FreshSignInRequiredException', 'Please confirm that it’s you.')
    site.api.on('PATCH /api/profile', () => stale)
    await press(section(page, 'Your details'), 'Edit')
    await page.getByLabel('First name').fill('Zoë')
    await page.getByLabel('Email').fill('new@example.com')
    await press(page, 'Save')
    const dialog = page.getByRole('dialog', { name: 'Please confirm that it’s you' })
    await dialog.waitFor()
    await eventually(() => dialog.getByLabel('Password').evaluate((field) => field === document.activeElement)).toBe(
      true,
    )
    // On cancel nothing is changed, and nothing that was typed is lost.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('Nothing was changed.').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe('new@example.com')

    await press(page, 'Save')
    site.api.on('POST /api/auth/sign-in-again', () =>
      refusal('NotAuthorizedException', 'Incorrect username or password.'),
    )
    await dialog.getByLabel('Password').fill('Wrong-2030!')
    await press(dialog, 'Continue')
    await dialog.getByText('Incorrect username or password.').waitFor()
    // With the second step, if the account has one.
    site.api.on('POST /api/auth/sign-in-again', () => ({ json: { step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' } }))
    await dialog.getByLabel('Password').fill(goodPassword)
    await press(dialog, 'Continue')
    await dialog.getByLabel('Code').fill('123456')
    site.api.on('POST /api/auth/sign-in/answer', () => ({ json: { step: 'DONE' } }))
    site.api.on('PATCH /api/profile', () => ({ json: sampleProfile({ givenName: 'Zoë', email: 'new@example.com' }) }))
    await press(dialog, 'Continue')
    await page.getByText('Your details are saved.').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    const sent = { givenName: 'Zoë', email: 'new@example.com' }
    expect(bodiesOf('PATCH', /profile$/)).toEqual([sent, sent, sent])
    expect(bodiesOf('POST', /sign-in-again$/).at(-1)).toEqual({ password: goodPassword })
  })

  it('asks to confirm the identity again after it expired, and offers a passkey', async () => {
    const page = await site.open()
    await openProfile(page)
    const stale = refusal('FreshSignInRequiredException', 'Please confirm that it’s you.')
    site.api.on('POST /api/profile/mfa', () => stale)
    site.api.on('POST /api/auth/sign-in-again', () => ({ json: { step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' } }))
    await press(page, 'Turn on (Email)')
    const dialog = page.getByRole('dialog', { name: 'Please confirm that it’s you' })
    await press(dialog, 'Use a passkey')
    expect(bodiesOf('POST', /sign-in-again$/)).toEqual([{ preferred: 'WEB_AUTHN' }])
    const late = refusal('sign_in_step_expired', 'Your login took too long. Please start again.')
    site.api.on('POST /api/auth/sign-in/answer', () => late)
    await dialog.getByLabel('Code').fill('123456')
    await press(dialog, 'Continue')
    await dialog.getByText('Your login took too long. Please start again.').waitFor()
    await press(dialog, 'Cancel')
    await section(page, 'Second step').getByText('Nothing was changed.').waitFor()
  })

  it('deletes the account only with the password', async () => {
    const page = await site.open()
    await openProfile(page)
    await press(page, 'Delete account')
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' })
    await dialog.waitFor()
    await press(page, 'Delete permanently')
    await dialog.getByText('Enter your password.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await press(page, 'Delete account')
    site.api.on('DELETE /api/profile', () => refusal('NotAuthorizedException', 'Incorrect username or password.'))
    await dialog.getByLabel('Password').fill('Wrong-2030!')
    await press(page, 'Delete permanently')
    await eventually(() => dialog.locator('form [tabindex="-1"]').innerText()).toBe('Incorrect username or password.')
    site.api.on('DELETE /api/profile', () => ({ json: {} }))
    await dialog.getByLabel('Password').fill(goodPassword)
    await press(page, 'Delete permanently')
    await page.getByText('Your account has been deleted.').waitFor()
    site.api.accounts.user = null
    await press(page, 'OK')
    await eventually(() => new URL(page.url()).pathname).toBe('/')
    expect(bodiesOf('DELETE', /^\/api\/profile$/).at(-1)).toEqual({ password: goodPassword })
  })
})
