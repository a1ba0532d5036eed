import { useEffect, useState } from 'react'

/** The browser may not get there, or may be stopped on the way: then the page must not wait for ever. */
const givenUpAfterMs = 15_000

/**
 * Goes to another site, and tells meanwhile that it is leaving. Coming back from there by Back shows this very page again
 * (the back/forward cache), which is then not leaving any more.
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
