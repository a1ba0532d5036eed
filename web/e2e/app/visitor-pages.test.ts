import type { ErrorCode, ErrorDetails } from '@robokids/contracts/errors'
import { renewalTermsVersion } from '@robokids/contracts/membership'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleAgreement } from '../../src/checkout/sample-agreement.ts'
import { sampleMembership } from '../../src/membership/sample-membership.ts'
import { sampleView } from '../../src/registration/sample-view.ts'
import { sampleOrder } from '../../src/shop/sample-order.ts'
import { fillRegistration, logIn, passwordField, proceedButton, signedUp } from '../accounts.ts'
import { useSite } from '../fixture.ts'
import { faultsOf, fillSignUp, firstOpenDate, layoutShift, settled, submitButton, watchLayoutShift } from '../pages.ts'
import { draw } from '../screenshots.ts'
import { maren, sampleProfile, sampleSteps } from '../stub-accounts.ts'
import { type Answer, held, refusal } from '../stub-api.ts'

const site = useSite()

/** Personal pages: how to get to each state, and what it looks like. The public pages are in `routes.test.ts`. */
interface Screen {
  name: string
  open: (page: Page) => Promise<unknown>
  /** It appears by itself, and must not shift. */
  still?: boolean
  /** It shows the loading state. */
  busy?: boolean
}

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

