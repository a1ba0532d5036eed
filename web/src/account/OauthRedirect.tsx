import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { AccountPage } from './AccountPage.tsx'
import { refetchSession } from './session.ts'

/** The return page of an external sign-in: leads home with a session, else to the login. */
export function OauthRedirect() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  useEffect(() => {
    let gone = false
    const goOn = async () => {
      const { user } = await refetchSession(queryClient).catch(() => ({ user: null }))
      if (!gone) await navigate({ to: user ? '/' : '/membership/login', replace: true })
    }
    void goOn()
    return () => {
      gone = true
    }
  }, [queryClient, navigate])
  return (
    <AccountPage title="Processing login...">
      <div aria-busy="true">
        <Skeleton height="4rem" />
        <TakesLonger />
      </div>
    </AccountPage>
  )
}
