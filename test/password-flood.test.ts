import { randomUUID } from 'node:crypto'
import { codeIssued } from '@robokids/contracts/identity'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { sampleMember } from '@robokids/test/samples'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bff } from '../bff/src/app.ts'
import { identity } from '../services/identity/src/app.ts'
import { Browser, type Answer } from './src/browser.ts'
import { bffKeys, identityKeys } from './src/identity-settings.ts'

const site = 'http://localhost:3000'
const plenty = '1000000'
const { password } = sampleMember('')

let bed: TestBed
let bffUrl: string
let identityUrl: string
beforeAll(async () => {
  bed = await testBed()
  const identityService = await bed.start(identity, {
    ...identityKeys,
    TRUST_PROXY: 'loopback',
    SITE_URL: site,
    EVEN_ANSWER_MS: '5',
    // Hashing is so slow that a few visitors exceed the capacity, however fast the machine is; nothing is queued.
    HASHES_AT_ONCE: '1',
    ARGON2_PASSES: '32',
    HASH_LINE_MS: '1',
  })
  identityUrl = identityService.url
  const bffService = await bed.start(bff, {
    SITE_URL: site,
    TRUST_PROXY: 'loopback',
    IDENTITY_URL: identityService.url,
    IDENTITY_ISSUER_URL: identityService.context.config.ISSUER_URL,
    ...bffKeys,
    PROOF_DERIVATIONS: '1',
    RATE_LIMIT_READS: plenty,
    RATE_LIMIT_WRITES: plenty,
  })
  bffUrl = bffService.url
})
afterAll(() => bed.stop())

let addresses = 0
/** Creates a browser at an address of its own. */
function visitor(): Browser {
  const browser = new Browser(site, bffUrl)
  addresses += 1
  browser.address = `198.${18 + (addresses >> 8)}.${addresses & 255}.1`
  return browser
}

const sealer = sealingKeysSchema.parse(localSealingKeys)
/** Signs up, and returns the code that was mailed. */
async function pendingMember(): Promise<{ browser: Browser; email: string; code: string | undefined }> {
  const browser = visitor()
  const email = `maren+${randomUUID()}@example.com`
  expect(await browser.post('/api/auth/sign-up', sampleMember(email))).toMatchObject({ status: 200 })
  const { data } = await bed.bus.seen(codeIssued, ({ destination }) => destination === email)
  return { browser, email, code: sealer.open(data.sealedCode, `code:${data.codeId}`)?.toString() }
}

async function member(): Promise<{ browser: Browser; email: string }> {
  const { browser, email, code } = await pendingMember()
  const confirmed = await browser.post('/api/auth/confirm-sign-up', { email, code })
  expect(confirmed).toMatchObject({ status: 200, body: { signedIn: true } })
  return { browser, email }
}

const signIn = (browser: Browser, email: string, secret = password) =>
  browser.post('/api/auth/sign-in', { email, password: secret })

/** Unknown callers who try passwords of unknown usernames, each again as soon as it is answered. */
function flood(strangers: number) {
  const answers: Answer[] = []
  let isOver = false
  const all = Array.from({ length: strangers }, async () => {
    const browser = visitor()
    while (!isOver) answers.push(await signIn(browser, `${randomUUID()}@example.com`))
  })
  const end = async () => {
    isOver = true
    await Promise.all(all)
  }
  return { answers, end }
}

