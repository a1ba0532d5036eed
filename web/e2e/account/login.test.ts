import type { SignInStep } from '@robokids/contracts/auth'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { addAuthenticator, goodPassword, logIn, member, messageLine, passwordField, signedUp } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { heading, textsSeen, watchTexts } from '../pages.ts'
import { maren, sampleSteps } from '../stub-accounts.ts'
import { held, refusal } from '../stub-api.ts'

const site = useSite()

const bodiesOf = (path: RegExp) => site.api.callsOf('POST', path).map(({ body }) => body)
const begun = () => bodiesOf(/^\/api\/auth\/sign-in$/)
const answered = () => bodiesOf(/^\/api\/auth\/sign-in\/answer$/)

/** The first form leads to the first step, and each answer to the next; after the last the user is signed in. */
function lead(...steps: (SignInStep | { step: string; options?: object })[]) {
  const [first, ...later] = steps
  let at = 0
  const next = (step: unknown) => {
    if (step) return { json: step }
    site.api.accounts.user = maren
    return { json: { step: 'DONE' } }
  }
  site.api.on('POST /api/auth/sign-in', () => {
    at = 0
    return next(first)
  })
  site.api.on('POST /api/auth/sign-in/answer', () => next(later[at++]))
}

const stepOf = (name: SignInStep['step']) => sampleSteps.find(({ step }) => step === name)!

async function loggedIn(page: Page, text = '✅ Logged in.') {
  await page.getByText(text, { exact: true }).waitFor()
  await page.waitForURL('**/dashboard')
  await page.getByRole('heading', { name: 'No classes yet' }).waitFor()
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

describe('the login', () => {
  it('confirms the login, and continues to the family’s classes', async () => {
    const page = await site.open()
    await logIn(page)
    await loggedIn(page)
    expect(begun()).toEqual([{ email: 'maren.holt@example.com', password: goodPassword }])
    await page.goBack()
    expect(new URL(page.url()).pathname).not.toBe('/membership/login')
  })

  it('clears the error of a field once it is corrected', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    await press(page, 'Log In')
    await page.getByText('Enter your email.').waitFor()
    await page.getByLabel('Email').fill(member.email)
    await page.getByText('Enter your email.').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Email').getAttribute('aria-invalid')).toBeNull()
  })

  it('asks for the name and the password in the specified words', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    await press(page, 'Log In')
    expect(await messageLine(page).innerText()).toBe('username is required to signIn')
    expect(await page.getByLabel('Email').evaluate((field) => field === document.activeElement)).toBe(true)
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Log In')
    expect(await messageLine(page).innerText()).toBe('password is required to signIn')
    expect(await passwordField(page).evaluate((field) => field === document.activeElement)).toBe(true)
    expect(begun()).toHaveLength(0)
  })

  it('shows the password, and its rules as they are met', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    await passwordField(page).fill('robot2030')
    const rules = page.getByRole('list', { name: 'Password rules' }).locator('li')
    expect(await rules.evaluateAll((all) => all.map((rule) => (rule as HTMLElement).dataset['met']))).toEqual([
      'true',
      'false',
      'true',
      'false',
    ])
    await page.getByLabel('Show Password').check()
    expect(await passwordField(page).getAttribute('type')).toBe('text')
  })

  it('says how to proceed after an error that does not say it', async () => {
    const page = await site.open()
    const exceeded = refusal('NotAuthorizedException', 'Password attempts exceeded')
    site.api.on('POST /api/auth/sign-in', () => exceeded)
    await logIn(page)
    await page.getByText('Password attempts exceeded', { exact: true }).waitFor()
    await page.getByText('Wait a minute, then try again').waitFor()
    const lost = refusal('MFAMethodNotFoundException', 'Log in once in a browser that you have logged in with before.')
    site.api.on('POST /api/auth/sign-in', () => lost)
    await press(page, 'Log In')
    await messageLine(page).getByText('If you can’t do that:').waitFor()
    await messageLine(page).getByRole('link', { name: 'write to us' }).click()
    await page.waitForURL('**/contact')
  })

  it.each([
    [
      'the server says why',
      refusal('NotAuthorizedException', 'Incorrect username or password.'),
      'Incorrect username or password.',
    ],
    ['it was tried too often', refusal('TooManyRequestsException', 'Too many requests.'), 'Too many requests.'],
    [
      'many log in at once',
      refusal('busy', 'Many people are logging in right now. Please try again in a moment.'),
      'Many people are logging in right now. Please try again in a moment.',
    ],
    ['the server says nothing', { status: 500, json: {} }, 'Login failed.'],
    ['the connection breaks', { lost: true }, 'Login failed.'],
    ['the answer is no JSON', { status: 502, html: '<h1>Bad gateway</h1>' }, 'Login failed.'],
    ['the answer is something else', { json: { hello: 1 } }, 'Login failed.'],
  ])('tells when %s, and works again', async (_, answer, message) => {
    const page = await site.open()
    site.api.on('POST /api/auth/sign-in', () => answer)
    await logIn(page)
    await eventually(() => messageLine(page).innerText()).toBe(message)
    lead()
    await press(page, 'Log In')
    await loggedIn(page)
  })

  it('rejects a second login, in the specified words', async () => {
    const page = await site.open()
    site.api.on('POST /api/auth/sign-in', () => {
      site.api.accounts.user = maren
      return refusal('already_signed_in', 'There is already a signed in user.')
    })
    await logIn(page)
    await page.getByText('There is already a signed in user.').waitFor()
    await page.getByText('As maren.holt@example.com.').waitFor()
    await press(page, 'Log out to use another account')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(site.api.callsOf('POST', /sign-out$/)).toHaveLength(1)
  })

  it('has the attributes for phone keyboards and password managers', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    expect(await page.getByLabel('Email').getAttribute('autocomplete')).toBe('username')
    expect(await passwordField(page).getAttribute('autocomplete')).toBe('current-password')
    await page.getByLabel('Email').focus()
    await page.keyboard.type(member.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(goodPassword)
    await page.keyboard.press('Enter')
    await loggedIn(page)
  })
})

