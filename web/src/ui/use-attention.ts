import { type FocusEvent, useState, useSyncExternalStore } from 'react'

function followVisibility(onChange: () => void) {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

/**
 * For elements that move or disappear by themselves: `held` on hover, on keyboard focus, and in a background tab. Put `attention`
 * on the element around it and its controls.
 */
export function useAttention() {
  const [pointedAt, setPointedAt] = useState(false)
  const [tabbedTo, setTabbedTo] = useState(false)
  const hidden = useSyncExternalStore(
    followVisibility,
    () => document.hidden,
    // Unknown in the prerendered page.
    () => false,
  )
  return {
    held: pointedAt || tabbedTo || hidden,
    attention: {
      onPointerEnter: () => setPointedAt(true),
      onPointerLeave: () => setPointedAt(false),
      // A click leaves the focus on a button; only keyboard focus means that somebody is reading here.
      onFocus: (event: FocusEvent) => setTabbedTo(event.target.matches(':focus-visible')),
      onBlur: (event: FocusEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setTabbedTo(false)
      },
    },
  }
}
