import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { sessionQuery } from '../account/session.ts'
import { signOut } from '../account/sign-out.ts'
import { whenOtherAccount } from '../api/api.ts'
import { local } from '../browser/storage.ts'
import { useHydrated } from '../browser/use-hydrated.ts'
import styles from './Frame.module.css'
import { TopNavigation } from './TopNavigation.tsx'

/** Whether a user was signed in at the last session request; never who. The document reads it before its first paint. */
const signedInKey = 'signedIn'

const loadDialogs = () => import('./frame-dialogs.ts')

/** The frame around every page. */
export function Frame() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data, isError } = useQuery(sessionQuery)
  const user = data?.user
  useEffect(() => {
    if (data?.user) local.set(signedInKey, 'true')
    else if (data) local.remove(signedInKey)
  }, [data])
  const hydrated = useHydrated()
  useEffect(() => {
    // Marks the page as interactive, for measurements and tests.
    if (hydrated) document.documentElement.dataset['hydrated'] = ''
  }, [hydrated])
  const [dialog, setDialog] = useState<ReactNode>(null)
  useEffect(() => {
    whenOtherAccount(() => {
      loadDialogs().then(
        ({ OtherAccount }) => setDialog(<OtherAccount onClose={() => setDialog(null)} />),
        // The dialog would offer the same.
        () => location.reload(),
      )
    })
  }, [])
  const logout = () => {
    signOut(queryClient, { leave: () => navigate({ to: '/' }) }).catch(({ message }: Error) => {
      loadDialogs().then(
        ({ Alert }) => setDialog(<Alert message={message} onClose={() => setDialog(null)} />),
        // The same network failure may have prevented the import.
        () => alert(message),
      )
    })
  }
  return (
    <div className={styles.frame}>
      <a
        href="#main"
        className={styles.skip}
        onClick={(event) => {
          // The URL stays the same: a fragment would add a history entry.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </a>
      <TopNavigation email={user?.email} onLogout={logout} expected={!data && !isError} />
      <main id="main" tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
      {dialog}
    </div>
  )
}
