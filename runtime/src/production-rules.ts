import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** A production requirement for a setting, beyond its schema. */
export interface ProductionRule {
  /** The setting is required: its default is for development only. */
  required?: boolean
  /** Returns why production rejects a value, as text after the setting's name; undefined if it is accepted. */
  findProblem?: (value: string) => string | undefined
}

/**
 * Assigns production rules to settings: `schema.register(inProduction, productionRules.secret)`. It has to be the last call,
 * because every other method returns another schema.
 */
export const inProduction = z.registry<ProductionRule>()

/** The secrets in this repository, apart from the sealing key: everyone who reads it knows them. */
const publishedSecrets = ['local', 'local-admin', 'local-client-secret', 'local-nats', 'whsec_local', 'sk_test_local']
/** The sealing key of `npm start` and the tests. */
export const publishedKey = Buffer.alloc(32, 'robokids')

/**
 * More than anyone can try over a network. Of 16 random bytes the estimate is about 90, and below this once in ten million:
 * chance makes words and sequences too.
 */
export const minBits = 44
/** Random bytes have few repeated values: 32 of them have fewer than 20 distinct ones once in 10¹³ keys. */
const minDistinctBytes = 20

/** Words that people use in passwords or as placeholders. They add no entropy. */
const knownWords =
  /local|admin|secret|passwor[dt]|pass|change|me|default|example|sample|tests?|demo|root|postgres|robokids?|learning|school|welcome|letmein|qwert[yz]?|asdf|zxcv|iloveyou|master|login|user|keys?|prod(?:uction)?|billing|enrollment|identity|notifications|bff/g
