import { useEffect, useState } from 'react'

/** The navigation may fail or be stopped: then the page must become usable again. */
const givenUpAfterMs = 15_000

/**
 * Navigates to another site, and is `leaving` meanwhile. Back restores this page from the back/forward cache, which
 * resets it.
 */
export function useExternalRedirect(): { leaving: boolean; leaveFor: (url: string) => void } {
  const [leaving, setLeaving] = useState(false)

  useEffect(() => {
    const cameBack = (event: PageTransitionEvent) => {
      if (event.persisted) setLeaving(false)
    }
    window.addEventListener('pageshow', cameBack)
    return () => window.removeEventListener('pageshow', cameBack)
  }, [])

  useEffect(() => {
    if (!leaving) return
    const timer = setTimeout(() => setLeaving(false), givenUpAfterMs)
    return () => clearTimeout(timer)
  }, [leaving])

  return {
    leaving,
    leaveFor(url) {
      setLeaving(true)
      window.location.assign(url)
    },
  }
}
