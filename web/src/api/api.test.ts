import { afterEach, describe, expect, it, vi } from 'vitest'
import { registerAnswer } from '../registration/answers.ts'
import { api, ApiError, adoptSignedInAccount, setAccount, whenFreshSignInIsRequired, whenOtherAccount } from './api.ts'

const answers = (...answer: Parameters<typeof Response.json>) =>
  vi.stubGlobal(
    'fetch',
    vi.fn<typeof fetch>(() => Promise.resolve(Response.json(...answer))),
  )

const ask = () => api('/api/registrations', { method: 'POST', body: { zipCode: '02139' }, answer: registerAnswer })

async function failure(): Promise<ApiError> {
  const error = await ask().catch((error: unknown) => error)
  if (!(error instanceof ApiError)) throw new Error('it did not fail with an ApiError')
  return error
}

afterEach(() => {
  vi.unstubAllGlobals()
  setAccount(null)
})

describe('api', () => {
  it('sends JSON under the public client id, and hands the answer back', async () => {
    const sample = { checkoutUrl: 'https://pay.example.com/1', registrationId: '019a0000-0000-7000-8000-000000000001' }
    answers(sample)
    expect(await ask()).toEqual(sample)
    const [path, init] = vi.mocked(fetch).mock.lastCall ?? []
    expect(path).toBe('/api/registrations')
    expect(init).toMatchObject({
      method: 'POST',
      headers: { 'x-api-key': 'robokids-web', 'content-type': 'application/json' },
      body: '{"zipCode":"02139"}',
    })
  })

  it('fails with what the server refused, and why', async () => {
    const issues = [{ path: 'zipCode', message: 'Zip code must be exactly five digits.' }]
    answers({ code: 'validation_failed', message: 'Please check the form.', requestId: 'r1', issues }, { status: 400 })
    expect(await failure()).toMatchObject({
      status: 400,
      code: 'validation_failed',
      message: 'Please check the form.',
      issues,
      requestId: 'r1',
    })
  })

  it('tells no connection from an answer that nobody can read', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
    expect(await failure()).toMatchObject({ status: 0, code: 'network_failed', message: '' })
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('<html>Bad gateway</html>', { status: 502 })))
    expect(await failure()).toMatchObject({ status: 502, code: 'answer_unreadable', message: '' })
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('<html>Hello</html>')))
    expect(await failure()).toMatchObject({ status: 200, code: 'answer_unreadable' })
  })

  it('fails when a good answer is not the one of the contract', async () => {
    answers({ registrationId: '019a0000-0000-7000-8000-000000000001' })
    expect(await failure()).toMatchObject({ status: 200, code: 'answer_unexpected' })
  })

  it('stays an abort when the caller gave up', async () => {
    const signal = AbortSignal.abort()
    vi.stubGlobal('fetch', () => Promise.reject(signal.reason as Error))
    await expect(api('/api/classes', { answer: registerAnswer, signal })).rejects.toThrow(DOMException)
  })
})

describe('the account that a change is made for', () => {
  const done = { safeParse: () => ({ success: true, data: undefined }) as const }
  async function accountOf(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: `/api/${string}` = '/api/profile') {
    answers({})
    await api(path, { method, answer: done })
    return new Headers(vi.mocked(fetch).mock.lastCall?.[1]?.headers).get('x-account')
  }

  it('is named in each of them, and not where one only reads or signs out', async () => {
    expect(await accountOf('POST')).toBeNull()
    setAccount('maren')
    for (const method of ['POST', 'PATCH', 'DELETE'] as const) expect(await accountOf(method)).toBe('maren')
    expect(await accountOf('GET')).toBeNull()
    expect(await accountOf('POST', '/api/auth/sign-out')).toBeNull()
  })

  it('stays whom the page was made for, until that signs out or another page is made', async () => {
    setAccount('maren')
    setAccount('noor')
    expect(await accountOf('POST')).toBe('maren')
    adoptSignedInAccount()
    expect(await accountOf('POST')).toBe('noor')
    setAccount(null)
    expect(await accountOf('POST')).toBeNull()
    setAccount('maren')
    expect(await accountOf('POST')).toBe('maren')
  })

  it('is told apart from who is signed in now by the server', async () => {
    const react = vi.fn<() => void>()
    whenOtherAccount(react)
    answers({ code: 'other_account', message: 'Noor is signed in.', requestId: 'r1' }, { status: 409 })
    expect(await failure()).toMatchObject({ code: 'other_account', message: 'Noor is signed in.' })
    expect(react).toHaveBeenCalledOnce()
    whenOtherAccount(() => undefined)
  })
})

describe('a call that needs a fresh sign-in', () => {
  const stale = { code: 'FreshSignInRequiredException', message: 'Please confirm that it’s you.', requestId: 'r1' }
  afterEach(() => whenFreshSignInIsRequired(null))

  it('is made again, as it was, once its person has shown that it is they', async () => {
    answers(stale, { status: 403 })
    const sample = { checkoutUrl: 'https://pay.example.com/1', registrationId: '019a0000-0000-7000-8000-000000000001' }
    const confirm = vi.fn<() => Promise<void>>(async () => {
      vi.mocked(fetch).mockImplementation(() => Promise.resolve(Response.json(sample)))
    })
    whenFreshSignInIsRequired(confirm)
    expect(await ask()).toEqual(sample)
    expect(confirm).toHaveBeenCalledOnce()
    const [first, second] = vi.mocked(fetch).mock.calls
    expect(second).toEqual(first)
  })

  it('fails with the reason why they have not, and by itself where nobody asks them', async () => {
    answers(stale, { status: 403 })
    whenFreshSignInIsRequired(() => Promise.reject(new Error('Nothing was changed.')))
    await expect(ask()).rejects.toThrow('Nothing was changed.')
    expect(fetch).toHaveBeenCalledOnce()
    whenFreshSignInIsRequired(null)
    expect(await failure()).toMatchObject({ code: 'FreshSignInRequiredException', status: 403 })
  })
})