describe('values that the browser has filled in before hydration', () => {
  /** A page whose script waits until the browser has filled in saved values. */
  async function openFilled(path: string, kept: Record<string, string>): Promise<Page> {
    const page = await site.open()
    const { promise: filled, resolve: letScriptsGo } = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await filled
      await route.continue()
    })
    await page.goto(path, { waitUntil: 'commit' })
    for (const [name, value] of Object.entries(kept)) {
      const field = page.locator(`input[name=${name}]`)
      expect(await field.isDisabled()).toBe(true)
      await field.evaluate((input, text) => {
        ;(input as HTMLInputElement).value = text
      }, value)
    }
    letScriptsGo()
    await page.locator('fieldset:enabled').first().waitFor()
    return page
  }

  it('stay in the login form, and are sent', async () => {
    const page = await openFilled('/membership/login', { email: member.email, password: goodPassword })
    await eventually(() => passwordField(page).inputValue()).toBe(goodPassword)
    expect(await page.getByLabel('Email').inputValue()).toBe(member.email)
    expect(await page.locator('[data-met=true]').count()).toBe(4)
    await press(page, 'Log In')
    await loggedIn(page)
    expect(begun()).toEqual([{ email: member.email, password: goodPassword }])
  })

  it('all stay in the membership registration', async () => {
    const { email, given_name, family_name, zip } = member
    const page = await openFilled('/membership/register', { given_name, family_name, email, zip })
    const draft = () => page.evaluate(() => JSON.parse(sessionStorage.getItem('membershipDraft') ?? '{}'))
    await eventually(draft).toMatchObject({ given_name, family_name, email, zip })
    expect(await page.getByLabel('ZIP').inputValue()).toBe(zip)
    expect(await page.getByLabel('First name').inputValue()).toBe(given_name)
  })
})

