import type { Challenge } from '@robokids/contracts/proof'
import { solveChallenge } from 'altcha-lib'

/** The length of a time slice on the main thread: shorter than a frame. */
const sliceMs = 10

const derived = async ({ cost, keyLength }: Challenge['parameters'], salt: Uint8Array, password: Uint8Array) => {
  // Available in secure contexts only; asynchronous.
  if (globalThis.crypto?.subtle) {
    const key = await crypto.subtle.importKey('raw', password as BufferSource, 'PBKDF2', false, ['deriveBits'])
    const how = { name: 'PBKDF2', hash: 'SHA-256', salt: salt as BufferSource, iterations: cost }
    return new Uint8Array(await crypto.subtle.deriveBits(how, key, keyLength * 8))
  }
  const [{ pbkdf2 }, { sha256 }] = await Promise.all([
    import('@noble/hashes/pbkdf2.js'),
    import('@noble/hashes/sha2.js'),
  ])
  return pbkdf2(sha256, password, salt, { c: cost, dkLen: keyLength })
}

/** Solves a challenge in slices, so that other tasks can run in between. */
export async function findSolution(challenge: Challenge): Promise<{ counter: number; derivedKey: string }> {
  let begun = performance.now()
  const solution = await solveChallenge({
    challenge,
    timeout: 0,
    async deriveKey(_, salt, password) {
      if (performance.now() - begun > sliceMs) {
        await new Promise((resolve) => setTimeout(resolve))
        begun = performance.now()
      }
      return { derivedKey: await derived(challenge.parameters, salt, password) }
    },
  })
  if (!solution) throw new Error('The challenge has no solution.')
  const { counter, derivedKey } = solution
  return { counter, derivedKey }
}
