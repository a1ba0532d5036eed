import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { mainLinks } from '../../src/frame/links.ts'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { sampleView } from '../../src/registration/sample-view.ts'
import {
  addAuthenticator,
  fillRegistration,
  goodPassword,
  logIn,
  member,
  passwordField,
  proceedButton,
} from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { chooseDate, closeAlert, fillSignUp, firstOpenDate, heading, submitButton } from '../pages.ts'
import { maren, sampleProfile, sampleSteps } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'
import { translate } from '../translator.ts'

const site = useSite()

const registration = sampleView().registrationId
const paid = { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z' } as const
const press = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, exact: true }).click()
const says = (within: Page | Locator, text: string | RegExp) => within.getByText(text).first().waitFor()

async function openTranslated(...from: [Parameters<typeof translate>[1]?]) {
  const page = await site.open({ viewport: { width: 1280, height: 900 } })
  return { page, faults: await translate(page, ...from) }
}

describe('a page that the browser translates', () => {
  it('registers a child for a class, through every kind of error', async () => {
    const { page, faults } = await openTranslated()
    await page.goto('/robokidspage1')
    await firstOpenDate(page)
    await press(page, 'Accept')
    await submitButton(page).click()
    await says(page, 'Guardian name is required.')
    await fillSignUp(page, {
      children: [
        { name: 'Ivo', age: '17' },
        { name: 'Noa', age: '7' },
      ],
    })
    await says(page, 'Total for 2 children')
    await says(page, /Ivo is older but still welcome/)
    await page.getByLabel("Child's age").first().fill('5')
    await says(page, /Ivo is younger but still welcome; it helps to sit together/)
    await page.getByLabel("Child's first name").first().fill('Iva')
    await says(page, /Iva is younger/)
    await chooseDate(page, '2025-10-05')
    await says(page, '1 seat left')
    await submitButton(page).click()
    await says(page, /This date has 1 seat left/)
    await press(page, 'Remove Noa')
    await says(page, 'Total for 1 child')
    await press(page, 'Add a sibling')
    await press(page, 'Remove this sibling')
    const refused = held(() => refusal('class_full', 'This class is full.'))
    site.api.on('POST /api/registrations', refused.handler)
    await submitButton(page).click()
    await says(page, 'Processing...')
    refused.release()
    expect(await closeAlert(page)).toBe('This class is full.')
    site.api.on('POST /api/registrations', ({ body }) => ({
      json: { checkoutUrl: `${site.url}/card-page`, registrationId: body['id'] },
    }))
    expect(await submitButton(page).innerText()).toBe('Continue to payment')
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    expect(faults).toEqual([])
  })

  it('pays, confirms, signs and prints a registration', async () => {
    const { page, faults } = await openTranslated()
    site.api.tell(sampleView())
    await page.goto(`/robokids-payment?reference=${registration}`)
    const lost = held(() => ({ lost: true }))
    site.api.on('POST /api/registrations/:reference/checkout', lost.handler)
    await press(page, 'Pay $400.00 by card')
    await says(page, 'Processing...')
    lost.release()
    await closeAlert(page)
    await page.getByRole('button', { name: 'Pay $400.00 by card' }).waitFor()

    await page.goto(`/robokids/success?reference=${registration}`)
    await says(page, 'We haven’t received your payment yet.')
    site.api.tell(sampleView({}, { lastDecline: 'The bank said no.' }))
    await says(page, 'The bank said no. You can try again')
    site.api.tell(sampleView({}, { status: 'processing' }))
    await says(page, 'We’re waiting for your payment')
    site.api.tell(sampleView({ status: 'confirmed' }, paid))
    await eventually(() => heading(page).innerText()).toBe("You're Registered")
    await says(page, '$400.00 paid, receipt RK-000123.')

    let tries = 0
    site.api.on('POST /api/waivers', () => {
      tries += 1
      if (tries === 1) return refusal('validation_failed', 'The waiver cannot be signed now.')
      return { json: { waiverId: registration, registrationId: registration, signedAt: '2025-09-20T18:00:00.000Z' } }
    })
    await page.getByRole('link', { name: 'Read and sign the waiver' }).click()
    await page.getByLabel('I have read the waiver and agree to it.').check()
    await press(page, 'I Agree & Complete Registration')
    await closeAlert(page)
    await says(page, 'The waiver cannot be signed now.')
    await press(page, 'I Agree & Complete Registration')
    await heading(page).getByText('Waiver submitted successfully!').waitFor()
    await page.getByRole('link', { name: 'See your receipt' }).click()
    await heading(page).getByText('Receipt').waitFor()
    // The stub server has no such file.
    await press(page, 'Download PDF')
    await says(page, 'We can’t make the PDF right now.')
    await press(page, 'Download & Close')
    await page.waitForURL(`${site.url}/`)
    expect(faults).toEqual([])
  })

  it('does not translate names and addresses, but the row labels of tables on phones', async () => {
    const { page } = await openTranslated()
    await page.setViewportSize({ width: 390, height: 844 })
    const children = ['Ivo', 'Noa'].map((childName, index) => ({ childName, childAge: 9 - 2 * index }))
    site.api.tell(sampleView({ status: 'confirmed', children }, paid))
    await page.goto(`/robokids/success?reference=${registration}`)
    await says(page, 'Your seats are paid and confirmed.')
    const names = ['Maren Holt', 'Ivo', 'Noa', 'Ivo and Noa', '14 Alder Way', 'San Mateo, CA 02139']
    for (const name of names) await page.getByText(name, { exact: true }).waitFor()
    const translated = await page.locator('main font').allInnerTexts()
    expect(names.filter((name) => translated.includes(name))).toEqual([])
    await page.locator('dd font').getByText(', age 9', { exact: true }).first().waitFor()

    for (const [path, name] of [
      ['/levels', 'Experience needed'],
      ['/guides/motor-guide', 'The motor'],
    ] as const) {
      await page.goto(path)
      await page.locator('td font').getByText(name, { exact: true }).first().waitFor()
    }
  })

  it('registers a membership, and confirms its account', async () => {
    const { page, faults } = await openTranslated()
    await page.goto('/membership/register')
    await firstOpenDate(page)
    await proceedButton(page).click()
    await page.getByRole('list', { name: 'What to fix' }).getByText('City is required.').waitFor()
    await fillRegistration(page)
    await page.getByRole('radio', { name: '$60 per year' }).check()
    await page.getByLabel('Confirm password').fill('Another-2030!')
    await proceedButton(page).click()
    await says(page, "Passwords don't match.")
    await page.getByLabel('Confirm password').fill(goodPassword)
    await page.getByLabel(/^I agree: My membership renews by itself/).check()
    site.api.on('POST /api/createStripeSession', () => ({ status: 500, json: {} }))
    await proceedButton(page).click()
    await says(page, 'Stripe error')
    await says(page, 'Your account is ready.')
    site.api.on('POST /api/createStripeSession', () => ({ json: { url: `${site.url}/card-page` } }))
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')

    await page.goto('/confirm')
    await press(page, 'Confirm Account')
    await says(page, 'Enter the code from our email.')
    await press(page, 'Send a new code')
    await says(page, 'We emailed a new code to m***@e***.')
    let tries = 0
    site.api.on('POST /api/auth/confirm-sign-up', () =>
      tries++ === 0 ? refusal('password_required', 'Please give your password.') : { json: { signedIn: false } },
    )
    await page.getByLabel('Confirmation code').fill('123456')
    await press(page, 'Confirm Account')
    await passwordField(page).fill(goodPassword)
    await press(page, 'Confirm Account')
    await says(page, 'Account confirmed!')
    expect(faults).toEqual([])
  })

  it('logs in with any factor, and resets the password', async () => {
    const { page, faults } = await openTranslated()
    const step = (name: string) => ({ json: sampleSteps.find((one) => one.step === name) })
    site.api.on('POST /api/auth/sign-in', () => step('CONTINUE_SIGN_IN_WITH_MFA_SELECTION'))
    site.api.on('POST /api/auth/sign-in/answer', ({ body: { answer } }) => {
      if (answer === 'SMS') return step('CONFIRM_SIGN_IN_WITH_SMS_CODE')
      if (answer === 'TOTP') return step('CONFIRM_SIGN_IN_WITH_TOTP_CODE')
      if (answer === '000000')
        return refusal('validation_failed', 'Invalid code.', [{ path: 'answer', message: 'Wrong.' }])
      site.api.accounts.user = maren
      return { json: { step: 'DONE' } }
    })
    await page.goto('/membership/login')
    await press(page, 'Log In')
    await says(page, 'Enter your email.')
    await press(page, 'Forgot your password?')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Send me a code')
    await press(page, 'Set New Password')
    await says(page, 'Enter the code that we sent you.')
    await page.getByLabel('Code').fill('123456')
    await page.getByLabel('New password').fill(goodPassword)
    await press(page, 'Send a new code')
    await says(page, 'We emailed a code to m***@e***.')
    await press(page, 'Set New Password')
    await says(page, 'Password updated! You can now log in.')

    await logIn(page)
    await press(page, 'A code by text message')
    await press(page, 'Send a new code')
    await says(page, 'We sent you a new code.')
    await press(page, 'Try another way')
    await press(page, 'A code from my authenticator app')
    await page.getByLabel('Code').fill('000000')
    await press(page, 'Continue')
    await says(page, 'Wrong.')
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Continue')
    await page.waitForURL('**/dashboard')
    await heading(page).getByText('Your classes').waitFor()
    expect(faults).toEqual([])
  })

  it('changes everything in an account', async () => {
    const { page, faults } = await openTranslated()
    site.api.accounts.user = maren
    site.api.accounts.profile = sampleProfile({ emailVerified: false })
    site.api.accounts.membership = { ...sampleMembership, unpaid: null, endsAt: null }
    await addAuthenticator(page)
    await page.goto('/profile')
    await heading(page).getByText('Maren Holt').waitFor()

    await press(page, 'Verify email')
    await press(page, 'Verify')
    await says(page, 'Enter the code that we sent you.')
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Verify')
    await says(page, 'Your email is verified.')
    const details = page.getByRole('region', { name: 'Your details' })
    await press(details, 'Edit')
    await details.getByLabel('First name').fill('')
    await press(details, 'Save')
    await says(details, 'First name is required.')
    await details.getByLabel('First name').fill('Zoë')
    await press(details, 'Save')
    await says(page, 'Your details are saved.')
    await heading(page).getByText('Zoë Holt').waitFor()

    await press(page, 'Set up (Authenticator app)')
    await press(page, 'Turn on')
    await says(page, 'Enter the code that the app shows.')
    await page.getByLabel('Code from the app').fill('123456')
    site.api.accounts.profile = sampleProfile({ mfa: { enabled: ['TOTP'], preferred: 'TOTP' } })
    await press(page, 'Turn on')
    await says(page, 'Your authenticator app is set up.')
    await page.getByRole('button', { name: 'Turn off (Authenticator app)' }).waitFor()

    await press(page, 'Cancel membership')
    await press(page, 'Yes, cancel it')
    await says(page, /^Your membership is canceled\./)
    await press(page, 'Keep my membership')
    await says(page, 'Your membership continues. Good to have you back.')
    site.api.accounts.profile = { ...site.api.accounts.profile, passkeys: [], devices: [] }
    await press(page, /^Remove Maren’s laptop$/)
    await press(page, 'Remove passkey')
    await page.getByRole('button', { name: 'Remove Maren’s laptop' }).waitFor({ state: 'detached' })
    await press(page, 'Delete account')
    await page.getByRole('dialog').getByLabel('Password').fill(goodPassword)
    await press(page, 'Delete permanently')
    await press(page, 'OK')
    await page.waitForURL(`${site.url}/`)
    expect(faults).toEqual([])
  })

  it('fills a cart, checks out, and requests a stock alert', async () => {
    const { page, faults } = await openTranslated()
    await page.goto('/shop')
    await press(page, 'Add Robot Spider to cart')
    await says(page, 'Robot Spider is in your cart.')
    await press(page, 'Add Robot Spider to cart (1 in it)')
    await says(page, 'Your cart now has 2 of Robot Spider.')
    await press(page, 'Remove Robot Spider')
    await press(page, 'Undo')
    await press(page, 'Notify me about the AI Teddy Bear Companion')
    const dialog = page.getByRole('dialog')
    site.api.on('POST /api/shop/notices', (_, nth) =>
      nth === 1
        ? refusal('validation_failed', 'Please check it.', [{ path: 'email', message: 'Enter an email address.' }])
        : { json: {} },
    )
    await press(dialog, 'Notify me')
    await says(dialog, 'Enter an email address.')
    await dialog.getByLabel('Email').fill(member.email)
    await press(dialog, 'Notify me')
    await press(dialog, 'Close')
    await page.getByRole('button', { name: /^Check ?out/i }).click()
    await page.waitForURL('**/card-page')
    expect(faults).toEqual([])
  })

  it('navigates between pages whose prices load late', async () => {
    site.api.delayMs = 200
    const { page, faults } = await openTranslated()
    await page.goto('/')
    for (const { label, to } of [...mainLinks.slice(1), ...mainLinks]) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: label, exact: true }).click()
      await page.waitForURL(`${site.url}${to}`)
      await heading(page).waitFor()
    }
    await page.goto('/robokidslanding')
    await says(page, '$400')
    await page.goto('/news/fall-launch')
    await says(page, '$400')
    expect(faults).toEqual([])
  })

  it('registers for a class when it was translated before hydration', async () => {
    const { page } = await openTranslated('the first moment')
    await page.goto('/robokidspage1')
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
  })
})
