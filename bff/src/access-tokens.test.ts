import { unavailable } from '@robokids/runtime/errors'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { createSigner } from 'fast-jwt'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startAccessTokens } from './access-tokens.ts'
import type { Config } from './config.ts'
import type { Upstream } from './upstream.ts'

const hour = 3_600_000

interface Key {
  kid: string
  publicKey: KeyObject
  privateKey: KeyObject
}

function makeKey(kid: string): Key {
  return { kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }
}
const [first, second] = [makeKey('first'), makeKey('second')]

function tokenOf({ kid, privateKey }: Key): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return createSigner({ algorithm: 'RS256', key, kid })({
    token_use: 'access',
    sub: 'a-user',
    username: 'a-name',
    client_id: 'a-client',
    iss: 'http://identity.example/a-pool',
    exp: 2_000_000_000,
  })
}

/** An identity service that publishes keys, counts the requests, and may be unavailable. */
function identityWith(...keys: Key[]) {
  const identity = { keys, isAway: false, requests: 0 }
  const service: Upstream = {
    isFull: () => false,
    call: () => Promise.reject(new Error('Only the key set is requested.')),
    async raw() {
      identity.requests += 1
      if (identity.isAway) throw unavailable(new Error('away'))
      const published = identity.keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid }))
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ keys: published })) }
    },
  }
  const config = { IDENTITY_URL: 'http://identity.example', IDENTITY_POOL: 'a-pool', IDENTITY_CLIENT_ID: 'a-client' }
  const context = { config, log: { warn() {} } } as unknown as Context<Config>
  const tokens = startAccessTokens({ addHook() {} } as unknown as Http, context, service)
  const outcome = (key: Key) =>
    tokens.verify(tokenOf(key)).then(
      () => 'accepted',
      (error: { code: string }) => error.code,
    )
  return { identity, outcome }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('an access token', () => {
  it('is rejected within minutes after its key is withdrawn', async () => {
    const { identity, outcome } = identityWith(first, second)
    expect(await outcome(first)).toBe('accepted')
    identity.keys = [second]
    await vi.advanceTimersByTimeAsync(6 * 60_000)
    expect(await outcome(first)).toBe('sign_in_required')
    expect(await outcome(second)).toBe('accepted')
  })

  it('with a new key is accepted immediately', async () => {
    const { identity, outcome } = identityWith(first)
    expect(await outcome(first)).toBe('accepted')
    await vi.advanceTimersByTimeAsync(5_000)
    identity.keys = [first, second]
    expect(await outcome(second)).toBe('accepted')
  })

  it('is accepted for a day while identity is unavailable, and then fails as unavailable, not as signed out', async () => {
    const { identity, outcome } = identityWith(first)
    expect(await outcome(first)).toBe('accepted')
    identity.isAway = true
    await vi.advanceTimersByTimeAsync(23 * hour)
    expect(await outcome(first)).toBe('accepted')
    await vi.advanceTimersByTimeAsync(2 * hour)
    expect(await outcome(first)).toBe('upstream_unavailable')
    identity.isAway = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await outcome(first)).toBe('accepted')
  })

  it('with an unknown key causes one fetch, however many such tokens arrive', async () => {
    const { identity, outcome } = identityWith(first)
    expect(await outcome(first)).toBe('accepted')
    await vi.advanceTimersByTimeAsync(5_000)
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, n) => outcome({ ...second, kid: `unknown-${n}` })),
    )
    outcomes.push(await outcome(second))
    expect(new Set(outcomes)).toEqual(new Set(['sign_in_required']))
    expect(identity.requests).toBe(2)
  })

  it('does not sign anybody out if identity’s key set cannot be read', async () => {
    const { identity, outcome } = identityWith()
    expect(await outcome(first)).toBe('upstream_unavailable')
    identity.keys = [first]
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await outcome(first)).toBe('accepted')
  })
})