describe('the steps of a sign-in', () => {
  it.each([
    ['CONFIRM_SIGN_IN_WITH_TOTP_CODE', 'Enter the code from your app', 'Open your authenticator app'],
    ['CONFIRM_SIGN_IN_WITH_SMS_CODE', 'Enter the code from your phone', 'We texted a code to +*******0123.'],
    ['CONFIRM_SIGN_IN_WITH_EMAIL_CODE', 'Enter the code from your email', 'We emailed a code to m***@e***.'],
  ] as const)('takes the code of %s, and keeps the step when it is wrong', async (name, title, text) => {
    const page = await site.open()
    lead(stepOf(name))
    await logIn(page)
    await page.getByRole('heading', { name: title }).waitFor()
    await page.getByText(text).waitFor()
    const code = page.getByLabel('Code')
    expect(await code.getAttribute('autocomplete')).toBe('one-time-code')
    await press(page, 'Continue')
    expect(await messageLine(page).innerText()).toBe('challengeResponse is required to confirmSignIn')
    site.api.on('POST /api/auth/sign-in/answer', () =>
      refusal('CodeMismatchException', 'Invalid verification code provided, please try again.'),
    )
    await code.fill('000000')
    await press(page, 'Continue')
    await eventually(() => messageLine(page).innerText()).toBe('Invalid verification code provided, please try again.')
    lead()
    await code.fill(' 123456 ')
    await page.getByLabel('Trust this browser').check()
    await press(page, 'Continue')
    await loggedIn(page)
    expect(answered().at(-1)).toEqual({ answer: '123456', trust: true })
  })

  it('sends a new code by replaying the sign-in, and offers another factor', async () => {
    const page = await site.open()
    lead(stepOf('CONTINUE_SIGN_IN_WITH_MFA_SELECTION'), stepOf('CONFIRM_SIGN_IN_WITH_SMS_CODE'))
    await logIn(page)
    await press(page, 'A code by text message')
    await press(page, 'Send a new code')
    await page.getByText('We sent you a new code.').waitFor()
    expect(begun()).toHaveLength(2)
    expect(answered()).toEqual([{ answer: 'SMS' }, { answer: 'SMS' }])
    await press(page, 'Try another way')
    await press(page, 'A code from my authenticator app')
    await page.getByRole('heading', { name: 'Enter the code from your phone' }).waitFor()
    expect(answered().at(-1)).toEqual({ answer: 'TOTP' })
  })

  it('offers another second step in place of the first one, and back', async () => {
    const page = await site.open()
    const delivery = { medium: 'SMS', destination: '+*******0123' }
    const text = { step: 'CONFIRM_SIGN_IN_WITH_SMS_CODE', delivery, others: ['TOTP'] }
    const app = { step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE', others: ['SMS'] }
    lead(app, text, app, text)
    await logIn(page)
    await press(page, 'Text me a code instead')
    await page.getByText('We texted a code to +*******0123.').waitFor()
    await press(page, 'Use my authenticator app instead')
    await page.getByRole('heading', { name: 'Enter the code from your app' }).waitFor()
    await press(page, 'Text me a code instead')
    // Both steps have a field of this name: a code typed before the step has changed would go into the earlier one.
    await page.getByRole('heading', { name: 'Enter the code from your phone' }).waitFor()
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Continue')
    await loggedIn(page)
    expect(answered()).toEqual([
      { answer: 'SMS', instead: true },
      { answer: 'TOTP', instead: true },
      { answer: 'SMS', instead: true },
      { answer: '123456' },
    ])
  })

  it('asks for a new password, and for missing attributes', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED'))
    await logIn(page)
    await page.getByLabel('New password').fill('weak')
    await press(page, 'Set New Password')
    expect(await messageLine(page).innerText()).toContain('❌ Password must include')
    await page.getByLabel('New password').fill('Robot-2031!')
    await press(page, 'Set New Password')
    await page.getByText('Please fill this in.').waitFor()
    await page.getByLabel('First name').fill('Maren')
    site.api.on('POST /api/auth/sign-in/answer', () => ({ status: 500, json: {} }))
    await press(page, 'Set New Password')
    await eventually(() => messageLine(page).innerText()).toBe('Could not set new password.')
    lead()
    await press(page, 'Set New Password')
    await loggedIn(page, '✅ Password updated! You are now logged in.')
    expect(answered().at(-1)).toEqual({ answer: 'Robot-2031!', attributes: { given_name: 'Maren' } })
  })

  it('accepts the short name of the new-password step', async () => {
    const page = await site.open()
    lead({ step: 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD' })
    await logIn(page)
    await page.getByRole('button', { name: 'Set New Password' }).waitFor()
  })

  it.each([
    [{ step: 'UNKNOWN', name: 'MAP_CHALLENGE' }, 'Next step: MAP_CHALLENGE'],
    [{ step: 'UNKNOWN', name: '' }, 'Unknown challenge'],
    [{ step: 'CONFIRM_SIGN_IN_WITH_DANCE' }, 'Next step: CONFIRM_SIGN_IN_WITH_DANCE'],
  ])('names a step that it does not know: %o', async (step, text) => {
    const page = await site.open()
    lead(step)
    await logIn(page)
    await page.getByText(text, { exact: true }).waitFor()
    await press(page, 'Back to Log In')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
  })

  it('offers each first factor once, and then asks for the password', async () => {
    const page = await site.open()
    lead(stepOf('CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION'), stepOf('CONFIRM_SIGN_IN_WITH_PASSWORD'))
    await page.goto('/membership/login')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Other ways to log in')
    await page.getByRole('heading', { name: 'How do you want to log in?' }).waitFor()
    expect(begun()).toEqual([{ email: member.email }])
    expect(await page.locator('main').getByRole('button').allInnerTexts()).toEqual([
      'My password',
      'A code by email',
      'A code by text message',
      'A passkey',
      'Back to Log In',
    ])
    await press(page, 'My password')
    await passwordField(page).fill(goodPassword)
    await press(page, 'Log In')
    await loggedIn(page)
    expect(answered()).toEqual([{ answer: 'PASSWORD_SRP' }, { answer: goodPassword }])
  })

  it('sets up an authenticator app with a picture and the key in text', async () => {
    const page = await site.open()
    lead(stepOf('CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION'), stepOf('CONTINUE_SIGN_IN_WITH_TOTP_SETUP'))
    await logIn(page)
    await press(page, 'A code from my authenticator app')
    const picture = page.getByRole('img', { name: 'QR code for your authenticator app' })
    await picture.waitFor()
    // Dark modules on light, in both color schemes, for cameras.
    expect(await picture.locator('path').getAttribute('d')).toMatch(/^(M\d+ \d+h1v1h-1z){200,}$/)
    expect(await page.locator('main code').innerText()).toBe('JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP')
    await page.getByLabel('Code from the app').fill('123456')
    await press(page, 'Continue')
    await loggedIn(page)
    expect(answered()).toEqual([{ answer: 'TOTP' }, { answer: '123456' }])
  })

  it('sets up codes by email', async () => {
    const page = await site.open()
    lead(stepOf('CONTINUE_SIGN_IN_WITH_EMAIL_SETUP'), stepOf('CONFIRM_SIGN_IN_WITH_EMAIL_CODE'))
    await logIn(page)
    await press(page, 'Send me a code')
    await page.getByText('We emailed a code to').waitFor()
    expect(answered()).toEqual([{ answer: member.email }])
  })

  it("answers a service's custom challenge", async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE'))
    await logIn(page)
    await page.getByText('What is the robot called?').waitFor()
    await page.getByLabel('Your answer').fill('Spider')
    await press(page, 'Continue')
    await loggedIn(page)
    expect(answered()).toEqual([{ answer: 'Spider' }])
  })

  it('confirms the account during a sign-in, and returns to the login', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_UP'))
    await logIn(page)
    await page.getByLabel('Confirmation code').fill('123456')
    await press(page, 'Confirm Account')
    await eventually(() => messageLine(page).innerText()).toBe('✅ Account confirmed! You can now log in.')
    expect(await page.getByLabel('Email').inputValue()).toBe(member.email)
  })

  it('resets a password that has to be reset', async () => {
    const page = await site.open()
    lead(stepOf('RESET_PASSWORD'))
    await logIn(page)
    await press(page, 'Send me a code')
    await page.getByText('We emailed a code to m***@e***.').waitFor()
    await page.getByLabel('Code').fill('123456')
    await page.getByLabel('New password').fill('Robot-2031!')
    await press(page, 'Set New Password')
    await page.getByText('✅ Password updated! You can now log in.').waitFor()
    expect(bodiesOf(/confirm-forgot-password$/)).toEqual([
      { email: member.email, code: '123456', password: 'Robot-2031!' },
    ])
  })

  it('starts again after a step has expired', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_TOTP_CODE'))
    await logIn(page)
    site.api.on('POST /api/auth/sign-in/answer', () =>
      refusal('sign_in_step_expired', 'This login took too long. Please start again.'),
    )
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Continue')
    await eventually(() => messageLine(page).innerText()).toBe('This login took too long. Please start again.')
    expect(await page.getByLabel('Email').inputValue()).toBe(member.email)
  })
})

