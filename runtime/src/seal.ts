import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { z } from 'zod'
import { inProduction, productionRules, publishedKey } from './production-rules.ts'

/** The sealing key of `npm start` and the tests; production does not start with it, under any id. */
export const localSealingKeys = `local:${publishedKey.toString('base64')}`

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Encrypts and authenticates data that must not be readable in storage or in transit, with AES-256-GCM. */
export interface Sealer {
  /** @param purpose what it is and whose. Opening requires the same, so that sealed values cannot be swapped. */
  seal(content: string | Uint8Array, purpose: string): string
  /** @returns undefined if it was not sealed under these keys for this purpose. */
  open(sealed: string, purpose: string): Buffer | undefined
  /** The id of the key that seals. Values that start with another id were sealed under an older key. */
  newest: string
}

/** Derives values that cannot be predicted without the keys: HMAC-SHA256 with a key derived per purpose, 32 bytes. */
export interface Deriver {
  /** With the first key. The result for the same content and purpose changes only with that key. */
  mac(content: string | Uint8Array, purpose: string): Buffer
  /** With each key, in order: values derived before a change of keys are still among them. */
  macs(content: string | Uint8Array, purpose: string): Buffer[]
}

/** Parses `id:base64,id:base64` with 32 bytes each. */
const keyList = z.string().transform((list, context): Map<string, KeyObject> => {
  const keys = new Map<string, KeyObject>()
  for (const entry of list.split(',')) {
    const [, id, base64] = /^(\w{1,16}):([\w+/=-]+)$/.exec(entry.trim()) ?? []
    const bytes = Buffer.from(base64 ?? '', 'base64')
    if (id === undefined || bytes.length !== 32) {
      context.addIssue('is not a list of keys like k1:… with 32 bytes in base64')
      return z.NEVER
    }
    if (keys.has(id)) {
      // Only the id says which key sealed a value.
      context.addIssue(`has two keys called ${id}: a new key needs an id of its own`)
      return z.NEVER
    }
    keys.set(id, createSecretKey(bytes))
  }
  return keys
})

/**
 * The setting of sealing keys: `id:base64`, comma-separated, 32 bytes each (`openssl rand -base64 32`). The first one seals,
 * all of them open. To rotate keys, append the new key in every process, then move it to the front, reseal with
 * `npm run admin -- reseal`, and remove the older keys.
 */
export const sealingKeysSchema = keyList.transform(createSealer).register(inProduction, productionRules.sealingKeys)

/** The setting of derivation keys, in the same format. They are separate from sealing keys, so that each can be replaced alone. */
export const derivingKeysSchema = keyList.transform(createDeriver).register(inProduction, productionRules.sealingKeys)

function createSealer(keys: Map<string, KeyObject>): Sealer {
  const [newest] = keys
  if (!newest) throw new Error('There is no key to seal with.')
  return {
    newest: newest[0],
    seal(content, purpose) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, newest[1], iv).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([iv, cipher.update(content), cipher.final(), cipher.getAuthTag()])
      return `${newest[0]}.${sealed.toString('base64url')}`
    },
    open(sealed, purpose) {
      const [id = '', encoded = ''] = sealed.split('.')
      const key = keys.get(id)
      const bytes = Buffer.from(encoded, 'base64url')
      if (!key || bytes.length < ivBytes + tagBytes) return undefined
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(-tagBytes))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
      } catch {
        return undefined
      }
    },
  }
}

function createDeriver(keys: Map<string, KeyObject>): Deriver {
  const derived = new Map<string, KeyObject[]>()
  const keysFor = (purpose: string): KeyObject[] => {
    const known = derived.get(purpose)
    if (known) return known
    const made = [...keys.values()].map((key) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `mac:${purpose}`, 32))),
    )
    derived.set(purpose, made)
    return made
  }
  const under = (key: KeyObject, content: string | Uint8Array) => createHmac('sha256', key).update(content).digest()
  return {
    mac(content, purpose) {
      const [first] = keysFor(purpose)
      if (!first) throw new Error('There is no key to derive from.')
      return under(first, content)
    },
    macs: (content, purpose) => keysFor(purpose).map((key) => under(key, content)),
  }
}
