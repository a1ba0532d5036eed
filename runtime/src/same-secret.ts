import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (content: string | Uint8Array) => createHash('sha256').update(content).digest()

/** Whether two secrets, of whatever length, are the same: how long it takes tells nothing of either. */
export function isSameSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}