describe('a reload during a sign-in', () => {
  const kept = (page: Page) => page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))

  it('returns to the code step, and accepts the code', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_EMAIL_CODE'))
    await logIn(page)
    await page.getByRole('heading', { name: 'Enter the code from your email' }).waitFor()
    await page.reload()
    await page.getByText('We emailed a code to m***@e***.').waitFor()
    expect(await kept(page)).not.toContain(goodPassword)
    // The history is lost, and cannot be replayed.
    expect(await page.getByRole('button', { name: 'Send a new code' }).count()).toBe(0)
    await page.getByLabel('Code').fill('123456')
    await page.getByLabel('Trust this browser').check()
    await press(page, 'Continue')
    await loggedIn(page)
    expect(begun()).toHaveLength(1)
    expect(answered()).toEqual([{ answer: '123456', trust: true }])
    expect(await kept(page)).not.toContain('m***@e***')
  })

  it('starts at the first form when the login page is opened by its address', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_EMAIL_CODE'))
    await logIn(page)
    await page.getByRole('heading', { name: 'Enter the code from your email' }).waitFor()
    await page.goto('/membership/login')
    expect(await heading(page).innerText()).toBe('Log in')
  })

  it('returns to the new password step, which ends with it or by going back', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Forgot your password?')
    await press(page, 'Send me a code')
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    await page.reload()
    await page.getByText('We emailed a code to m***@e***.').waitFor()
    await page.getByLabel('Code').fill('123456')
    await page.getByLabel('New password').fill('Robot-2031!')
    await press(page, 'Set New Password')
    await page.getByText('✅ Password updated! You can now log in.').waitFor()
    expect(bodiesOf(/confirm-forgot-password$/)).toEqual([
      { email: member.email, code: '123456', password: 'Robot-2031!' },
    ])
    await page.reload()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()

    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Forgot your password?')
    await press(page, 'Send me a code')
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
    await press(page, 'Back to Log In')
    await page.reload()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    expect(await kept(page)).not.toContain('m***@e***')
  })
})

