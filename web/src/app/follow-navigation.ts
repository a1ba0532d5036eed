import type { AnyRouter } from '@tanstack/react-router'
import { adoptSignedInAccount } from '../api/api.ts'
import { focusHeading } from '../ui/focus-heading.ts'

/** On navigation, updates the document's head and moves the focus to the page's heading. */
export function followNavigation(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, toLocation, pathChanged }) => {
    // The first page has its head from the document.
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
    // The page works without: only its metadata for sharing stays that of the previous page.
  }
}
