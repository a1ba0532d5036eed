import type { AnyRouter } from '@tanstack/react-router'

/** Takes keyboards and screen readers to the page's heading. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/** Gives each page its title, and takes keyboards and screen readers to its heading when one comes from another page. */
export function followNavigation(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    const title = router.state.matches.at(-1)?.staticData.title ?? 'Page not found'
    document.title = `${title} · Robo Kids Learning`
    if (!fromLocation || !pathChanged) return
    focusHeading()
  })
}