describe('a response that arrives after going back to the login', () => {
  it('does not sign in over the email that is being typed', async () => {
    const page = await site.open()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_TOTP_CODE'))
    await logIn(page)
    const { handler, release } = held(() => ({ json: { step: 'DONE' } }))
    site.api.on('POST /api/auth/sign-in/answer', handler)
    await page.getByLabel('Code').fill('123456')
    await press(page, 'Continue')
    await eventually(answered).toHaveLength(1)
    const cut = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/sign-in/answer'))
    await press(page, 'Back to Log In')
    await cut
    await page.getByLabel('Email').fill('ivo.holt@example.com')
    release()
    lead(stepOf('CONFIRM_SIGN_IN_WITH_SMS_CODE'))
    await passwordField(page).fill(goodPassword)
    await press(page, 'Log In')
    await page.getByRole('heading', { name: 'Enter the code from your phone' }).waitFor()
    expect(begun().at(-1)).toEqual({ email: 'ivo.holt@example.com', password: goodPassword })
  })

  it('does not open the form for a new password', async () => {
    const page = await site.open()
    const { handler, release } = held(() => ({
      json: { delivery: { medium: 'EMAIL', destination: 'm***@e***' } },
    }))
    site.api.on('POST /api/auth/forgot-password', handler)
    await page.goto('/membership/login')
    await press(page, 'Forgot your password?')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Send me a code')
    await eventually(() => bodiesOf(/forgot-password$/)).toHaveLength(1)
    await press(page, 'Back to Log In')
    await page.getByLabel('Email').fill('ivo.holt@example.com')
    const came = page.waitForResponse('**/api/auth/forgot-password')
    release()
    await (await came).finished()
    // A later input was handled, so the earlier response was, too.
    lead(stepOf('CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION'))
    await press(page, 'Other ways to log in')
    await page.getByRole('heading', { name: 'How do you want to log in?' }).waitFor()
    expect(begun()).toEqual([{ email: 'ivo.holt@example.com' }])
  })
})

