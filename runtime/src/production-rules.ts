import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** What production asks of a setting beyond its shape. */
export interface ProductionRule {
  /** It has to be set: what stands in for it where it is left out is for a developer's machine. */
  required?: boolean
  /** Why production does not take a value, in words that follow the setting's name; undefined where it does. */
  refuse?: (value: string) => string | undefined
}

/**
 * Which of the rules below a setting has: `schema.register(inProduction, productionRules.secret)`. It has to be the last
 * call, since what any other answers is another schema.
 */
export const inProduction = z.registry<ProductionRule>()

/** The secrets that are written in this repository, apart from the sealing key: whoever reads it knows them. */
const publishedSecrets = ['local', 'local-admin', 'local-client-secret', 'whsec_local', 'sk_test_local']
/** The sealing key of `npm start` and the tests. */
export const publishedKey = Buffer.alloc(32, 'robokids')

/** More than anybody can try out over a network; 16 random bytes, however they are written, are estimated at more. */
const leastBits = 60
/** Random bytes repeat few of their values: of 32, fewer than 20 are different once in 10¹³ keys. */
const leastDifferentBytes = 20

/** What people put into passwords, or somebody leaves in place of one. It counts for nothing. */
const knownWords =
  /local|admin|secret|passwor[dt]|pass|change|me|default|example|sample|tests?|demo|root|postgres|robokids?|learning|school|welcome|letmein|qwert[yz]?|asdf|zxcv|iloveyou|master|login|user|keys?|prod(?:uction)?|billing|enrollment|identity|notifications|bff/g
