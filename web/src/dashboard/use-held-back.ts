import { useEffect, useState } from 'react'

/** Whether something that appears would move what the parent reads or is about to press. */
function isInUse(): boolean {
  return window.scrollY > 0 || document.activeElement?.matches('main :is(a, button, input, summary)') === true
}

/**
 * Holds back what is new on an open page while it is in use, so that nothing moves under a finger; at its top and without a
 * focus, it is shown at once.
 * @param ids of all that could be shown
 */
export function useHeldBack(ids: readonly string[]): {
  held: number
  isShown: (id: string) => boolean
  show: () => void
} {
  const [shown, setShown] = useState<ReadonlySet<string>>(() => new Set(ids))
  const held = ids.filter((id) => !shown.has(id)).length
  const show = () => setShown(new Set([...shown, ...ids]))
  useEffect(() => {
    if (held > 0 && (shown.size === 0 || !isInUse())) show()
    // oxlint-disable-next-line react/exhaustive-deps -- only when something new has come
  }, [held])
  return { held, isShown: (id) => shown.has(id), show }
}
