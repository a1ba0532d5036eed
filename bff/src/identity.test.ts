import { DomainError, unavailable } from '@robokids/runtime/errors'
import { describe, expect, it } from 'vitest'
import type { Config } from './config.ts'
import { Identity, pauseAfter } from './identity.ts'
import type { Upstream } from './upstream.ts'

const noConnection = () => Promise.reject(unavailable(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })))
const lostAnswer = () => Promise.reject(unavailable(Object.assign(new Error('reset'), { code: 'UND_ERR_SOCKET' })))
const answered = (status: number, content: unknown) => () =>
  Promise.resolve({ status, headers: {}, body: Buffer.from(JSON.stringify(content)) })

/** An identity service that answers one attempt after the other; the last answer stays. */
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
  it('is tried three times where no connection comes about, whatever it asks for', async () => {
    const away = identityThat(noConnection)
    const call = away.identity().call('SignUp', { Password: 'Robot-2030!' }, '192.0.2.1')
    await expect(call).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(away.attempts()).toBe(3)

    const back = identityThat(noConnection, noConnection, answered(200, { UserConfirmed: false }))
    await expect(back.identity().call('SignUp', {}, '192.0.2.1')).resolves.toEqual({ UserConfirmed: false })
  })

  it('that only reads is tried again where its answer was lost or was a fault', async () => {
    const faulty = identityThat(lostAnswer, answered(500, {}), answered(200, user))
    await expect(faulty.identity().call('GetUser', {}, '192.0.2.1')).resolves.toMatchObject({ Username: 'user_1' })
    expect(faulty.attempts()).toBe(3)
  })

  it.each([
    ['a change whose answer was lost', lostAnswer],
    ['a change that was answered with a fault', answered(500, {})],
    ['what was refused', answered(400, { __type: 'NotAuthorizedException', message: 'No.' })],
    ['what finds the service busy', answered(503, { __type: 'ServiceUnavailable', message: 'Busy.' })],
  ])('is not tried again: %s', async (_what, answer) => {
    const once = identityThat(answer)
    await expect(once.identity().call('ConfirmSignUp', {}, '192.0.2.1')).rejects.toBeInstanceOf(DomainError)
    expect(once.attempts()).toBe(1)
  })

  it('is not tried again once its time is over', async () => {
    const away = identityThat(noConnection)
    await expect(away.identity({ UPSTREAM_TIMEOUT_MS: 100 }).call('GetUser', {}, '192.0.2.1')).rejects.toBeInstanceOf(
      DomainError,
    )
    expect(away.attempts()).toBe(1)
  })

  it('waits longer after each attempt, and five minutes at most', () => {
    expect([pauseAfter(1, 0), pauseAfter(1, 1), pauseAfter(2, 0), pauseAfter(2, 1)]).toEqual([200, 300, 400, 500])
    expect(pauseAfter(11, 1)).toBeLessThan(300_000)
    for (const attempt of [12, 40, 2_000]) expect(pauseAfter(attempt)).toBe(300_000)
  })
})