const leet: Record<string, string> = { '0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's' }

/** Normalizes a text: lower case, without blanks and invisible characters. */
const normalize = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
/** Decodes percent-encoded parts of a URL; anything else stays as it is. */
const decodeUrlPart = (item: string) =>
  item.replaceAll(/(%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
const lettersAndDigits = (text: string) => normalize(text).replaceAll(/[^\p{L}\p{N}]/gu, '')
const publishedTexts = new Set(publishedSecrets.map(lettersAndDigits))

/**
 * Returns an upper bound for the entropy of a secret in bits. Known words, repeated characters, sequences (`abc`, `321`) and
 * whatever repeats an earlier part are left out; the rest counts by the frequency of its characters.
 */
export function estimateEntropyBits(secret: string): number {
  const plain = normalize(secret)
  const words = plain.replaceAll(/[013457@$]/g, (sign) => leet[sign] ?? sign)
  const inWord = new Set<number>()
  for (const { index, 0: word } of words.matchAll(knownWords))
    for (let place = index; place < index + word.length; place += 1) inWord.add(place)
  const codes = [...plain].filter((_, place) => !inWord.has(place)).map((sign) => sign.codePointAt(0) ?? 0)
  const steps = codes.map((code, place) => code - (codes[place - 1] ?? Infinity))
  const earlierTriples = new Set<string>()
  const kept = codes.filter((_, place) => {
    const step = steps[place] ?? 0
    const triple = codes.slice(Math.max(place - 2, 0), place + 1).join(' ')
    const isRepeat = earlierTriples.has(triple)
    earlierTriples.add(triple)
    return step !== 0 && !isRepeat && !(Math.abs(step) === 1 && step === steps[place - 1])
  })
  const counts = new Map<number, number>()
  for (const code of kept) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => bits - count * Math.log2(count / kept.length), 0)
}

/** Returns why production rejects a secret; undefined if it is accepted. */
function secretProblem(secret: string): string | undefined {
  const letters = lettersAndDigits(secret)
  if (publishedTexts.has(letters) || letters.startsWith('local'))
    return 'is written in the source code: set one of your own in production'
  if (estimateEntropyBits(secret) < minBits)
    return 'can be guessed: set a random one, of `openssl rand -base64 32` for example'
  return undefined
}

const splitList = (list: string) =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** @param secretOf returns the secret of a list item. */
function secretList(secretOf: (item: string) => string): ProductionRule {
  return {
    required: true,
    findProblem: (list) =>
      splitList(list)
        .map((item) => secretProblem(secretOf(item)))
        .find((reason) => reason !== undefined),
  }
}

/** Returns why production rejects a key; undefined if it is accepted. Compares bytes, so that spelling and id do not matter. */
function keyProblem(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.equals(publishedKey))
    return 'has a key that is written in the source code: set one of your own in production'
  const steps = bytes.map((byte, place) => byte - (bytes[place - 1] ?? 0))
  const isTyped = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
  if (isTyped || [bytes, steps].some((values) => new Set(values).size < minDistinctBytes))
    return 'has a key that can be guessed: set a random one, of `openssl rand -base64 32`'
  return undefined
}

/** Names that do not exist on the internet: for examples and tests (RFC 2606), this machine, and home networks. */
const reservedNamePattern =
  /(^|\.)(example|invalid|test|localhost|local|internal|lan|home\.arpa|example\.(com|net|org))$/

/** Returns why production rejects a host; undefined if it is accepted. @param host of a URL or a mail address. */
function hostProblem(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (reservedNamePattern.test(name))
    return 'is an example, or a name within a network: set an address of your own in production'
  if (!name.includes('.') || isIP(name.replaceAll(/[[\]]/g, '')) !== 0)
    return 'has no domain: set an address of your own in production'
  return undefined
}

/** Returns whether a network is larger than one organization's: over an IPv4 /8, or over an IPv6 /16 that is not private. */
function isTooBroad(network: string): boolean {
  if (!/[.:]/.test(network)) return false
  const [text = '', bits] = network.split('/')
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return bits !== undefined && Number(bits) < 8
  const length = bits === undefined ? 128 : Number(bits)
  if (address.isIPv4MappedAddress()) return length < 96 + 8
  return length < 16 && !['uniqueLocal', 'linkLocal'].includes(address.range())
}

export const proxiesHint =
  'name the proxies by address, network (10.0.0.0/8) or name (loopback, linklocal, uniquelocal)'

/**
 * The production rules by kind of setting. Each process's settings refer to a rule here, and a process does not start if a
 * setting violates its rule; the error names all of them. Values are compared by meaning (the bytes of a key, the host of a
 * URL), because a published secret in capital letters is still a published secret.
 */
export const productionRules = {
  /** A setting whose default is on the same machine: production has to set it explicitly. */
  mustBeSet: { required: true },
  /** One secret. */
  secret: secretList((secret) => secret),
  /** Signing secrets of the payment provider's webhooks, `whsec_…`, comma-separated. */
  webhookSecrets: secretList((secret) => secret.replace(/^whsec_/, '')),
  /** `id:secret`, comma-separated. */
  namedSecrets: secretList((pair) => pair.slice(pair.indexOf(':') + 1)),
  /** A payment provider key: must be a live key. */
  providerKey: {
    findProblem: (key) =>
      /^(sk|rk)_live_/.test(key)
        ? secretProblem(key.replace(/^(sk|rk)_live_/, ''))
        : 'is a test key: production needs a live one, like sk_live_…',
  },
  /** `id:base64`, comma-separated. All keys are checked: each still opens what it sealed, and the oldest derives codes. */
  sealingKeys: {
    required: true,
    findProblem: (list) =>
      splitList(list)
        .map((item) => keyProblem(item.slice(item.indexOf(':') + 1)))
        .find((reason) => reason !== undefined),
  },
  /** A database URL: its password must be a secret that differs from the names in the URL. */
  databaseUrl: {
    findProblem(text) {
      const { username, password, pathname, hostname } = new URL(text)
      const names = [username, pathname.slice(1), hostname].map((name) => lettersAndDigits(decodeUrlPart(name)))
      const secret = decodeUrlPart(password)
      if (secret === '' || names.includes(lettersAndDigits(secret))) return 'needs a password of its own in production'
      const reason = secretProblem(secret)
      return reason && `has a password that ${reason}`
    },
  },
  /** A mail address or URL that must really exist. */
  realAddress: {
    required: true,
    findProblem: (address) => hostProblem(URL.parse(address)?.hostname ?? address.slice(address.lastIndexOf('@') + 1)),
  },
  /** The public URL of the site. Cookies, passkeys and the return from the payment page need https, also behind a proxy. */
  siteUrl: {
    required: true,
    findProblem(text) {
      const url = URL.parse(text)
      return url?.protocol === 'https:' ? hostProblem(url.hostname) : 'has to begin with https:// in production'
    },
  },
  /** The trusted proxies. */
  proxies: {
    findProblem: (value) =>
      normalize(value) === 'true' || splitList(value).some(isTooBroad)
        ? `believes every visitor's header: ${proxiesHint}`
        : undefined,
  },
  /** The URL of a simulator: production must not have one; an empty value is accepted. */
  simulator: {
    findProblem: (url) => (url === '' ? undefined : 'is a simulator of Stripe: leave it out in production'),
  },
  clockOffset: {
    findProblem: (text) =>
      Temporal.Duration.from(text).blank ? undefined : 'is for rehearsals: leave it out in production',
  },
} satisfies Record<string, ProductionRule>
