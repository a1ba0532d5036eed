import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { whenOtherAccount } from '../api.ts'
import { sessionQuery } from '../identity/session.ts'
import { messageOf } from '../identity/messages.ts'
import { signOut } from '../identity/sign-out.ts'
import { local } from '../storage.ts'
import { CookieBanner } from './CookieBanner.tsx'
import { Footer } from './Footer.tsx'
import styles from './Frame.module.css'
import { TopNavigation } from './TopNavigation.tsx'

/** Whether somebody was signed in when this browser last asked; never who. The document reads it before its first paint. */
const signedInKey = 'signedIn'

/** What every page stands in. */
export function Frame() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data, isError } = useQuery(sessionQuery)
  const user = data?.user
  useEffect(() => {
    if (data?.user) local.set(signedInKey, 'true')
    else if (data) local.remove(signedInKey)
  }, [data])
  useEffect(() => {
    // From now on it answers: for whoever measures that, or waits for it.
    document.documentElement.dataset['hydrated'] = ''
  }, [])
  const [OtherAccount, setOtherAccount] = useState<ComponentType<{ onClose: () => void }> | null>(null)
  useEffect(() => {
    whenOtherAccount(() => {
      import('./OtherAccount.tsx').then(
        (loaded) => setOtherAccount(() => loaded.OtherAccount),
        // It would offer just that.
        () => window.location.reload(),
      )
    })
  }, [])
  const [alert, setAlert] = useState<ReactNode>(null)
  const logout = () =>
    signOut(queryClient, { leave: () => navigate({ to: '/' }) }).catch((error: unknown) => {
      const message = messageOf(error, 'You are still logged in.')
      import('../ui/Alert.tsx').then(
        ({ Alert }) => setAlert(<Alert message={message} onClose={() => setAlert(null)} />),
        // The same line may have kept it from coming.
        () => window.alert(message),
      )
    })
  return (
    <div className={styles['frame']}>
      <a
        href="#main"
        className={styles['skip']}
        onClick={(event) => {
          // The address stays as it is: a fragment would be one more page to go back from.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </a>
      <TopNavigation email={user?.email} onLogout={() => void logout()} expected={!data && !isError} />
      <main id="main" tabIndex={-1} className={styles['main']}>
        <Outlet />
      </main>
      <Footer />
      <CookieBanner />
      {alert}
      {OtherAccount && <OtherAccount onClose={() => setOtherAccount(null)} />}
    </div>
  )
}
