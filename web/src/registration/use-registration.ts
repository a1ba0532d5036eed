import type { RegistrationView } from '@robokids/contracts/bff'
import { isSettled, toDisplayStatus } from '@robokids/contracts/display-status'
import { focusManager, type QueryState, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { api, ApiError } from '../api/api.ts'
import { askAgainMs } from '../api/ask-again.ts'
import { returnedQuery } from '../checkout/returned.ts'
import { registrationView } from './answers.ts'

/** While the event stream is open, polling is only a fallback for a stream that is open and silent. */
const askBesideStreamMs = 8_000
const askWithoutStreamMs = 3_000

type Asked = Pick<QueryState<RegistrationView>, 'data' | 'error' | 'dataUpdateCount' | 'errorUpdateCount'>

/** False if nothing more will change. */
export function askRegistrationAgainMs(asked: Asked, streaming: boolean): number | false {
  const { data, error, dataUpdateCount, errorUpdateCount } = asked
  if (isUnknown(error) || (data && isSettled(toDisplayStatus(data)))) return false
  return streaming ? askBesideStreamMs : askAgainMs(askWithoutStreamMs, dataUpdateCount + errorUpdateCount)
}

export function registrationQuery(reference: string, paid = false) {
  return queryOptions({
    queryKey: ['registration', reference],
    queryFn: ({ signal }) =>
      api(`/api/registrations/${encodeURIComponent(reference)}${paid ? returnedQuery() : ''}`, {
        answer: registrationView,
        signal,
      }),
    retry: false,
    staleTime: 0,
  })
}

/** A 404, as opposed to a network failure. */
function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && ['registration_not_found', 'not_found', 'validation_failed'].includes(error.code)
}

/** Whether the page is visible, as TanStack Query sees it, which refetches when it becomes visible. */
function useVisible(): boolean {
  return useSyncExternalStore(
    (changed) => focusManager.subscribe(changed),
    () => focusManager.isFocused(),
    () => true,
  )
}

export type Watched =
  | { state: 'loading' }
  | { state: 'unknown' }
  /** Nothing is known yet: the request failed, and is retried. */
  | { state: 'unreachable' }
  | { state: 'known'; view: RegistrationView }

/**
 * A registration from the server, kept up to date while it may still change: by its event stream, and by
 * polling if the stream failed (a browser gives up on a 502 or on HTML) or is silent. A hidden tab
 * does neither. `paid`: the payment page returns here.
 */
export function useRegistration(reference: string | null, { paid = false } = {}): Watched {
  const queryClient = useQueryClient()
  const visible = useVisible()
  const [streaming, setStreaming] = useState(false)
  const query = useQuery({
    ...registrationQuery(reference ?? '', paid),
    enabled: reference !== null,
    refetchOnWindowFocus: ({ state: { error } }) => !isUnknown(error),
    refetchInterval: ({ state }) => askRegistrationAgainMs(state, streaming),
  })
  const { data, error } = query
  const watch = visible && reference !== null && !isUnknown(error) && !(data && isSettled(toDisplayStatus(data)))

  useEffect(() => {
    if (!watch || reference === null) return
    const { queryKey } = registrationQuery(reference)
    const stream = new EventSource(`/api/registrations/${encodeURIComponent(reference)}/events`)
    stream.addEventListener('open', () => setStreaming(true))
    stream.addEventListener('error', () => setStreaming(false))
    stream.addEventListener('state', (event: MessageEvent<string>) => {
      const view = readView(event.data)
      if (!view) return
      // A response in flight is older than this event.
      void queryClient.cancelQueries({ queryKey }).then(() => queryClient.setQueryData(queryKey, view))
    })
    return () => {
      stream.close()
      setStreaming(false)
    }
  }, [watch, reference, queryClient])

  if (data) return { state: 'known', view: data }
  if (isUnknown(error)) return { state: 'unknown' }
  // During a refetch after a failure the query has no error, but has had one.
  if (query.errorUpdateCount > 0) return { state: 'unreachable' }
  return { state: 'loading' }
}

function readView(text: string): RegistrationView | undefined {
  try {
    const parsed = registrationView.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
