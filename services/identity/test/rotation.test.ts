import { randomBytes } from 'node:crypto'
import { eventually } from '@robokids/test/bed'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identity } from '../src/app.ts'
import { startIdentity, publicClient, settings, type IdentityFixture, type Json } from './fixture.ts'
import { signInClient, tokensOf, type Answer } from './sign-in-client.ts'
import { deviceVerifier, startSrp } from './srp-client.ts'

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const [sealedFirst, derivedFirst] = [key('old'), key('old')]
const [sealedNext, derivedNext] = [key('new'), key('new')]
const under = (SEALING_KEYS: string, MAC_KEYS: string) => ({ SEALING_KEYS, MAC_KEYS })

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity({ EVEN_ANSWER_MS: '1', ...under(sealedFirst, derivedFirst) })
})
afterAll(() => fixture.stop())

const start = (keys: Record<string, string>) =>
  fixture.bed.start(identity, { ...settings, EVEN_ANSWER_MS: '1', DATABASE_URL: fixture.service.databaseUrl, ...keys })
type Process = Awaited<ReturnType<typeof start>>

const deviceSecret = 'a secret of the device'

/** Calls one process. */
const callAt =
  (url: string): IdentityFixture['call'] =>
  async (operation, input) => {
    const headers = { 'x-amz-target': `AWSCognitoIdentityProviderService.${operation}` }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) })
    return { status: answer.status, body: (await answer.json()) as Record<string, Json> }
  }

