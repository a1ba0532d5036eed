import type { Profile as ProfileAnswer } from '@robokids/contracts/auth'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { profileQuery } from '../account/profile.ts'
import { sessionQuery } from '../account/session.ts'
import { SignInFirst } from '../account/SignInFirst.tsx'
import { adoptSignedInAccount } from '../api/api.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { MembershipSection } from '../membership/MembershipSection.tsx'
import { membershipQuery } from '../membership/queries.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button } from '../ui/Button.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { ChangePassword } from './ChangePassword.tsx'
import { ConfirmIdentity } from './ConfirmIdentity.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { Devices } from './Devices.tsx'
import { Passkeys } from './Passkeys.tsx'
import styles from './Profile.module.css'
import { SecondStep } from './SecondStep.tsx'
import { YourDetails } from './YourDetails.tsx'

export function Profile() {
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const session = useQuery(sessionQuery)
  if (session.data?.user === null) return <SignInFirst />
  return (
    <div ref={page} className={styles.page}>
      {session.data ? (
        <Account key={session.data.user.userId} userId={session.data.user.userId} />
      ) : session.isError ? (
        <Unreachable retry={() => void session.refetch()} pending={session.isFetching} />
      ) : (
        <Waiting />
      )}
    </div>
  )
}

function Waiting() {
  return (
    <div className={styles.waiting} aria-busy="true">
      <h1>Your profile</h1>
      <p aria-live="polite">Loading your profile...</p>
      <div className={styles.columns}>
        <Skeleton height="20rem" />
        <Skeleton height="14rem" />
      </div>
      <TakesLonger />
    </div>
  )
}

function Unreachable({ retry, pending }: { retry: () => void; pending: boolean }) {
  return (
    <div className={`${styles.waiting} ${styles.narrow}`}>
      <h1>Your profile</h1>
      <Notice kind="error" title="We could not load your profile." live>
        <p>Our server didn’t respond. Nothing is lost.</p>
        <Button variant="secondary" onClick={retry} pending={pending} pendingLabel="Loading...">
          Try again
        </Button>
      </Notice>
    </div>
  )
}

function Account({ userId }: { userId: string }) {
  useEffect(adoptSignedInAccount, [])
  const { data: profile, isError, isFetching, refetch } = useQuery(profileQuery(userId))
  // At the top, where it would move what is below it if it came later. The rest does not wait for it on failure.
  const membership = useQuery(membershipQuery(userId))
  if (isError && !profile) return <Unreachable retry={() => void refetch()} pending={isFetching} />
  if (!profile || (membership.isPending && membership.failureCount === 0)) return <Waiting />
  return <Known profile={profile} userId={userId} />
}

function Known({ profile, userId }: { profile: ProfileAnswer; userId: string }) {
  useEffect(() => {
    // The focused heading was removed with the loading state.
    if (document.activeElement === document.body) focusHeading()
  }, [])
  const { givenName, familyName } = profile
  // The email to log in with: a new one counts once it is verified.
  const email = profile.formerEmail ?? profile.email
  const name = `${givenName} ${familyName}`.trim()
  return (
    <>
      <header className={styles.head}>
        <span className={styles.initials} aria-hidden="true">
          {(givenName.slice(0, 1) + familyName.slice(0, 1)).toUpperCase() || '•'}
        </span>
        <div className={styles.who}>
          <h1>{asWritten(name) || 'Your profile'}</h1>
          <p className={styles.email}>{email || profile.username}</p>
        </div>
      </header>
      <div className={styles.columns}>
        <div className={styles.column}>
          <MembershipSection userId={userId} profile={profile} />
          <YourDetails profile={profile} />
          <ChangePassword email={email} />
        </div>
        <div className={styles.column}>
          <SecondStep profile={profile} />
          <Passkeys passkeys={profile.passkeys} />
          <Devices devices={profile.devices} />
          <DeleteAccount email={email} />
        </div>
      </div>
      <ConfirmIdentity profile={profile} />
    </>
  )
}
