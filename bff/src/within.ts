import { setTimeout as after } from 'node:timers/promises'

/** What a promise comes to; undefined where that takes longer. @throws what it is rejected with by then */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([promise, after(ms, undefined, { signal: late.signal })])
  } finally {
    late.abort()
  }
}
