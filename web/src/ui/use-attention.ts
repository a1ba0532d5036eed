import { type FocusEvent, useState, useSyncExternalStore } from 'react'

function followVisibility(onChange: () => void) {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

/**
 * For what moves or leaves by itself: `held` while somebody points at it, has tabbed to it, or reads another tab. `attention`
 * belongs on what surrounds it and its controls.
 */
export function useAttention() {
  const [pointedAt, setPointedAt] = useState(false)
  const [tabbedTo, setTabbedTo] = useState(false)
  const hidden = useSyncExternalStore(
    followVisibility,
    () => document.hidden,
    // The prerendered page does not know.
    () => false,
  )
  return {
    held: pointedAt || tabbedTo || hidden,
    attention: {
      onPointerEnter: () => setPointedAt(true),
      onPointerLeave: () => setPointedAt(false),
      // A click leaves the focus on an arrow for good; only keys mean that somebody is reading here.
      onFocus: (event: FocusEvent) => setTabbedTo(event.target.matches(':focus-visible')),
      onBlur: (event: FocusEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setTabbedTo(false)
      },
    },
  }
}
