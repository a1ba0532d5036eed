/**
 * The browser's storage if available, else memory for this visit. Its getter can throw (blocked cookies), and so can setItem
 * (full, or private mode): neither may break the page.
 */
export interface SafeStorage {
  get: (key: string) => string | null
  set: (key: string, value: string) => void
  remove: (key: string) => void
  /** The current values of the keys that this page has used, for comparison later. */
  snapshot: () => string
}

export function safeStorage(browserStorage: () => Storage): SafeStorage {
  // What the browser refused to store, and what it refused to remove (null).
  const memory = new Map<string, string | null>()
  const used = new Set<string>()
  const storage: SafeStorage = {
    get(key) {
      used.add(key)
      const kept = memory.get(key)
      if (kept !== undefined) return kept
      try {
        return browserStorage().getItem(key)
      } catch {
        return null
      }
    },
    set(key, value) {
      used.add(key)
      try {
        browserStorage().setItem(key, value)
        memory.delete(key)
      } catch {
        memory.set(key, value)
      }
    },
    remove(key) {
      used.add(key)
      try {
        browserStorage().removeItem(key)
        memory.delete(key)
      } catch {
        memory.set(key, null)
      }
    },
    snapshot: () => JSON.stringify([...used].map((key) => [key, storage.get(key)])),
  }
  return storage
}

export const session = safeStorage(() => window.sessionStorage)
export const local = safeStorage(() => window.localStorage)