async function hashes(outcome: string): Promise<number> {
  const text = await (await fetch(`${identityUrl}/metrics`)).text()
  return Number(new RegExp(`^password_hashes_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1])
}

const isBusy = ({ status, body }: Answer) => status === 503 && body['code'] === 'busy'

describe('A flood of passwords from unknown callers', { timeout: 120_000 }, () => {
  it('A password flood does not lock out known browsers, known networks and signed-in users, and has no effect afterwards', async () => {
    const { browser: owner, email } = await member()
    const { browser: reader } = await member()
    const elsewhere = visitor()
    expect((await signIn(elsewhere, email)).status).toBe(200)
    const { answers, end } = flood(6)
    onTestFinished(end)
    await eventually(() => answers.filter(isBusy).length >= 5, 60_000)

    for (let nth = 0; nth < 3; nth += 1) {
      const profile = reader.get('/api/profile')
      await owner.post('/api/auth/sign-out', {})
      expect(await signIn(owner, email)).toMatchObject({ status: 200, body: { step: 'DONE' } })
      // The cookies were cleared; only the network is known.
      const bare = visitor()
      bare.address = elsewhere.address
      expect(await signIn(bare, email)).toMatchObject({ status: 200, body: { step: 'DONE' } })
      expect((await profile).status).toBe(200)
    }
    await end()

    const refused = answers.filter(({ status }) => status !== 401)
    expect(refused.length).toBeGreaterThanOrEqual(5)
    for (const answer of refused) {
      expect([answer.status, answer.body['code']]).toEqual([503, 'busy'])
      expect(answer.body['message']).toContain('Please try again in a moment.')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const newBrowser = visitor()
    expect(await signIn(newBrowser, email)).toMatchObject({ status: 200, body: { step: 'DONE' } })
  })

  it('During a password flood, each route that takes a password needs proof of work, except from known browsers', async () => {
    const { browser: owner, email } = await member()
    const late = await pendingMember()
    const chooser = visitor()
    await chooser.post('/api/auth/sign-in', { email })
    const chosen = await chooser.post('/api/auth/sign-in/answer', { answer: 'PASSWORD' })
    expect(chosen.body).toMatchObject({ step: 'CONFIRM_SIGN_IN_WITH_PASSWORD' })
    const { answers, end } = flood(6)
    onTestFinished(end)
    await eventually(() => answers.some(isBusy), 60_000)
    await end()
    const ask = (browser: Browser, path: string, body: object) =>
      fetch(`${bffUrl}/api/auth/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': 'robokids-web',
          cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
        body: JSON.stringify(body),
      })
    const guess = { email, code: '123456', password }
    const endpoints = [
      ['sign-in', { email, password }, visitor()],
      ['sign-in/answer', { answer: password }, chooser],
      ['confirm-sign-up', guess, visitor()],
      ['confirm-sign-up', { email: late.email, code: '123456' }, late.browser],
      ['confirm-forgot-password', guess, visitor()],
      ['auto-sign-in', {}, late.browser],
    ] as const
    for (const [path, body, browser] of endpoints) {
      const refused = await ask(browser, path, body)
      const { code } = (await refused.json()) as { code: string }
      expect([path, refused.status, code]).toEqual([path, 403, 'proof_required'])
    }
    await owner.post('/api/auth/sign-out', {})
    expect((await ask(owner, 'sign-in', { email, password })).status).toBe(200)
    // One proof covers a confirmation and the sign-in that comes with it.
    const { email: newEmail, code } = late
    const confirmed = await late.browser.post('/api/auth/confirm-sign-up', { email: newEmail, code })
    expect(confirmed).toMatchObject({ status: 200, body: { signedIn: true } })
  })

  it('Passwords of disconnected clients are not hashed', async () => {
    const before = await hashes('gone')
    const leave = new AbortController()
    const body = JSON.stringify({
      ClientId: 'robokidsapp',
      AuthFlow: 'USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: `${randomUUID()}@example.com`, PASSWORD: password },
    })
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AWSCognitoIdentityProviderService.InitiateAuth',
    }
    await eventually(async () => {
      const all = Array.from({ length: 12 }, () =>
        fetch(identityUrl, { method: 'POST', headers, body, signal: leave.signal }).catch(() => undefined),
      )
      const refused = all.map(async (one) => (await one)?.status === 503)
      // Some were rejected at once, so the others are queued.
      await Promise.race([Promise.any(refused), ...all])
      leave.abort()
      await Promise.all(all)
      return (await hashes('gone')) > before
    })
  })
})
