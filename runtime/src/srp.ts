import {
  createDiffieHellmanGroup,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

/*
 * Secure Remote Password (RFC 5054), as hosted user pools and their clients compute it: the 3072-bit group of RFC 3526,
 * g = 2, SHA-256, and a 16-byte key by HKDF. The client proves that it knows the password without sending it.
 */

/** The group's prime, N. */
export const prime = BigInt(`0x${createDiffieHellmanGroup('modp15').getPrime('hex')}`)
const generator = 2n

function toHex(value: bigint): string {
  const hex = value.toString(16)
  return hex.length % 2 === 0 ? hex : `0${hex}`
}

/** Encodes a number for hashing, as the clients do: big-endian, minimal, with a leading zero byte if the top bit is set. */
export function pad(value: bigint): Buffer {
  const bytes = Buffer.from(toHex(value), 'hex')
  return (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
}

/** Parses hex in any case. @returns undefined if it is not hex. */
export function parseHex(hex: string): bigint | undefined {
  return /^[0-9a-fA-F]{1,1024}$/.test(hex) ? BigInt(`0x${hex}`) : undefined
}

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const toBigInt = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)

const multiplier = toBigInt(sha256(pad(prime), pad(generator)))

/** Whether the powers of a number are known without the exponent. */
const isTrivial = (value: bigint) => value < 2n || value >= prime - 1n

/** Encodes a DER element: tag, length and contents. */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}
const integer = (value: bigint) => der(0x02, pad(value))
const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents)

/** PKCS #3's dhKeyAgreement with this group. */
const algorithm = sequence(Buffer.from('06092a864886f70d010301', 'hex'), sequence(integer(prime), integer(generator)))

/**
 * Returns base^exponent mod prime, computed as a Diffie-Hellman secret: OpenSSL is ten times as fast as BigInt. It uses DER
 * keys, because `createDiffieHellman` spends two seconds on testing the well-known prime.
 */
function power(base: bigint, exponent: bigint): bigint {
  const secret = sequence(integer(0n), algorithm, der(0x04, integer(exponent)))
  const publicKey = sequence(algorithm, der(0x03, Buffer.of(0), integer(base)))
  return toBigInt(
    diffieHellman({
      privateKey: createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' }),
      publicKey: createPublicKey({ key: publicKey, format: 'der', type: 'spki' }),
    }),
  )
}

export interface Verifier {
  /** Hex. */
  salt: string
  value: bigint
}

/** Returns the stored verifier of a password: g^H(salt, H(pool name, user, ':', password)). `group` is the pool's name or a device's group. */
export function makeVerifier(group: string, user: string, password: string, salt = randomBytes(16)): Verifier {
  const saltNumber = toBigInt(salt)
  return { salt: saltNumber.toString(16), value: power(generator, privateKey(group, user, password, saltNumber)) }
}

/** Returns x, which can be computed only with the password. */
function privateKey(group: string, user: string, password: string, salt: bigint): bigint {
  return toBigInt(sha256(pad(salt), sha256(Buffer.from(`${group}${user}:${password}`))))
}

export interface Exchange {
  /** Hex. */
  A: string
  B: string
  b: string
}

/** Responds to a client's A with the server's B. @returns undefined if A is not a number or is a multiple of the prime. */
export function beginExchange(A: string, verifier: bigint): Exchange | undefined {
  const number = parseHex(A)
  if (number === undefined || number % prime === 0n) return undefined
  const b = toBigInt(randomBytes(32))
  const B = (multiplier * verifier + power(generator, b)) % prime
  return { A, B: B.toString(16), b: b.toString(16) }
}

/** The data signed by a proof. */
export interface Claim {
  /** The pool's name, or the device's group. */
  group: string
  /** The user's canonical name, or the device's key. */
  user: string
  secretBlock: Buffer
  /** In the format of `formatTimestamp`. */
  timestamp: string
}

function sign(S: bigint, u: bigint, claim: Claim): Buffer {
  const key = hkdfSync('sha256', pad(S), pad(u), 'Caldera Derived Key', 16)
  return createHmac('sha256', Buffer.from(key))
    .update(claim.group)
    .update(claim.user)
    .update(claim.secretBlock)
    .update(claim.timestamp)
    .digest()
}

/**
 * The server's side: returns the signature that only a client with the password can compute.
 * @returns undefined if the numbers lead to a trivial secret, so that a signature would prove nothing.
 */
export function expectedSignature(exchange: Exchange, verifier: bigint, claim: Claim): Buffer | undefined {
  const [A, B, b] = [exchange.A, exchange.B, exchange.b].map((hex) => BigInt(`0x${hex}`)) as [bigint, bigint, bigint]
  const u = toBigInt(sha256(pad(A), pad(B)))
  if (isTrivial(verifier)) return undefined
  const base = (A * power(verifier, u)) % prime
  return isTrivial(base) ? undefined : sign(power(base, b), u, claim)
}

/** The client's side: it sends `A`, and `prove` signs the server's challenge. */
export interface Proof {
  /** Hex. */
  A: string
  /** @param challenge the server's salt and B, in hex. */
  prove(challenge: { salt: string; B: string }, password: string, claim: Claim): Buffer
}

export function beginProof(): Proof {
  const a = toBigInt(randomBytes(32))
  const A = power(generator, a)
  return {
    A: A.toString(16),
    prove({ salt, B }, password, claim) {
      const server = BigInt(`0x${B}`)
      const u = toBigInt(sha256(pad(A), pad(server)))
      const x = privateKey(claim.group, claim.user, password, BigInt(`0x${salt}`))
      const base = (((server - multiplier * power(generator, x)) % prime) + prime) % prime
      return sign(power(base, a + u * x), u, claim)
    },
  }
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Tue Mar 5 07:08:09 UTC 2030`: the day is not padded, the time is. */
export function formatTimestamp(now: Temporal.Instant): string {
  const at = now.toZonedDateTimeISO('UTC')
  const time = at.toPlainTime().toString({ smallestUnit: 'second' })
  return `${days[at.dayOfWeek % 7]} ${months[at.month - 1]} ${at.day} ${time} UTC ${at.year}`
}

const timestampPattern = new RegExp(
  `^(?:${days.join('|')}) (${months.join('|')}) ([1-9]|[12]\\d|3[01]) (\\d\\d):(\\d\\d):(\\d\\d) UTC (\\d{4})$`,
)

/** Parses the format of `formatTimestamp`. @returns undefined for any other text. */
export function parseTimestamp(text: string): Temporal.Instant | undefined {
  const [, month = '', day = '', hour, minute, second, year] = timestampPattern.exec(text) ?? []
  try {
    const number = String(months.indexOf(month) + 1).padStart(2, '0')
    return Temporal.Instant.from(`${year}-${number}-${day.padStart(2, '0')}T${hour}:${minute}:${second}Z`)
  } catch {
    return undefined
  }
}
