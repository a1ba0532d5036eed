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
      // A refusal stays a refusal; a lost connection or a server in trouble may be gone at the next try.
      retry: (failures, error) =>
        failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
})
const pageData = document.getElementById(pageDataId)?.textContent
if (pageData) {
  // The server was asked for the document just now; of one that is come back to nobody knows how old it is.
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  answerQueries(queryClient, JSON.parse(pageData) as PageData, navigation?.type === 'back_forward' ? 1 : Date.now())
}

function hydrate(place: HTMLElement): void {
  const router = buildRouter(queryClient)
  followNavigation(router)
  followFooter(router)
  // Later than what pages need: until it is there, one page takes the place of another at once.
  void import('./fade-between-pages.ts').then(({ fadeBetweenPages }) => fadeBetweenPages(router)).catch(() => undefined)
  // In small pieces: what somebody presses meanwhile is answered between them.
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
// Apart from what the scripts did as they were read: on a phone each is long enough.
setTimeout(hydrate, 0, place)
