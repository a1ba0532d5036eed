import type { AnyRouter } from '@tanstack/react-router'
import { composeAnew } from './api.ts'
import footer from './components/Footer.module.css'

/** Takes keyboards and screen readers to the page's heading. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/** Gives each page its head, and takes keyboards and screen readers to its heading when one comes from another page. */
export function followNavigation(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, toLocation, pathChanged }) => {
    // The first page's head came with the document.
    if (!fromLocation) return
    const title = router.state.matches.at(-1)?.staticData.title ?? 'Page not found'
    document.title = `${title} · Robo Kids Learning`
    if (!pathChanged) return
    composeAnew()
    focusHeading()
    void changeHead(toLocation.pathname, title)
  })
}

/**
 * The footer is the document's, not the application's: its links are followed within the application all the same. It is
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

async function changeHead(path: string, title: string): Promise<void> {
  try {
    const { changeHead } = await import('./head/change-head.ts')
    changeHead(path, title)
  } catch {
    // The page is there all the same; what it says to those who share it comes with the next document.
  }
}
