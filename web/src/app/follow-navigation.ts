import type { AnyRouter } from '@tanstack/react-router'
import { adoptSignedInAccount } from '../api/api.ts'
import { focusHeading } from '../ui/focus-heading.ts'

/** Gives each page its head, and takes keyboards and screen readers to its heading when one comes from another page. */
export function followNavigation(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, toLocation, pathChanged }) => {
    // The first page's head came with the document.
    if (!fromLocation) return
    const title = router.state.matches.at(-1)?.staticData.title ?? 'Page not found'
    document.title = `${title} · Robo Kids Learning`
    if (!pathChanged) return
    adoptSignedInAccount()
    focusHeading()
    void changeHead(toLocation.pathname, title)
  })
}

async function changeHead(path: string, title: string): Promise<void> {
  try {
    const { changeHead } = await import('../head/change-head.ts')
    changeHead(path, title)
  } catch {
    // The page is there all the same; what it says to those who share it comes with the next document.
  }
}
