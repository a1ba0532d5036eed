import type { AnyRouter } from '@tanstack/react-router'

/**
 * Fades each page into the next, where the browser can and nobody asked for less motion. The router's own option leaves a
 * fade that the next one overtakes as an error that nobody handles.
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