describe('a forgotten password', () => {
  it('is replaced with a code', async () => {
    const page = await site.open()
    await page.goto('/membership/login')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Forgot your password?')
    await press(page, 'Send me a code')
    await page.getByText('We emailed a code to m***@e***.').waitFor()
    expect(bodiesOf(/forgot-password$/)).toEqual([{ email: member.email }])
    await page.getByLabel('Code').fill('123456')
    await page.getByLabel('New password').fill('weak')
    await press(page, 'Set New Password')
    expect(await messageLine(page).innerText()).toContain('❌ Password must include')
    site.api.on('POST /api/auth/confirm-forgot-password', () =>
      refusal('ExpiredCodeException', 'Invalid code provided, please request a code again.'),
    )
    await page.getByLabel('New password').fill(goodPassword)
    await press(page, 'Set New Password')
    await eventually(() => messageLine(page).innerText()).toBe('Invalid code provided, please request a code again.')
    site.api.on('POST /api/auth/confirm-forgot-password', () => ({ status: 500, json: {} }))
    await press(page, 'Set New Password')
    await eventually(() => messageLine(page).innerText()).toBe('Could not set new password.')
    site.api.on('POST /api/auth/confirm-forgot-password', () => ({ json: {} }))
    await press(page, 'Set New Password')
    await page.getByText('✅ Password updated! You can now log in.').waitFor()
  })
})

