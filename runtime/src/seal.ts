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
  /**
   * 32 bytes that only who has the keys can foretell, always the same for the same content and purpose: HMAC-SHA256 under
   * a key derived for the purpose from the oldest key, so that a new key in front changes nothing.
   */
  mac(content: string | Uint8Array, purpose: string): Buffer
}

/**
 * A setting of sealing keys: `id:base64`, comma-separated, 32 bytes each (`openssl rand -base64 32`). The first one
 * seals and all of them open, so that a key is replaced by putting a new one in front.
 */
export const sealingKeysSchema = z
  .string()
  .transform((list, context): Sealer => {
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
    return createSealer(keys)
  })
  .register(inProduction, productionRules.sealingKeys)

function createSealer(keys: Map<string, KeyObject>): Sealer {
  const macKeys = new Map<string, KeyObject>()
  return {
    seal(content, purpose) {
      const [newest] = keys
      if (!newest) throw new Error('There is no key to seal with.')
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
    mac(content, purpose) {
      let key = macKeys.get(purpose)
      if (!key) {
        const oldest = [...keys.values()].at(-1)
        if (!oldest) throw new Error('There is no key to derive from.')
        key = createSecretKey(Buffer.from(hkdfSync('sha256', oldest, '', `mac:${purpose}`, 32)))
        macKeys.set(purpose, key)
      }
      return createHmac('sha256', key).update(content).digest()
    },
  }
}