describe('keys', () => {
  it('that were removed make a known browser a new one, and lock nobody out', async () => {
    const { username } = await fixture.member()
    const known = signInClient(fixture)
    const { AccessToken, NewDeviceMetadata } = (await known.byPassword(username)).body['AuthenticationResult']
    const { DeviceKey: DEVICE_KEY, DeviceGroupKey } = NewDeviceMetadata as Record<string, string>
    const DeviceSecretVerifierConfig = deviceVerifier(DeviceGroupKey ?? '', DEVICE_KEY ?? '', deviceSecret)
    const confirm = { AccessToken, DeviceKey: DEVICE_KEY, DeviceSecretVerifierConfig }
    expect((await fixture.call('ConfirmDevice', confirm)).status).toBe(200)
    // App clients' secrets are sealed as well, but this pool's public client has none.
    const without = await start(under(sealedNext, derivedFirst))
    const at = signInClient({ ...fixture, call: callAt(without.url) })
    const refused = await at.byPassword(username, { DEVICE_KEY: DEVICE_KEY ?? '' })
    expect(refused.body).toEqual({ __type: 'ResourceNotFoundException', message: 'Device does not exist.' })
    await without.stop()
  })

  it('are replaced while two processes run: nothing fails, and the old ones are not needed any more', async () => {
    const [first, second] = [
      await start(under(sealedFirst, derivedFirst)),
      await start(under(sealedFirst, derivedFirst)),
    ]
    const processes: [Process, Process] = [first, second]
    let turn = 0
    const inUse = new Map<string, number>()
    // Requests alternate between the two.
    const either: IdentityFixture = {
      ...fixture,
      call: async (operation, input) => {
        const { url } = processes[++turn % 2]!
        inUse.set(url, (inUse.get(url) ?? 0) + 1)
        try {
          return await callAt(url)(operation, input)
        } finally {
          inUse.set(url, (inUse.get(url) ?? 0) - 1)
        }
      },
    }
    const at = signInClient(either)
    const now = () => fixture.service.context.clock.now()
    const good = (answer: Answer): Answer => {
      expect(answer).toMatchObject({ status: 200 })
      return answer
    }

    const { username } = await fixture.member()
    const signedIn = tokensOf(good(await at.byPassword(username))) as unknown as {
      AccessToken: string
      RefreshToken: string
      NewDeviceMetadata: { DeviceKey: string; DeviceGroupKey: string }
    }
    const { DeviceKey, DeviceGroupKey } = signedIn.NewDeviceMetadata
    good(
      await either.call('ConfirmDevice', {
        AccessToken: signedIn.AccessToken,
        DeviceKey,
        DeviceSecretVerifierConfig: deviceVerifier(DeviceGroupKey, DeviceKey, deviceSecret),
      }),
    )
    const withAuthenticator = await Array.fromAsync({ length: 5 }, async () => {
      const person = await fixture.member()
      return { ...person, secret: await at.withAuthenticator(person.userId) }
    })

    const ways = {
      async byDevice() {
        const srp = startSrp()
        const challenged = good(await at.byPassword(username, { DEVICE_KEY: DeviceKey }))
        const own = { USERNAME: username, DEVICE_KEY: DeviceKey }
        const begun = good(await at.answer('DEVICE_SRP_AUTH', challenged, { ...own, SRP_A: srp.A }))
        const who = { group: DeviceGroupKey, user: DeviceKey, password: deviceSecret, now: now() }
        const proof = srp.answer(begun.body['ChallengeParameters'], who)
        expect(tokensOf(good(await at.answer('DEVICE_PASSWORD_VERIFIER', begun, { ...own, ...proof })))).toBeDefined()
      },
      bySrp: async () => void good(await at.bySrp(username)),
      async byRefreshing() {
        const input = { ClientId: publicClient, RefreshToken: signedIn.RefreshToken, DeviceKey }
        const tokens = tokensOf(good(await either.call('GetTokensFromRefreshToken', input)))
        signedIn.RefreshToken = tokens['RefreshToken'] ?? signedIn.RefreshToken
        good(await either.call('GetUser', { AccessToken: tokens['AccessToken'] }))
      },
    }
    /** An authenticator's code works once, so each user signs in once. */
    async function byAuthenticator() {
      const { username: name, secret } = withAuthenticator.pop()!
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now().epochMilliseconds })
      const challenged = good(await at.byPassword(name))
      good(await at.answer('SOFTWARE_TOKEN_MFA', challenged, { USERNAME: name, SOFTWARE_TOKEN_MFA_CODE: code }))
    }

    let over = false
    const rounds = { byDevice: 0, bySrp: 0, byRefreshing: 0 }
    const load = Promise.all(
      (Object.keys(ways) as (keyof typeof ways)[]).map(async (way) => {
        while (!over) {
          await ways[way]()
          rounds[way] += 1
        }
      }),
    )
    // The next await reports it.
    load.catch(() => {})
    /** Runs `work` under load, and waits for one more round of everything. @throws any error of the load */
    async function duringLoad(work: () => Promise<unknown>): Promise<void> {
      await Promise.race([load, work()])
      const before = { ...rounds }
      const isDone = (way: keyof typeof ways) => rounds[way] > before[way]
      const onceMore = eventually(() => isDone('byDevice') && isDone('bySrp') && isDone('byRefreshing'), 60_000)
      await Promise.race([load, onceMore])
    }
    async function rollTo(keys: Record<string, string>): Promise<void> {
      for (const place of [0, 1] as const) {
        await duringLoad(async () => {
          const before = processes[place]
          processes[place] = await start(keys)
          // As a load balancer does: it gets no new requests, and finishes the current ones.
          await eventually(() => !inUse.get(before.url))
          await before.stop()
        })
      }
      await byAuthenticator()
    }

    try {
      await byAuthenticator()
      const reset = await fixture.member()
      good(await either.call('ForgotPassword', { ClientId: publicClient, Username: reset.username }))
      const ConfirmationCode = await fixture.codeFor(reset.email, 1)

      // First add the new keys to every process, then use them.
      await rollTo(under(`${sealedFirst},${sealedNext}`, `${derivedFirst},${derivedNext}`))
      await rollTo(under(`${sealedNext},${sealedFirst}`, `${derivedNext},${derivedFirst}`))
      const confirm = { ClientId: publicClient, Username: reset.username, ConfirmationCode, Password: 'Robot-2031!' }
      good(await either.call('ConfirmForgotPassword', confirm))

      let left = Infinity
      await duringLoad(async () => {
        const headers = { 'x-admin-secret': processes[0].context.config.ADMIN_SECRET }
        while (left > 0) {
          const answer = await fetch(`${processes[0].url}/admin/reseal`, { method: 'POST', headers })
          const turn = (await answer.json()) as { left: number; unreadable: number }
          expect(turn.unreadable).toBe(0)
          left = turn.left
        }
      })
      await rollTo(under(sealedNext, derivedNext))
      expect(Math.min(...Object.values(rounds))).toBeGreaterThan(5)
    } finally {
      over = true
      await load.catch(() => {})
    }
  }, 300_000)
})
