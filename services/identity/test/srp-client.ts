import { createDiffieHellmanGroup, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** An independent client of Secure Remote Password, written from the protocol's description. */

export const prime = BigInt(`0x${createDiffieHellmanGroup('modp15').getPrime('hex')}`)

const bytesOf = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
const pad = (value: bigint) => {
  const bytes = bytesOf(value)
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
}
const hash = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

function power(base: bigint, exponent: bigint): bigint {
  let [result, factor, rest] = [1n, base % prime, exponent]
  while (rest > 0n) {
    if (rest & 1n) result = (result * factor) % prime
    factor = (factor * factor) % prime
    rest >>= 1n
  }
  return result
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Tue Mar 5 07:08:09 UTC 2030` */
export function timestamp(now: Temporal.Instant): string {
  const at = now.toZonedDateTimeISO('UTC')
  const time = [at.hour, at.minute, at.second].map((part) => String(part).padStart(2, '0')).join(':')
  return `${days[at.dayOfWeek % 7]} ${months[at.month - 1]} ${at.day} ${time} UTC ${at.year}`
}

export function startSrp() {
  const a = number(randomBytes(32))
  const A = power(2n, a)
  return {
    A: A.toString(16),
    /** The responses to a PASSWORD_VERIFIER or DEVICE_PASSWORD_VERIFIER challenge. `group` is the pool's name or the device's group. */
    answer(
      { SALT = '', SRP_B = '', SECRET_BLOCK = '' }: Record<string, string>,
      { group, user, password, now }: { group: string; user: string; password: string; now: Temporal.Instant },
    ): Record<string, string> {
      const B = BigInt(`0x${SRP_B}`)
      const k = number(hash(pad(prime), pad(2n)))
      const u = number(hash(pad(A), pad(B)))
      const x = number(hash(pad(BigInt(`0x${SALT}`)), hash(Buffer.from(`${group}${user}:${password}`))))
      const base = (((B - k * power(2n, x)) % prime) + prime) % prime
      const S = power(base, a + u * x)
      const key = Buffer.from(hkdfSync('sha256', pad(S), pad(u), 'Caldera Derived Key', 16))
      const TIMESTAMP = timestamp(now)
      const claim = Buffer.concat([
        Buffer.from(`${group}${user}`),
        Buffer.from(SECRET_BLOCK, 'base64'),
        Buffer.from(TIMESTAMP),
      ])
      return {
        PASSWORD_CLAIM_SECRET_BLOCK: SECRET_BLOCK,
        PASSWORD_CLAIM_SIGNATURE: createHmac('sha256', key).update(claim).digest('base64'),
        TIMESTAMP,
      }
    },
  }
}

/** The verifier for confirming a device. */
export function deviceVerifier(group: string, key: string, secret: string) {
  const salt = number(randomBytes(16))
  const x = number(hash(pad(salt), hash(Buffer.from(`${group}${key}:${secret}`))))
  return { Salt: pad(salt).toString('base64'), PasswordVerifier: pad(power(2n, x)).toString('base64') }
}
