import { type Dispatch, type SetStateAction, useState } from 'react'
import { useHydrated } from './use-hydrated.ts'

/**
 * State that begins with what only this browser knows: its storage, its address, its clock. The prerendered page was made
 * without, so that a page that is being hydrated begins with `blank` and reads at once after that.
 */
export function useClientState<T>(blank: T, read: () => T): [T, Dispatch<SetStateAction<T>>] {
  const hydrated = useHydrated()
  const [value, setValue] = useState(() => (hydrated ? read() : blank))
  const [first] = useState(value)
  const [isRead, setIsRead] = useState(hydrated)
  if (hydrated && !isRead) {
    setIsRead(true)
    // What the browser has filled in meanwhile is newer.
    if (value === first) setValue(read())
  }
  return [value, setValue]
}