describe('a passkey', () => {
  const passkeyStep = {
    step: 'CONFIRM_SIGN_IN_WITH_PASSKEY',
    options: { challenge: 'AAAAAAAAAAAAAAAAAAAAAA', rpId: 'localhost' },
  }
  const creation = {
    challenge: 'AAAAAAAAAAAAAAAAAAAAAA',
    rp: { id: 'localhost', name: 'Robo Kids Learning' },
    user: { id: 'bWFyZW4', name: 'maren.holt@example.com', displayName: 'Maren Holt' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  }

  it.each([
    ['today', []],
    [
      'before they read and write the JSON of passkeys',
      ['parseCreationOptionsFromJSON', 'parseRequestOptionsFromJSON', 'toJSON'],
    ],
  ])('signs in once it was added, with the browsers of %s', async (_, missing) => {
    const page = await site.open()
    await page.addInitScript((names) => {
      for (const name of names) {
        Reflect.deleteProperty(PublicKeyCredential, name)
        Reflect.deleteProperty(PublicKeyCredential.prototype, name)
      }
    }, missing)
    site.api.accounts.user = maren
    site.api.on('POST /api/profile/passkeys/options', () => ({ json: { options: creation } }))
    const authenticator = await addAuthenticator(page)
    await page.goto('/profile')
    await press(page, 'Add a passkey')
    await page.getByText('Your passkey is ready.').waitFor()
    const [key] = await authenticator.credentials()
    const base64url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    const id = base64url(key!.credentialId)
    expect(bodiesOf(/^\/api\/profile\/passkeys$/)).toMatchObject([
      {
        credential: {
          id,
          type: 'public-key',
          response: { clientDataJSON: expect.any(String), attestationObject: expect.any(String) },
        },
      },
    ])

    site.api.accounts.user = null
    const allowCredentials = [{ type: 'public-key', id }]
    lead({ ...passkeyStep, options: { ...passkeyStep.options, allowCredentials } })
    await page.goto('/membership/login')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Log in with a passkey')
    await press(page, 'Use my passkey')
    expect(begun()).toEqual([{ email: member.email, preferred: 'WEB_AUTHN' }])
    await loggedIn(page)
    expect(answered()).toMatchObject([
      {
        answer: {
          id,
          rawId: id,
          type: 'public-key',
          response: {
            clientDataJSON: expect.stringMatching(/^[\w-]+$/),
            authenticatorData: expect.stringMatching(/^[\w-]+$/),
            signature: expect.stringMatching(/^[\w-]+$/),
            userHandle: 'bWFyZW4',
          },
        },
      },
    ])
    const [{ answer }] = answered() as [{ answer: { response: { clientDataJSON: string } } }]
    const clientData: unknown = JSON.parse(Buffer.from(answer.response.clientDataJSON, 'base64url').toString())
    expect(clientData).toMatchObject({ type: 'webauthn.get', challenge: 'AAAAAAAAAAAAAAAAAAAAAA' })
  })

  it('says why it could not be used', async () => {
    const page = await site.open()
    const authenticator = await addAuthenticator(page)
    lead({ step: 'CONFIRM_SIGN_IN_WITH_PASSKEY', options: { ...passkeyStep.options, rpId: 'robokids.example' } })
    await logIn(page)
    await press(page, 'Use my passkey')
    await eventually(() => messageLine(page).innerText()).toBe(
      'This passkey belongs to another site: the relying party does not match this address.',
    )
    expect(answered()).toHaveLength(0)

    await authenticator.refuse()
    lead({
      step: 'CONFIRM_SIGN_IN_WITH_PASSKEY',
      options: { ...passkeyStep.options, timeout: 500, userVerification: 'required' },
    })
    await logIn(page)
    await press(page, 'Use my passkey')
    await eventually(() => messageLine(page).innerText()).toBe('The passkey request was canceled or took too long.')

    for (const [name, text] of [
      ['AbortError', 'The passkey request was aborted.'],
      ['NotSupportedError', 'This browser or device does not support passkeys.'],
    ] as const) {
      await page.evaluate((error) => {
        navigator.credentials.get = async () => {
          throw new DOMException('No', error)
        }
      }, name)
      await press(page, 'Use my passkey')
      await eventually(() => messageLine(page).innerText()).toBe(text)
    }
    await page.evaluate(() => Object.assign(window, { PublicKeyCredential: undefined }))
    await press(page, 'Use my passkey')
    await eventually(() => messageLine(page).innerText()).toBe('This browser or device does not support passkeys.')
  })
})

describe('the confirmation of an account', () => {
  it('uses the email in the URL, and the code', async () => {
    const page = await site.open()
    await page.goto('/confirm?email=maren.holt%40example.com')
    expect(await heading(page).innerText()).toBe('Confirm Your Email')
    await eventually(() => page.getByLabel('Email').inputValue()).toBe(member.email)
    await press(page, 'Confirm Account')
    expect(await messageLine(page).innerText()).toBe('code is required to confirmSignUp')
    site.api.on('POST /api/auth/confirm-sign-up', () => ({ status: 500, json: {} }))
    await page.getByLabel('Confirmation code').fill(' 123456 ')
    await press(page, 'Confirm Account')
    await eventually(() => messageLine(page).innerText()).toBe('Something went wrong.')
    site.api.on('POST /api/auth/confirm-sign-up', () => ({ json: { signedIn: false } }))
    await press(page, 'Confirm Account')
    await page.getByText('✅ Account confirmed! You can now log in.').waitFor()
    expect(bodiesOf(/confirm-sign-up$/).at(-1)).toEqual({ email: member.email, code: '123456' })
    await page.locator('main').getByRole('link', { name: 'Log In' }).click()
    await page.waitForURL('**/membership/login')
  })

  it('asks for the password in another browser than the one that signed up', async () => {
    const page = await site.open()
    const message = 'You signed up in a different browser. Please enter the password you chose.'
    site.api.on('POST /api/auth/confirm-sign-up', () => refusal('password_required', message))
    await page.goto('/confirm')
    await page.getByLabel('Email').fill(member.email)
    await page.getByLabel('Confirmation code').fill('123456')
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0)
    await press(page, 'Confirm Account')
    await page.getByLabel('Password', { exact: true }).fill(goodPassword)
    expect(await messageLine(page).innerText()).toBe(message)
    site.api.on('POST /api/auth/confirm-sign-up', () => ({ json: { signedIn: false } }))
    await press(page, 'Confirm Account')
    await page.getByText('✅ Account confirmed! You can now log in.').waitFor()
    expect(bodiesOf(/confirm-sign-up$/).at(-1)).toEqual({
      email: member.email,
      code: '123456',
      password: goodPassword,
    })
  })

  it('leads a user who never chose a password to a new one, which is theirs alone', async () => {
    const page = await site.open()
    const message = 'You signed up in a different browser. Please enter the password you chose.'
    site.api.on('POST /api/auth/confirm-sign-up', () => refusal('password_required', message))
    await page.goto('/confirm?email=maren.holt%40example.com')
    await page.getByLabel('Confirmation code').fill('123456')
    await press(page, 'Confirm Account')
    await page.getByText('Didn’t sign up yourself?').waitFor()
    await press(page, 'Choose a new password')
    await page.waitForURL('**/membership/login')
    await eventually(() => heading(page).innerText()).toBe('Forgot your password')
    expect(await page.getByLabel('Email').inputValue()).toBe(member.email)
    await press(page, 'Send me a code')
    await eventually(() => bodiesOf(/forgot-password$/)).toEqual([{ email: member.email }])
  })

  it('says that the user is logged in already, and offers to continue', async () => {
    const page = await site.open()
    site.api.on('POST /api/auth/confirm-sign-up', () => {
      site.api.accounts.user = maren
      return { json: { signedIn: true } }
    })
    await signedUp(page)
    await page.goto('/confirm')
    await eventually(() => page.getByLabel('Email').inputValue()).toBe(member.email)
    await page.getByLabel('Confirmation code').fill('123456')
    await press(page, 'Confirm Account')
    await page.getByText('✅ Account confirmed! You can now log in.').waitFor()
    await page.getByText('You’re already logged in').waitFor()
    await page.getByRole('link', { name: 'Go to your classes' }).click()
    await page.getByRole('heading', { name: 'No classes yet' }).waitFor()
  })

  it('sends a new code', async () => {
    const page = await site.open()
    await page.goto('/confirm')
    await press(page, 'Send a new code')
    expect(await messageLine(page).innerText()).toBe('username is required to confirmSignUp')
    await page.getByLabel('Email').fill(member.email)
    await press(page, 'Send a new code')
    await eventually(() => messageLine(page).innerText()).toBe('We emailed a new code to m***@e***.')
    site.api.on('POST /api/auth/resend-code', () =>
      refusal('LimitExceededException', 'Attempt limit exceeded, please try after some time.'),
    )
    await press(page, 'Send a new code')
    await eventually(() => messageLine(page).innerText()).toBe('Attempt limit exceeded, please try after some time.')
  })
})

describe('the return from an external sign-in', () => {
  it.each([
    ['home with a session', () => ({ delayMs: 400, json: { user: maren } }), '/'],
    ['to the login without one', () => ({ delayMs: 400, json: { user: null } }), '/membership/login'],
    ['to the login on an error', () => refusal('not_found', 'Nothing here.'), '/membership/login'],
  ])('goes %s, in place of its own address', async (_, answer, path) => {
    const page = await site.open()
    await watchTexts(page)
    await page.goto('/membership')
    site.api.on('GET /api/auth/session', answer)
    await page.goto('/oauth-redirect?code=1')
    await eventually(() => new URL(page.url()).pathname).toBe(path)
    expect(await textsSeen(page)).toContain('Processing login...')
    await page.goBack()
    await eventually(() => new URL(page.url()).pathname).toBe('/membership')
  })
})
