import { useDeferredValue, useRef, useSyncExternalStore } from 'react'

const never = () => () => undefined

/**
 * False while a prerendered page is taken over, and true from the first render of all that comes after. What changes then is
 * rendered in small pieces: React's own way, an external store that differs, would do a whole form's at once.
 */
export function useHydrated(): boolean {
  // It stays what it was at first: that it is over is the deferred value's to tell.
  const first = useRef<boolean>(undefined)
  const atFirst = useSyncExternalStore(
    never,
    () => (first.current ??= true),
    () => (first.current ??= false),
  )
  return useDeferredValue(true, atFirst)
}
