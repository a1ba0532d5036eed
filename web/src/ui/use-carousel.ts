import { useEffect, useState, useSyncExternalStore } from 'react'
import { useAttention } from './use-attention.ts'

const reducedMotion = '(prefers-reduced-motion: reduce)'

function followReducedMotion(onChange: () => void) {
  const media = window.matchMedia(reducedMotion)
  media.addEventListener('change', onChange)
  return () => media.removeEventListener('change', onChange)
}

/**
 * Slides that advance by themselves. They pause on hover, on focus, in a background tab, when the user
 * prefers reduced motion, or has paused them; each change of slide restarts the timer.
 */
export function useCarousel(count: number, intervalMs: number) {
  const [index, setIndex] = useState(0)
  const [paused, setPaused] = useState(false)
  const { held, attention } = useAttention()
  const still = useSyncExternalStore(
    followReducedMotion,
    () => window.matchMedia(reducedMotion).matches,
    // Unknown in the prerendered page.
    () => false,
  )
  const running = !paused && !held && !still

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
    /** Props for the element around the slides and their controls. */
    attention,
  }
}
