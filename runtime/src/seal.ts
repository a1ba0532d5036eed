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

/** Under which `npm start` and tests seal; production refuses to start with it, whatever the key is called. */
export const localSealingKeys = `local:${publishedKey.toString('base64')}`

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Keeps what must not be readable where it is stored or carried: encrypted and authenticated with AES-256-GCM. */
export interface Sealer {
  /** @param purpose what it is and whose; opening needs the same, so that nothing sealed can be put in another's place. */
  seal(content: string | Uint8Array, purpose: string): string
  /** @returns undefined for what was not sealed under these keys for this purpose. */
  open(sealed: string, purpose: string): Buffer | undefined
  /** The id of the key that seals: whatever begins with another one's was sealed under an older key. */
  newest: string
}

/** Derives what only who has the keys can foretell: HMAC-SHA256 under a key derived for the purpose, 32 bytes. */
export interface Deriver {
  /** Under the first key: always the same for the same content and purpose, until another key comes first. */
  mac(content: string | Uint8Array, purpose: string): Buffer
  /** Under each key, the first one's first: what was derived before the keys changed places is still among them. */
  macs(content: string | Uint8Array, purpose: string): Buffer[]
}

/** Reads `id:base64,id:base64` with 32 bytes each. */
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
      // Which one sealed something is told by its id alone.
      context.addIssue(`has two keys called ${id}: a new key needs an id of its own`)
      return z.NEVER
    }
    keys.set(id, createSecretKey(bytes))
  }
  return keys
})

/**
 * A setting of sealing keys: `id:base64`, comma-separated, 32 bytes each (`openssl rand -base64 32`). The first one seals
 * and all of them open. A new key is put behind the others in every process first, then before them; what older ones sealed
 * is sealed anew by `npm run admin -- reseal`, and then these are taken out.
 */
export const sealingKeysSchema = keyList.transform(createSealer).register(inProduction, productionRules.sealingKeys)

/** A setting of keys that derive, as `sealingKeysSchema`: they are no sealing keys, so that either can be replaced alone. */
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
