import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (content: string | Uint8Array) => createHash('sha256').update(content).digest()

/** Compares two secrets of any length in constant time. */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}
