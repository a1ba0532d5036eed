import { useDeferredValue, useRef, useSyncExternalStore } from 'react'

const never = () => () => undefined

/**
 * False while a prerendered page is hydrated, and true from the first render of later screens. The change is
 * interruptible, unlike an external store that differs, which React would re-render synchronously.
 */
export function useHydrated(): boolean {
  // Constant per component: the deferred value is what changes.
  const first = useRef<boolean>(undefined)
  const atFirst = useSyncExternalStore(
    never,
    () => (first.current ??= true),
    () => (first.current ??= false),
  )
  return useDeferredValue(true, atFirst)
}
