import { setTimeout as after } from 'node:timers/promises'

/** Resolves with a promise's value, or with undefined after `ms`. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([promise, after(ms, undefined, { signal: late.signal })])
  } finally {
    late.abort()
  }
}