const leet: Record<string, string> = { '0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's' }

/** As somebody means it, however it is typed: without blanks and what cannot be seen, in small letters. */
const meant = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
/** A part of a URL as it is meant; what is no encoding is meant as it is. */
const decoded = (part: string) =>
  part.replaceAll(/(%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
const lettersAndDigits = (text: string) => meant(text).replaceAll(/[^\p{L}\p{N}]/gu, '')
const published = new Set(publishedSecrets.map(lettersAndDigits))

/**
 * At most how many bits somebody who guesses has to find out: known words, repeated characters and rows of neighbours
 * (`abc`, `321`) are left out, and what remains is worth what its own characters are, by how often each is there.
 */
export function guessableBits(secret: string): number {
  const plain = meant(secret)
  const words = plain.replaceAll(/[013457@$]/g, (sign) => leet[sign] ?? sign)
  const inWord = new Set<number>()
  for (const { index, 0: word } of words.matchAll(knownWords))
    for (let place = index; place < index + word.length; place += 1) inWord.add(place)
  const codes = [...plain].filter((_, place) => !inWord.has(place)).map((sign) => sign.codePointAt(0) ?? 0)
  const steps = codes.map((code, place) => code - (codes[place - 1] ?? Infinity))
  const kept = codes.filter((_, place) => {
    const step = steps[place] ?? 0
    return step !== 0 && !(Math.abs(step) === 1 && step === steps[place - 1])
  })
  const counts = new Map<number, number>()
  for (const code of kept) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => bits - count * Math.log2(count / kept.length), 0)
}

/** Why a secret is none that production can have; undefined where it is. */
function whyNoSecret(secret: string): string | undefined {
  const letters = lettersAndDigits(secret)
  if (published.has(letters) || letters.startsWith('local'))
    return 'is written in the source code: set one of your own in production'
  if (guessableBits(secret) < leastBits)
    return 'can be guessed: set a random one, of `openssl rand -base64 32` for example'
  return undefined
}

const parts = (list: string) =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** @param secretOf what of a part of the list is the secret. */
function ownSecrets(secretOf: (part: string) => string): ProductionRule {
  return {
    required: true,
    refuse: (list) =>
      parts(list)
        .map((part) => whyNoSecret(secretOf(part)))
        .find((reason) => reason !== undefined),
  }
}

/** By its bytes, however they are written and whatever the key is called. */
function whyNoKey(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.equals(publishedKey))
    return 'has a key that is written in the source code: set one of your own in production'
  const steps = bytes.map((byte, place) => byte - (bytes[place - 1] ?? 0))
  const isTyped = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
  if (isTyped || [bytes, steps].some((values) => new Set(values).size < leastDifferentBytes))
    return 'has a key that can be guessed: set a random one, of `openssl rand -base64 32`'
  return undefined
}

/** Names that nobody can have on the internet: for examples and tests (RFC 2606), this machine, and networks at home. */
const reservedName = /(^|\.)(example|invalid|test|localhost|local|internal|lan|home\.arpa|example\.(com|net|org))$/

/** @param host as a URL or a mail address has it. */
function whyNobodyIsAt(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (reservedName.test(name))
    return 'is an example, or a name within a network: set an address of your own in production'
  if (!name.includes('.') || isIP(name.replaceAll(/[[\]]/g, '')) !== 0)
    return 'has no domain: set an address of your own in production'
  return undefined
}

/** More than what one organization has: an IPv4 /8, or what is of an IPv6 /16 outside of private networks. */
function isMuchOfTheInternet(network: string): boolean {
  if (!/[.:]/.test(network)) return false
  const [text = '', bits] = network.split('/')
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return bits !== undefined && Number(bits) < 8
  const length = bits === undefined ? 128 : Number(bits)
  if (address.isIPv4MappedAddress()) return length < 96 + 8
  return length < 16 && !['uniqueLocal', 'linkLocal'].includes(address.range())
}

export const proxiesByName =
  'name the proxies by address, network (10.0.0.0/8) or name (loopback, linklocal, uniquelocal)'

/**
 * What production takes, by what a setting is. The one table: each process's settings name a row of it, and a start is
 * refused with the names of all settings that break theirs. Values are compared by what they mean (the bytes of a key,
 * the host of an address), since a published secret in capital letters is a published secret.
 */
export const productionRules = {
  /** A setting whose default is on the same machine: production means it only where it says so. */
  mustBeSet: { required: true },
  /** One secret. */
  secret: ownSecrets((secret) => secret),
  /** Signing secrets of the payment provider's webhooks, `whsec_…`, comma-separated. */
  webhookSecrets: ownSecrets((secret) => secret.replace(/^whsec_/, '')),
  /** `id:secret`, comma-separated. */
  namedSecrets: ownSecrets((pair) => pair.slice(pair.indexOf(':') + 1)),
  /** A key of the payment provider: one that moves real money. */
  providerKey: {
    refuse: (key) =>
      /^(sk|rk)_live_/.test(key)
        ? whyNoSecret(key.replace(/^(sk|rk)_live_/, ''))
        : 'is a test key: production needs a live one, like sk_live_…',
  },
  /** `id:base64`, comma-separated: none of them, since each opens what it once sealed, and the oldest derives codes. */
  sealingKeys: {
    required: true,
    refuse: (list) =>
      parts(list)
        .map((part) => whyNoKey(part.slice(part.indexOf(':') + 1)))
        .find((reason) => reason !== undefined),
  },
  /** The address of a database: its password is a secret, and not another name of what it opens. */
  databaseUrl: {
    refuse(text) {
      const { username, password, pathname, hostname } = new URL(text)
      const names = [username, pathname.slice(1), hostname].map((name) => lettersAndDigits(decoded(name)))
      const secret = decoded(password)
      if (secret === '' || names.includes(lettersAndDigits(secret))) return 'needs a password of its own in production'
      const reason = whyNoSecret(secret)
      return reason && `has a password that ${reason}`
    },
  },
  /** An address, of mail or of a page, that somebody has to be behind. */
  realAddress: {
    required: true,
    refuse: (address) => whyNobodyIsAt(URL.parse(address)?.hostname ?? address.slice(address.lastIndexOf('@') + 1)),
  },
  /** Where people find the site. Cookies, passkeys and the payment page's way back need https, also behind a proxy. */
  siteUrl: {
    required: true,
    refuse(text) {
      const url = URL.parse(text)
      return url?.protocol === 'https:' ? whyNobodyIsAt(url.hostname) : 'has to begin with https:// in production'
    },
  },
  /** What proxies are believed. */
  proxies: {
    refuse: (value) =>
      meant(value) === 'true' || parts(value).some(isMuchOfTheInternet)
        ? `believes every visitor's header: ${proxiesByName}`
        : undefined,
  },
  /** Where a simulator is: production has none, which an empty value says as well. */
  simulator: {
    refuse: (url) => (url === '' ? undefined : 'is a simulator of Stripe: leave it out in production'),
  },
  clockOffset: {
    refuse: (text) =>
      Temporal.Duration.from(text).blank ? undefined : 'is for rehearsals: leave it out in production',
  },
} satisfies Record<string, ProductionRule>