async function look(screens: readonly Screen[], prepare?: (page: Page) => Promise<void>): Promise<void> {
  const page = await site.open({
    viewport: { width: 360, height: 740 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  await watchLayoutShift(page)
  await prepare?.(page)
  for (const { name, open, still = false, busy = false } of screens) {
    await open(page)
    if (!busy) await settled(page)
    if (still) expect([name, await layoutShift(page)]).toEqual([name, 0])
    await draw(page, name)
    expect([name, await faultsOf(page)]).toEqual([name, []])
  }
}

const answersWith = (route: string, json: unknown): void => site.api.on(route, (): Answer => ({ json, delayMs: 100 }))

async function openProfile(page: Page) {
  site.api.accounts.user = maren
  site.api.accounts.profile = sampleProfile({ mfa: { enabled: ['EMAIL'], preferred: 'EMAIL' } })
  site.api.accounts.membership = sampleMembership
  await page.goto('/profile')
  await title(page, 'Maren Holt')
  await page.getByText('RK-000031').waitFor()
}

const registration = sampleView().registrationId
const reference = '019a0000-0000-7000-8000-0000000000b1'
describe('passes the heading, link, overflow and axe checks in light and dark, from 360 to 1440 px', () => {
  it('in empty states', async () => {
    await look([
      {
        name: '/membership/register with all it finds wrong',
        open: async (page) => {
          await page.goto('/membership/register')
          await passwordField(page).fill('Robot')
          await proceedButton(page).click()
          await page.locator('[aria-invalid]').first().waitFor()
        },
      },
      {
        name: '/membership/login with a refusal',
        open: async (page) => {
          await page.goto('/membership/login')
          await passwordField(page).fill('Robot1')
          await page.getByRole('button', { name: 'Log In', exact: true }).click()
          await page.locator('[aria-invalid]').first().waitFor()
        },
      },
      {
        name: 'a forgotten password',
        open: async (page) => {
          await page.goto('/membership/login')
          await page.getByLabel('Email').fill(maren.email)
          await page.getByRole('button', { name: 'Forgot your password?' }).click()
          await page.getByRole('button', { name: 'Send me a code' }).click()
          await title(page, 'Choose a new password')
        },
      },
      {
        name: '/success without data',
        still: true,
        open: async (page) => {
          await page.goto('/success')
          await page.getByText('Registration info not found.').waitFor()
        },
      },
      {
        name: '/robokids/success without data',
        still: true,
        open: async (page) => {
          await page.goto('/robokids/success')
          await page.getByText('No user data found. Please register again.').waitFor()
        },
      },
      {
        name: '/robokids-payment without data',
        still: true,
        open: async (page) => {
          await page.goto('/robokids-payment')
          await page.locator('main h1').waitFor()
        },
      },
      {
        name: '/waiver without data',
        open: async (page) => {
          await page.goto('/waiver')
          await page.getByText('Registration info missing. Please return to the form.').waitFor()
        },
      },
      {
        name: '/shop/success without data',
        still: true,
        open: async (page) => {
          await page.goto('/shop/success')
          await page.getByText('We can’t find an order with this reference.').waitFor()
        },
      },
      {
        name: '/shop/notice without data',
        still: true,
        open: async (page) => {
          await page.goto('/shop/notice')
          await page.locator('main h1').waitFor()
        },
      },
      {
        name: 'an address without a page',
        still: true,
        open: async (page) => {
          await page.goto('/no/such/page')
          await title(page, 'This page took itself apart')
        },
      },
      {
        name: 'the design system with a toast',
        busy: true,
        open: async (page) => {
          await page.goto('/design-system')
          await page.getByRole('button', { name: 'Show a toast' }).click()
          await page.getByRole('status').getByText('Robot Spider is in your cart.').waitFor()
        },
      },
      {
        name: 'a page that broke',
        open: async (page) => {
          await page.goto('/design-system')
          await page.getByRole('button', { name: 'A page that breaks' }).click()
          await page.getByRole('button', { name: 'A page that breaks' }).waitFor({ state: 'detached' })
        },
      },
      {
        name: '/oauth-redirect',
        busy: true,
        open: async (page) => {
          site.api.on('GET /api/auth/session', () => ({ delayMs: 20_000, json: { user: null } }))
          await page.goto('/oauth-redirect')
          await title(page, 'Processing login...')
        },
      },
    ])
  }, 180_000)

  it('after a sign-up', async () => {
    await look(
      [
        {
          name: '/confirm',
          open: async (page) => {
            await page.goto('/confirm')
            await title(page, 'Confirm Your Email')
          },
        },
        {
          name: '/success',
          still: true,
          open: async (page) => {
            await page.goto('/success')
            await title(page, 'Payment Successful!')
          },
        },
        {
          name: '/success of a payment that goes back',
          still: true,
          open: async (page) => {
            answersWith('GET /api/membership-checkouts/:reference', {
              attemptId: reference,
              status: 'refused',
              refusal: 'class_full',
              checkoutUrl: null,
              plan: 'monthly',
              classDate: '2030-01-04',
              amount: 700,
              currency: 'usd',
              receiptNumber: 'RK-000031',
              refunded: 700,
            })
            await page.goto(`/success?reference=${reference}`)
            await title(page, 'Your payment is being refunded')
          },
        },
      ],
      signedUp,
    )
  }, 120_000)

  it('at each step of a sign-in', async () => {
    await look(
      sampleSteps.map((step) => ({
        name: step.step,
        open: async (page: Page) => {
          site.api.on('POST /api/auth/sign-in', () => ({ json: step }))
          await logIn(page)
          await page.getByRole('button', { name: 'Back to Log In' }).waitFor()
          if (step.step === 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP')
            await page.getByRole('img', { name: 'QR code' }).waitFor()
        },
      })),
    )
  }, 180_000)

  it('when signed in', async () => {
    await look([
      { name: '/profile', open: openProfile },
      {
        name: 'the question whether to cancel a membership',
        open: async (page) => {
          await openProfile(page)
          await page.getByRole('button', { name: 'Cancel membership' }).click()
          await page.getByRole('button', { name: 'Yes, cancel it' }).waitFor()
        },
      },
      {
        name: '/profile with its forms open',
        open: async (page) => {
          await openProfile(page)
          await page.getByRole('button', { name: 'Edit' }).click()
          await page.getByLabel('First name').waitFor()
          await page.getByRole('button', { name: 'Set up (Authenticator app)' }).click()
          await page.getByRole('img', { name: 'QR code' }).waitFor()
        },
      },
      {
        name: 'the question before an account is deleted',
        open: async (page) => {
          await openProfile(page)
          await page.getByRole('button', { name: 'Delete account' }).click()
          await page.getByRole('dialog').waitFor()
        },
      },
    ])
  }, 120_000)

  it('after something changed meanwhile', async () => {
    const refusedFor = (route: string, code: ErrorCode, details: ErrorDetails) =>
      site.api.on(route, () => refusal(code, 'It is another one now.', undefined, details))
    const question = (page: Page) => page.getByRole('alertdialog').waitFor()
    const running = { ...sampleMembership, unpaid: null }
    const second = { ...running, membershipId: '019a0000-0000-7000-8000-0000000000b2' }
    await look([
      {
        name: 'another price than the one that was agreed to',
        open: async (page) => {
          refusedFor('POST /api/registrations', 'price_changed', { agreement: sampleAgreement() })
          await page.goto('/robokidspage1')
          await fillSignUp(page)
          await submitButton(page).click()
          await question(page)
        },
      },
      {
        name: 'other terms than those that were agreed to',
        open: async (page) => {
          const terms = {
            kind: 'membership',
            lines: [{ sku: 'membership:monthly', quantity: 1, unitAmount: 900 }],
            date: '2030-01-04',
            dueNow: 900,
            renewal: { plan: 'monthly', amount: 900, on: null },
            termsVersion: renewalTermsVersion,
          } as const
          refusedFor('POST /api/createStripeSession', 'terms_changed', {
            agreement: sampleAgreement({ ...terms, lines: [...terms.lines] }),
          })
          await page.goto('/membership/register')
          await fillRegistration(page)
          await proceedButton(page).click()
          await question(page)
        },
      },
      {
        name: 'a registration that is paid already',
        open: async (page) => {
          refusedFor('POST /api/registrations', 'already_paid', { reference })
          await page.goto('/robokidspage1')
          await firstOpenDate(page)
          await submitButton(page).click()
          await question(page)
        },
      },
      {
        name: 'another account',
        open: async (page) => {
          await openProfile(page)
          site.api.accounts.user = { ...maren, userId: reference, email: 'noor.lind@example.com' }
          refusedFor('POST /api/membership/cancel', 'other_account', {})
          await page.getByRole('button', { name: 'Cancel membership' }).click()
          await page.getByRole('button', { name: 'Yes, cancel it' }).click()
          await page.getByText('noor.lind@example.com is now logged in').waitFor()
        },
      },
      {
        name: '/profile with a second membership, and a payment that the bank wants confirmed',
        open: async (page) => {
          site.api.accounts.others = [second]
          await openProfile(page)
          site.api.accounts.membership = {
            ...sampleMembership,
            unpaid: { amount: 700, attempts: 1, nextTryAt: null, confirmUrl: 'https://pay.example.com/confirm' },
          }
          await page.reload()
          await page.getByText('Your bank needs you to confirm').waitFor()
          await page.getByRole('region', { name: 'Your second membership' }).waitFor()
        },
      },
      {
        name: 'a bank that asks to confirm a change of plan',
        open: async (page) => {
          const url = 'https://pay.example.com/confirm'
          refusedFor('POST /api/membership/switch', 'payment_confirmation_required', { url })
          site.api.on('POST /api/membership/quote', () => ({
            json: {
              plan: 'yearly',
              from: '2026-11-28T10:00:00.000Z',
              dueNow: 5_500,
              credit: 500,
              amount: 6_000,
              currency: 'usd',
              nextChargeAt: '2027-11-28T10:00:00.000Z',
              reckonedAt: 1_900_000_000,
            },
          }))
          await openProfile(page)
          await page.getByRole('button', { name: 'Pay by the year' }).click()
          await page.getByRole('button', { name: 'Pay $55.00 now' }).click()
          await question(page)
        },
      },
      {
        name: '/membership/register of somebody who is signed in',
        open: async (page) => {
          site.api.accounts.user = maren
          await page.goto('/membership/register')
          await page.getByText(`You’re logged in as ${maren.email}.`).waitFor()
        },
      },
    ])
  }, 180_000)

  it('after another user, and at limits', async () => {
    const seat = {
      membershipId: reference,
      status: 'seated',
      classDate: '2030-01-04',
      startTime: '16:00',
      waiverSignedAt: '2026-11-28T18:00:00.000Z',
      signed: { waiverId: registration, guardianName: 'Mallory Fox', childNames: ['Nobody'] },
    }
    const alert = (page: Page) => page.getByRole('alertdialog').waitFor()
    const slow = held(() => ({}))
    await look([
      {
        name: 'a waiver that somebody else signed',
        open: async (page) => {
          answersWith('GET /api/member-seats/:reference', seat)
          await page.goto(`/waiver?membership=${reference}`)
          await page.getByRole('button', { name: 'Sign it again' }).waitFor()
        },
      },
      {
        name: 'too many seats that are held and not paid',
        open: async (page) => {
          const words = '10 seats are held for your family but not paid yet. Please pay for the seats you want to keep.'
          site.api.on('POST /api/registrations', () => refusal('too_many_unpaid', words))
          await page.goto('/robokidspage1')
          await fillSignUp(page)
          await submitButton(page).click()
          await alert(page)
        },
      },
      {
        name: 'too many orders that are not paid',
        open: async (page) => {
          const words = 'You have 10 unpaid orders. Please pay for one of them, or wait half an hour.'
          site.api.on('POST /api/checkout', () => refusal('too_many_unpaid', words))
          await page.goto('/shop')
          await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
          await page.getByRole('button', { name: 'Check out' }).click()
          await page.getByText(words).first().waitFor()
        },
      },
      {
        name: 'a membership of a user who was signed in and no longer is',
        open: async (page) => {
          site.api.on('POST /api/createStripeSession', () =>
            refusal('sign_in_required', 'You are not signed in any more. Please log in again.'),
          )
          await page.goto('/membership/register')
          await fillRegistration(page)
          await proceedButton(page).click()
          await page.getByText('not signed in any more').first().waitFor()
        },
      },
      {
        name: 'a form whose proof of work is not done yet',
        busy: true,
        open: async (page) => {
          site.api.on('GET /api/proof', slow.handler)
          await page.goto('/robokidspage2')
          await fillSignUp(page)
          await submitButton(page).click()
          await page.getByRole('button', { name: 'Processing...' }).waitFor()
        },
      },
    ])
    slow.release()
  }, 180_000)

  it('with refunds', async () => {
    const back = { amount: 40_000, currency: 'usd', reason: 'requested' } as const
    const dispute = { amount: 40_000, currency: 'usd', status: 'needs_response' } as const
    const paid = { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z' } as const
    const whole = { amount: 60_000, currency: 'usd', reason: 'requested' } as const
    site.api.delayMs = 100
    const registrationOf = (
      name: string,
      heading: string,
      path: string,
      view: Parameters<typeof sampleView>,
    ): Screen => ({
      name,
      // The stored receipt gets its amounts from the server.
      still: path !== '/robokids/receipt',
      open: async (page) => {
        site.api.tell(sampleView(...view))
        await page.goto(`${path}?reference=${registration}`)
        await title(page, heading)
      },
    })
    const orderOf = (name: string, heading: string, order: Partial<typeof sampleOrder>): Screen => ({
      name,
      still: true,
      open: async (page) => {
        answersWith('GET /api/orders/:reference', { ...sampleOrder, orderId: reference, ...order })
        await page.goto(`/shop/success?reference=${reference}`)
        await title(page, heading)
      },
    })
    await look([
      registrationOf(
        'a registration whose money is on its way back',
        'Your refund is on its way',
        '/robokids/success',
        [{ status: 'confirmed' }, { ...paid, refunds: [{ ...back, status: 'pending' }] }],
      ),
      registrationOf('the receipt of one that was cancelled, and is owed', 'Receipt', '/robokids/receipt', [
        { status: 'cancelled' },
        { ...paid, refunds: [{ ...back, status: 'failed' }] },
      ]),
      registrationOf('the waiver of one whose payment is disputed', 'Your payment is disputed', '/robokids/waiver', [
        { status: 'confirmed' },
        { ...paid, disputes: [dispute] },
      ]),
      orderOf('an order that is owed', 'Your order is canceled', {
        status: 'refunded',
        refunds: [{ ...whole, status: 'failed' }],
      }),
      orderOf('an order that came back', 'Your returned order is refunded', {
        status: 'refunded',
        shippedAt: '2025-09-25T17:00:00.000Z',
        refunds: [{ ...whole, status: 'succeeded' }],
      }),
    ])
  }, 120_000)

  it('during an enrollment and an order', async () => {
    const paid = { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z' } as const
    site.api.delayMs = 100
    await look([
      {
        name: '/robokidspage1 with all it finds wrong',
        open: async (page) => {
          await page.goto('/robokidspage1')
          await page.getByRole('button', { name: 'Continue to payment' }).click()
          await page.locator('[aria-invalid]').first().waitFor()
        },
      },
      {
        name: '/robokids-payment',
        still: true,
        open: async (page) => {
          site.api.tell(sampleView())
          await page.goto(`/robokids-payment?reference=${registration}`)
          await page.getByRole('button', { name: 'Pay $400.00 by card' }).waitFor()
        },
      },
      {
        name: '/robokids/success while the payment is processed',
        still: true,
        open: async (page) => {
          site.api.tell(sampleView({}, { status: 'processing' }))
          await page.goto(`/robokids/success?reference=${registration}`)
          await title(page, 'Your payment is being processed')
        },
      },
      {
        name: '/robokids/success',
        still: true,
        open: async (page) => {
          site.api.tell(sampleView({ status: 'confirmed' }, paid))
          await page.goto(`/robokids/success?reference=${registration}`)
          await title(page, "You're Registered")
        },
      },
      {
        name: '/robokids/waiver',
        open: async (page) => {
          await page.goto(`/robokids/waiver?reference=${registration}`)
          await page.getByLabel('I have read the waiver and agree to it.').and(page.locator(':enabled')).waitFor()
        },
      },
      {
        name: '/robokids/receipt',
        open: async (page) => {
          site.api.tell(sampleView({ status: 'waiver_signed', waiverSignedAt: '2025-09-20T18:00:00.000Z' }, paid))
          await page.goto(`/robokids/success?reference=${registration}`)
          await page.getByRole('link', { name: /receipt/i }).click()
          await page.waitForURL('**/robokids/receipt**')
          await page.getByText('RK-000123').waitFor()
        },
      },
      {
        name: '/shop/success',
        still: true,
        open: async (page) => {
          answersWith('GET /api/orders/:reference', { ...sampleOrder, orderId: reference })
          await page.goto(`/shop/success?reference=${reference}`)
          await title(page, 'Thank you for your pre-order')
        },
      },
      {
        name: '/shop/notice',
        still: true,
        open: async (page) => {
          answersWith('GET /api/shop/notices/:reference', {
            sku: 'product:ai-teddy-bear',
            productName: 'AI Teddy Bear Companion',
            status: 'unconfirmed',
          })
          await page.goto(`/shop/notice?reference=${reference}`)
          await page.getByRole('button', { name: 'Yes, notify me' }).waitFor()
        },
      },
      {
        name: '/shop with things in the cart',
        open: async (page) => {
          await page.goto('/shop')
          await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
          await page.getByRole('button', { name: 'Check out' }).waitFor()
        },
      },
    ])
  }, 180_000)
})
