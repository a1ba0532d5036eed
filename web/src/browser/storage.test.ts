import { describe, expect, it } from 'vitest'
import { safeStorage } from './storage.ts'

function browserStorage(): Storage {
  const values = new Map<string, string>()
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    clear: () => values.clear(),
    key: (index) => [...values.keys()][index] ?? null,
    get length() {
      return values.size
    },
  }
}

describe('safeStorage', () => {
  it('keeps values in the browser where it may', () => {
    const browser = browserStorage()
    const storage = safeStorage(() => browser)
    storage.set('a', '1')
    expect(browser.getItem('a')).toBe('1')
    expect(storage.get('a')).toBe('1')
    storage.remove('a')
    expect(browser.getItem('a')).toBeNull()
    expect(storage.get('a')).toBeNull()
  })

  it('sees what another tab wrote', () => {
    const browser = browserStorage()
    const storage = safeStorage(() => browser)
    storage.set('a', '1')
    browser.setItem('a', '2')
    expect(storage.get('a')).toBe('2')
  })

  it('remembers for the visit when the storage getter throws', () => {
    const storage = safeStorage(() => {
      throw new DOMException('blocked', 'SecurityError')
    })
    expect(storage.get('a')).toBeNull()
    storage.set('a', '1')
    expect(storage.get('a')).toBe('1')
    storage.remove('a')
    expect(storage.get('a')).toBeNull()
  })

  it('remembers for the visit when setItem throws, over an older value', () => {
    const browser = browserStorage()
    browser.setItem('a', 'old')
    let full = true
    const setItem = browser.setItem.bind(browser)
    browser.setItem = (key, value) => {
      if (full) throw new DOMException('full', 'QuotaExceededError')
      setItem(key, value)
    }
    const storage = safeStorage(() => browser)
    storage.set('a', 'new')
    expect(storage.get('a')).toBe('new')
    full = false
    storage.set('a', 'newer')
    expect(storage.get('a')).toBe('newer')
    expect(browser.getItem('a')).toBe('newer')
  })
})
