import { type PageData, pageDataId } from '@robokids/contracts/pages'
import { QueryClient } from '@tanstack/react-query'
import { RouterClient } from '@tanstack/react-router/ssr/client'
import { startTransition, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import '../ui/tokens.css'
import '../ui/base.css'
import { forgetUser } from '../account/session.ts'
import { ApiError, whenSignInIsRequired } from '../api/api.ts'
import { followCookieBanner } from '../cookies/follow-cookie-banner.ts'
import { followFooter } from '../frame/follow-footer.ts'
import { followComingBack } from './follow-coming-back.ts'
import { followNavigation } from './follow-navigation.ts'
import { answerQueries } from './page-data.ts'
import { buildRouter } from './router.tsx'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Client errors are final; a lost connection or a server error may succeed on a retry.
      retry: (failures, error) =>
        failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
})
const pageData = document.getElementById(pageDataId)?.textContent
if (pageData) {
  // The document was just fetched, unless it was restored from the history, when its age is unknown.
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  answerQueries(queryClient, JSON.parse(pageData) as PageData, navigation?.type === 'back_forward' ? 1 : Date.now())
}

function hydrate(place: HTMLElement): void {
  const router = buildRouter(queryClient)
  followNavigation(router)
  followFooter(router)
  // Imported after what pages need: until then pages change without a fade.
  void import('./fade-between-pages.ts').then(({ fadeBetweenPages }) => fadeBetweenPages(router)).catch(() => undefined)
  // Interruptible, so that input is handled in between.
  startTransition(() => {
    hydrateRoot(
      place,
      <StrictMode>
        <RouterClient router={router} />
      </StrictMode>,
    )
  })
}

followCookieBanner()

whenSignInIsRequired(() => forgetUser(queryClient))
followComingBack(queryClient)

const place = document.getElementById('root')
if (!place) throw new Error('The document has no #root')
// In a task of its own: on a phone, evaluating the scripts is long enough.
setTimeout(hydrate, 0, place)
