import type { AnyRouter } from '@tanstack/react-router'
import footer from './Footer.module.css'

/**
 * The footer is part of the document, not of the application: its links are followed by the router all the same. It is
 * found by its class, since a style sheet that no script of the browser imports is left out of the build.
 */
export function followFooter(router: AnyRouter): void {
  document.querySelector<HTMLElement>(`.${footer['footer']}`)?.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a')
    const elsewhere = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (!link || elsewhere || !(link.pathname in router.routesByPath)) return
    event.preventDefault()
    void router.navigate({ to: link.pathname })
  })
}
