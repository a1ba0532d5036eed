import { type FocusEvent, useEffect, useState, useSyncExternalStore } from 'react'

const reducedMotion = '(prefers-reduced-motion: reduce)'

function followReducedMotion(onChange: () => void) {
  const media = window.matchMedia(reducedMotion)
  media.addEventListener('change', onChange)
  return () => media.removeEventListener('change', onChange)
}

function followVisibility(onChange: () => void) {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

/** The prerendered page knows neither. */
const unknown = () => false

/**
 * Slides that take turns by themselves. They hold still for whoever points at them, tabs to them, reads another tab,
 * asked for less motion, or paused them; each turn, and each choice of one's own, starts the time anew.
 */
export function useTurns(count: number, intervalMs: number) {
  const [index, setIndex] = useState(0)
  const [paused, setPaused] = useState(false)
  const [pointedAt, setPointedAt] = useState(false)
  const [tabbedTo, setTabbedTo] = useState(false)
  const still = useSyncExternalStore(followReducedMotion, () => window.matchMedia(reducedMotion).matches, unknown)
  const hidden = useSyncExternalStore(followVisibility, () => document.hidden, unknown)
  const running = !paused && !pointedAt && !tabbedTo && !still && !hidden

  const show = (to: number) => setIndex((to + count) % count)

  useEffect(() => {
    if (!running) return
    const timer = setTimeout(() => setIndex((index + 1) % count), intervalMs)
    return () => clearTimeout(timer)
  }, [running, index, count, intervalMs])

  return {
    index,
    show,
    running,
    paused,
    setPaused,
    /** Reduced motion: there is nothing to pause. */
    still,
    /** For what surrounds the slides and their controls. */
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
