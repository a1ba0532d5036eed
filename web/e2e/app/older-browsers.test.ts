import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sampleView } from '../../src/registration/sample-view.ts'
import { fillRegistration, logIn, messageLine, proceedButton } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { fillSignUp, firstOpenDate, heading, signWaiver, submitButton } from '../pages.ts'
import { maren } from '../stub-accounts.ts'

const site = useSite()
const registration = sampleView().registrationId
const paid = { status: 'paid', url: null, receiptNumber: 'RK-000123', paidAt: '2025-09-20T17:05:00.000Z' } as const

/** Features newer than four years, missing in in-app browsers or on http, or subject to permission. */
const newer = [
  'AbortSignal.any',
  'AbortSignal.timeout',
  'Array.fromAsync',
  'Array.prototype.toReversed',
  'Array.prototype.toSorted',
  'Array.prototype.toSpliced',
  'Array.prototype.with',
  'AsyncIterator',
  'CSS.registerProperty',
  'Document.prototype.startViewTransition',
  'Error.isError',
  'HTMLElement.prototype.hidePopover',
  'HTMLElement.prototype.showPopover',
  'Intl.DurationFormat',
  'Intl.Segmenter',
  'IntersectionObserver',
  'Iterator',
  'Map.groupBy',
  'Math.sumPrecise',
  'Navigator.prototype.clipboard',
  'Navigator.prototype.connection',
  'Navigator.prototype.locks',
  'Navigator.prototype.mediaSession',
  'Navigator.prototype.pdfViewerEnabled',
  'Navigator.prototype.serviceWorker',
  'Navigator.prototype.share',
  'Navigator.prototype.userActivation',
  'Navigator.prototype.userAgentData',
  'Notification',
  'Object.groupBy',
  'PerformanceObserver',
  'Promise.try',
  'Promise.withResolvers',
  'PublicKeyCredential',
  'RegExp.escape',
  'Set.prototype.difference',
  'Set.prototype.intersection',
  'Set.prototype.isSubsetOf',
  'Set.prototype.union',
  'SharedWorker',
  'String.prototype.isWellFormed',
  'String.prototype.toWellFormed',
  'Temporal',
  'URL.canParse',
  'URL.parse',
  'URLPattern',
  'Uint8Array.fromBase64',
  'Worker',
  'caches',
  'cookieStore',
  'crypto.randomUUID',
  'crypto.subtle',
  'indexedDB',
  'navigation',
  'print',
  'reportError',
  'requestIdleCallback',
  'scheduler',
  'structuredClone',
  'trustedTypes',
] as const

/** Removes interfaces before any script of the page runs. */
async function without(page: Page, interfaces: readonly string[]): Promise<void> {
  await page.addInitScript((names) => {
    // Not in the browser's PDF viewer, which has its own document.
    if (!location.protocol.startsWith('http')) return
    for (const name of names) {
      const path = name.split('.')
      const last = path.pop() ?? ''
      let owner: object | null | undefined = window
      for (const step of path) owner = (owner as Record<string, object> | undefined)?.[step]
      // It may be on a prototype, like `crypto.subtle`.
      while (owner && !Object.hasOwn(owner, last)) owner = Object.getPrototypeOf(owner) as object | null
      if (owner && !Reflect.deleteProperty(owner, last)) throw new Error(`${name} cannot be taken away.`)
    }
  }, interfaces)
}

describe('a browser without features that are newer than four years', () => {
  it('registers a child, signs the waiver, and keeps the receipt, which it cannot print', async () => {
    const page = await site.open()
    await without(page, newer)
    await page.goto('/robokidspage1')
    expect(await page.evaluate(() => 'print' in window || 'isWellFormed' in String.prototype)).toBe(false)
    await firstOpenDate(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    site.api.tell(sampleView({ status: 'confirmed' }, paid))
    await page.goto(`/robokids/success?reference=${registration}`)
    await eventually(() => heading(page).innerText()).toBe("You're Registered")
    await signWaiver(page)
    await page.getByRole('link', { name: 'See your receipt' }).click()
    await page.getByRole('button', { name: 'Download & Close' }).click()
    await page.getByRole('alert').getByText('This browser cannot print.').waitFor()
    expect(await page.getByRole('button', { name: 'Download & Close' }).isEnabled()).toBe(true)
    expect(await page.evaluate(() => sessionStorage.getItem('roboKidsReceipt'))).toContain('Maren Holt')
  })

  it('registers a membership, and logs in', async () => {
    const page = await site.open()
    await without(page, newer)
    await page.goto('/membership/register')
    await firstOpenDate(page)
    await fillRegistration(page)
    await proceedButton(page).click()
    await page.waitForURL('**/card-page')
    await logIn(page)
    await page.waitForURL('**/dashboard')
    await page.getByRole('heading', { name: 'No classes yet' }).waitFor()
    await page.goto('/profile')
    await heading(page).getByText('Maren Holt').waitFor()
    await page.getByRole('button', { name: 'Set up (Authenticator app)' }).click()
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    site.api.on('POST /api/profile/passkeys/options', () => ({ json: { options: {} } }))
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('This browser or device does not support passkeys.').waitFor()
    await page.getByRole('button', { name: 'Logout' }).first().click()
    await page.waitForURL(`${site.url}/`)
  })

  it('shows every content page, and buys in the shop', async () => {
    const page = await site.open()
    await without(page, newer)
    for (const path of ['/', '/robokidslanding', '/guides/motor-guide', '/news/fall-launch', '/contact']) {
      await page.goto(path)
      await heading(page).waitFor()
    }
    await page.goto('/shop')
    await page.getByRole('button', { name: 'Add Robot Spider to cart' }).click()
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('**/card-page')
  })
})

describe('a browser that blocks cookies', () => {
  const words = 'Your browser blocks this site’s cookies, so you can’t stay logged in.'

  it('is told so by the login before anything is sent', async () => {
    const page = await site.open()
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'cookieEnabled', { value: false }))
    await logIn(page)
    await eventually(() => messageLine(page).innerText()).toContain(words)
    expect(site.api.callsOf('POST', /sign-in/)).toEqual([])
  })

  it('is told so by the login when the session is not kept', async () => {
    const page = await site.open()
    site.api.on('POST /api/auth/sign-in', () => ({ json: { step: 'DONE' } }))
    await logIn(page)
    await eventually(() => messageLine(page).innerText()).toContain(words)
    expect(new URL(page.url()).pathname).toBe('/membership/login')
    site.api.accounts.user = maren
    await page.getByRole('button', { name: 'Log In', exact: true }).click()
    await page.waitForURL('**/dashboard')
  })
})
