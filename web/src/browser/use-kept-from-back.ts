import { useEffect } from 'react'

/**
 * For pages with a person's own data: the back/forward cache may show them to the next person at the browser. The page is
 * blanked when it is left, and reloaded when it is restored.
 */
export function useKeptFromBack(page: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const leave = (event: PageTransitionEvent) => {
      if (event.persisted && page.current) page.current.hidden = true
    }
    const comeBack = (event: PageTransitionEvent) => {
      if (event.persisted) window.location.reload()
    }
    window.addEventListener('pagehide', leave)
    window.addEventListener('pageshow', comeBack)
    return () => {
      window.removeEventListener('pagehide', leave)
      window.removeEventListener('pageshow', comeBack)
    }
  }, [page])
}
