import type { AnyRouter } from '@tanstack/react-router'

/** Takes keyboards and screen readers to the page's heading. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/** Takes keyboards and screen readers to a page's heading when one comes from another page. */
export function followNavigation(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    if (!fromLocation || !pathChanged) return
    // It describes the page that the document came with.
    for (const script of document.querySelectorAll('script[type="application/ld+json"]')) script.remove()
    focusHeading()
  })
}
