import { DomainError, unavailable } from '@robokids/runtime/errors'
import { describe, expect, it } from 'vitest'
import type { Config } from './config.ts'
import { Identity, retryDelay } from './identity.ts'
import type { Upstream } from './upstream.ts'

const noConnection = () => Promise.reject(unavailable(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })))
const lostAnswer = () => Promise.reject(unavailable(Object.assign(new Error('reset'), { code: 'UND_ERR_SOCKET' })))
const answered = (status: number, content: unknown) => () =>
  Promise.resolve({ status, headers: {}, body: Buffer.from(JSON.stringify(content)) })

/** An identity service with a response per attempt; the last one is repeated. */
function identityThat(...answers: (() => ReturnType<Upstream['raw']>)[]) {
  let attempts = 0
  const raw = () => {
    attempts += 1
    return (answers[attempts - 1] ?? answers.at(-1) ?? noConnection)()
  }
  const upstream: Upstream = { raw, call: () => Promise.reject(new Error('unused')), isFull: () => false }
  const config = { UPSTREAM_TIMEOUT_MS: 15_000 } as Config
  const identity = (settings: Partial<Config> = {}) =>
    new Identity({ identity: upstream, hashing: upstream }, { ...config, ...settings })
  return { identity, attempts: () => attempts }
}

const user = { Username: 'user_1', UserAttributes: [] }

describe('a call of the identity service', () => {
  it('is tried three times without a connection, whatever the operation', async () => {
    const away = identityThat(noConnection)
    const call = away.identity().call('SignUp', { Password: 'Robot-2030!' }, '192.0.2.1')
    await expect(call).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(away.attempts()).toBe(3)

    const back = identityThat(noConnection, noConnection, answered(200, { UserConfirmed: false }))
    await expect(back.identity().call('SignUp', {}, '192.0.2.1')).resolves.toEqual({ UserConfirmed: false })
  })

  it('that only reads is retried after a lost response or a 5xx', async () => {
    const faulty = identityThat(lostAnswer, answered(500, {}), answered(200, user))
    await expect(faulty.identity().call('GetUser', {}, '192.0.2.1')).resolves.toMatchObject({ Username: 'user_1' })
    expect(faulty.attempts()).toBe(3)
  })

  it.each([
    ['a change whose response was lost', lostAnswer],
    ['a change with a 5xx', answered(500, {})],
    ['a rejected call', answered(400, { __type: 'NotAuthorizedException', message: 'No.' })],
    ['a call to a busy service', answered(503, { __type: 'ServiceUnavailable', message: 'Busy.' })],
  ])('is not retried: %s', async (_what, answer) => {
    const once = identityThat(answer)
    await expect(once.identity().call('ConfirmSignUp', {}, '192.0.2.1')).rejects.toBeInstanceOf(DomainError)
    expect(once.attempts()).toBe(1)
  })

  it('is not retried after its timeout', async () => {
    const away = identityThat(noConnection)
    await expect(away.identity({ UPSTREAM_TIMEOUT_MS: 100 }).call('GetUser', {}, '192.0.2.1')).rejects.toBeInstanceOf(
      DomainError,
    )
    expect(away.attempts()).toBe(1)
  })

  it('is delayed longer after each attempt, up to five minutes', () => {
    expect([retryDelay(1, 0), retryDelay(1, 1), retryDelay(2, 0), retryDelay(2, 1)]).toEqual([200, 300, 400, 500])
    expect(retryDelay(11, 1)).toBeLessThan(300_000)
    for (const attempt of [12, 40, 2_000]) expect(retryDelay(attempt)).toBe(300_000)
  })
})
