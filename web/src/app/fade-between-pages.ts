import type { AnyRouter } from '@tanstack/react-router'

/**
 * Cross-fades pages, unless the browser cannot or the user prefers reduced motion. The router's own option leaves an
 * unhandled rejection when the next transition interrupts one.
 */
export function fadeBetweenPages(router: AnyRouter): void {
  router.startViewTransition = (update) => {
    const from = router.state.resolvedLocation?.pathname
    const stays = from === undefined || from === router.latestLocation.pathname
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches
    if (stays || still || !('startViewTransition' in document)) return update()
    const fade = document.startViewTransition(update)
    fade.ready.catch(() => undefined)
    return fade.updateCallbackDone
  }
}
