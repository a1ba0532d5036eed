import { ApiError, unauthorized } from '../protocol/errors.ts'

/** Takes a secret test key as `Bearer` (the SDK) or as the user name of `Basic` (curl -u); rejects everything else. */
export function authenticate(header: string | undefined, accepted: readonly string[]): void {
  const key = keyOf(header)
  if (key === null || key === '') {
    throw unauthorized(
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    )
  }
  if (/^(sk|rk|pk)_live_/.test(key)) {
    throw unauthorized(
      'This is the payment simulator: it refuses live keys. Use a test key (sk_test_…), and keep live keys out of this environment.',
      'livemode_mismatch',
    )
  }
  if (key.startsWith('pk_test_')) {
    throw new ApiError(403, {
      type: 'invalid_request_error',
      code: 'secret_key_required',
      message: 'This API call cannot be made with a publishable API key. Please use a secret API key.',
    })
  }
  const known = accepted.length === 0 ? /^(sk|rk)_test_\w+$/.test(key) : accepted.includes(key)
  if (!known) throw unauthorized(`Invalid API Key provided: ${masked(key)}`)
}

function keyOf(header: string | undefined): string | null {
  const [scheme, credentials] = /^(\w+)\s+(\S+)\s*$/.exec(header ?? '')?.slice(1) ?? []
  if (scheme === undefined || credentials === undefined) return null
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic') return null
  return Buffer.from(credentials, 'base64').toString('utf8').split(':')[0] ?? null
}

function masked(key: string): string {
  return key.length < 14 ? '*'.repeat(key.length) : `${key.slice(0, 8)}${'*'.repeat(8)}${key.slice(-4)}`
}
