import { type Dispatch, type SetStateAction, useState } from 'react'
import { useHydrated } from './use-hydrated.ts'

/**
 * State with an initial value that only the browser knows: storage, URL, clock. The prerendered page was rendered
 * without it, so hydration starts with `blank` and reads it right after.
 */
export function useClientState<T>(blank: T, read: () => T): [T, Dispatch<SetStateAction<T>>] {
  const hydrated = useHydrated()
  const [value, setValue] = useState(() => (hydrated ? read() : blank))
  const [first] = useState(value)
  const [isRead, setIsRead] = useState(hydrated)
  if (hydrated && !isRead) {
    setIsRead(true)
    // A value that was filled in meanwhile is newer.
    if (value === first) setValue(read())
  }
  return [value, setValue]
}
