import { challengeSchema, proofSchema, type Challenge, type ProofForm } from '@robokids/contracts/proof'
import { createChallenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { logIn, messageLine } from '../accounts.ts'
import { eventually, useSite } from '../fixture.ts'
import { alertBox, fillSignUp, firstOpenDate, submitButton } from '../pages.ts'
import { maren } from '../stub-accounts.ts'
import { held, refusal, type Call } from '../stub-api.ts'

const site = useSite()

const secrets = { hmacSignatureSecret: 'challenges', hmacKeySignatureSecret: 'keys' }

async function challengeFor(form: ProofForm, counter = 40): Promise<Challenge> {
  const expiresAt = Math.floor(Date.now() / 1_000) + 600
  const data = { form, level: 0 }
  const options = { algorithm: 'PBKDF2/SHA-256', cost: 500, counter, deriveKey, data, expiresAt, ...secrets }
  return challengeSchema.parse(await createChallenge(options))
}

/** The form of a request's valid proof; undefined if it has none. */
async function provenFor({ proof }: Call): Promise<ProofForm | undefined> {
  if (proof === undefined) return undefined
  const { challenge, solution } = proofSchema.parse(JSON.parse(Buffer.from(proof, 'base64').toString()))
  const { verified } = await verifySolution({ challenge, solution, deriveKey, ...secrets })
  return verified ? challenge.parameters.data.form : undefined
}

/** Issues challenges for any form, as the BFF does. */
function giveChallenges(counter?: number): void {
  site.api.on('GET /api/proof', async ({ query }) => {
    const form = new URLSearchParams(query).get('form') as ProofForm
    return { json: { challenge: await challengeFor(form, counter) } }
  })
}

const registrations = () => site.api.callsOf('POST', /^\/api\/registrations$/)
const asked = () => site.api.callsOf('GET', /^\/api\/proof$/)

async function openForm(page: Page) {
  await page.goto('/robokidspage1')
  await firstOpenDate(page)
}

/** What is missing in a browser, and whether it solves in a worker. */
const browsers: [string, () => void][] = [
  ['with everything', () => undefined],
  ['without workers', () => Reflect.deleteProperty(window, 'Worker')],
  [
    'whose workers fail',
    () => {
      window.Worker = class extends EventTarget {
        postMessage() {
          this.dispatchEvent(new ErrorEvent('error', { message: 'blocked' }))
        }
        terminate() {}
      } as unknown as typeof Worker
    },
  ],
  [
    'without workers and WebCrypto',
    () => {
      Reflect.deleteProperty(window, 'Worker')
      Object.defineProperty(crypto, 'subtle', { value: undefined })
    },
  ],
]

describe('a login with a password', () => {
  it('sends a proof of work only when it is required', async () => {
    giveChallenges()
    const signIns = () => site.api.callsOf('POST', /^\/api\/auth\/sign-in$/)
    const page = await site.open()
    site.api.on('POST /api/auth/sign-in', async (call, nth) => {
      if (nth === 1) return refusal('NotAuthorizedException', 'Incorrect username or password.')
      if (!(await provenFor(call)))
        return refusal('proof_required', 'No.', undefined, { challenge: await challengeFor('sign-in') })
      site.api.accounts.user = maren
      return { json: { step: 'DONE' } }
    })
    await logIn(page)
    await eventually(() => messageLine(page).innerText()).toBe('Incorrect username or password.')
    expect(asked()).toEqual([])
    await page.getByRole('button', { name: 'Log In', exact: true }).click()
    await page.getByText('✅ Logged in.', { exact: true }).waitFor()
    const calls = signIns()
    expect(calls.map(({ proof }) => proof !== undefined)).toEqual([false, false, true])
    const [last] = calls.slice(-1)
    expect(last && (await provenFor(last))).toBe('sign-in')
  })
})

describe('a confirmation of a sign-up', () => {
  it('sends a proof of work when it is required, as it may contain a password', async () => {
    giveChallenges()
    site.api.on('POST /api/auth/confirm-sign-up', async (call) =>
      (await provenFor(call)) === 'sign-in'
        ? { json: { signedIn: false } }
        : refusal('proof_required', 'No.', undefined, { challenge: await challengeFor('sign-in') }),
    )
    const page = await site.open()
    await page.goto('/confirm?email=maren.holt%40example.com')
    await page.getByLabel('Confirmation code').fill('123456')
    await page.getByRole('button', { name: 'Confirm Account' }).click()
    await page.getByText('✅ Account confirmed! You can now log in.').waitFor()
    const calls = site.api.callsOf('POST', /^\/api\/auth\/confirm-sign-up$/)
    expect(calls.map(({ proof }) => proof !== undefined)).toEqual([false, true])
  })
})

describe('a registration', () => {
  it.each(browsers)('sends a proof of work unnoticed, in a browser %s', async (_, without) => {
    giveChallenges()
    const page = await site.open()
    await page.addInitScript(without)
    await openForm(page)
    expect(asked()).toEqual([])
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [call] = registrations()
    expect(call && (await provenFor(call))).toBe('registration')
    expect(asked()).toHaveLength(1)
  })

  it('solves its proof of work in the background while its form is filled in', async () => {
    giveChallenges(400)
    const page = await site.open()
    await page.addInitScript(() => {
      const count = () => {
        const { dataset } = document.documentElement
        dataset['solved'] = String(Number(dataset['solved'] ?? 0) + 1)
      }
      window.Worker = class extends Worker {
        constructor(...given: ConstructorParameters<typeof Worker>) {
          super(...given)
          this.addEventListener('message', count)
        }
      }
    })
    await openForm(page)
    await page.getByLabel('Guardian name').fill('Maren Holt')
    await eventually(() => page.locator('html').getAttribute('data-solved')).toBe('1')
    // Further typing requests no other challenge.
    await fillSignUp(page)
    expect(asked()).toHaveLength(1)
    expect(await page.locator('html').getAttribute('data-solved')).toBe('1')
  })

  it('shows the pending state when it is sent before its proof is ready, and then continues by itself', async () => {
    const slow = held(() => ({}))
    site.api.on('GET /api/proof', async (call, nth) => {
      await slow.handler(call, nth)
      return { json: { challenge: await challengeFor('registration') } }
    })
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    const button = page.getByRole('button', { name: 'Processing...' })
    await button.waitFor()
    expect(await button.getAttribute('aria-busy')).toBe('true')
    expect(registrations()).toEqual([])
    slow.release()
    await page.waitForURL('**/card-page')
    expect(registrations()).toHaveLength(1)
  })

  it('sends another proof unnoticed when the first one is rejected', async () => {
    giveChallenges()
    site.api.on('POST /api/registrations', async (call, nth) => {
      if (nth === 1)
        return refusal('proof_required', 'No.', undefined, { challenge: await challengeFor('registration') })
      return { json: { checkoutUrl: `${site.url}/card-page`, registrationId: call.body['id'] } }
    })
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const [first, second] = registrations()
    expect(second?.body).toEqual(first?.body)
    expect(second?.proof).not.toBe(first?.proof)
    expect(second && (await provenFor(second))).toBe('registration')
  })

  it('sends a new proof when it is sent again after an error', async () => {
    giveChallenges()
    site.api.on('POST /api/registrations', (call, nth) =>
      nth === 1
        ? refusal('class_full', 'This class is full. Please choose another date.')
        : { json: { checkoutUrl: `${site.url}/card-page`, registrationId: call.body['id'] } },
    )
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await alertBox(page).getByRole('button', { name: 'OK' }).click()
    await submitButton(page).click()
    await page.waitForURL('**/card-page')
    const proofs = registrations().map(({ proof }) => proof)
    expect(new Set(proofs).size).toBe(2)
  })

  it('is sent without a proof when no challenge can be loaded, and shows the server’s message', async () => {
    site.api.on('GET /api/proof', () => ({ status: 503, json: {} }))
    site.api.on('POST /api/registrations', () => refusal('proof_required', 'Please reload the page and try again.'))
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await eventually(() => alertBox(page).innerText()).toContain('Please reload the page and try again.')
  })

  it('says how to proceed when too many unpaid seats are held', async () => {
    const words = '10 seats are held for your family but not paid yet. Please pay for the seats you want to keep.'
    site.api.on('POST /api/registrations', () => refusal('too_many_unpaid', words))
    const page = await site.open()
    await openForm(page)
    await fillSignUp(page)
    await submitButton(page).click()
    await eventually(() => alertBox(page).innerText()).toContain(words)
  })
})

describe('a page that costs nothing', () => {
  it.each(['/', '/robokids', '/robokidspage1', '/shop', '/membership/register', '/membership/login'])(
    '%s asks for no challenge before somebody types',
    async (path) => {
      const page = await site.open()
      await page.goto(path)
      await page.waitForLoadState('networkidle')
      expect(asked()).toEqual([])
    },
  )
})
