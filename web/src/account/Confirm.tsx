import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useClientState } from '../browser/use-client-state.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import type { Message } from '../forms/use-submit.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { AccountPage } from './AccountPage.tsx'
import { AutoSignInLine } from './AutoSignInLine.tsx'
import { ConfirmForm } from './ConfirmForm.tsx'
import { forgetStep } from './kept-step.ts'
import { type PendingUser, readPendingUser } from './pending-user.ts'
import { useAutoSignIn } from './use-auto-sign-in.ts'
import { useUser } from './use-user.ts'

/** The initial state, before storage is read. */
const nobody: { pending: PendingUser | undefined; email: string } = { pending: undefined, email: '' }

const confirmed: Message = { kind: 'success', text: '✅ Account confirmed! You can now log in.' }

export function Confirm() {
  const search = useSearch({ from: '/confirm' })
  const [{ pending, email }] = useClientState(nobody, () => {
    const pending = readPendingUser()
    return { pending, email: search.email || pending?.email || '' }
  })
  const [done, setDone] = useState<{ signedIn: boolean } | null>(null)
  const user = useUser()
  const navigate = useNavigate()
  const autoSignIn = useAutoSignIn(done || user ? undefined : pending?.signedUpAt)
  const elsewhere = autoSignIn.state === 'signed in'

  if (done || elsewhere) return <Confirmed signedIn={elsewhere || done?.signedIn === true || user !== null} />
  return (
    <AccountPage
      title="Confirm Your Email"
      lead={
        pending?.codeSentTo
          ? `We emailed a code to ${pending.codeSentTo}. Enter it here and your account is ready.`
          : 'We emailed you a code when you signed up. Enter it here and your account is ready.'
      }
    >
      <ConfirmForm
        key={email}
        email={email}
        onConfirmed={(signedIn) => setDone({ signedIn })}
        onForgot={(forgotten) => {
          forgetStep()
          void navigate({ to: '/membership/login', state: { forgotten } })
        }}
      />
      <AutoSignInLine autoSignIn={autoSignIn} />
    </AccountPage>
  )
}

function Confirmed({ signedIn }: { signedIn: boolean }) {
  return (
    <AccountPage title="Confirm Your Email" step="confirmed">
      <MessageLine message={confirmed} />
      {signedIn ? (
        <>
          <p>You’re already logged in. There’s nothing left to do here.</p>
          <Row>
            <ButtonLink to="/dashboard">Go to your classes</ButtonLink>
            <ButtonLink to="/" variant="secondary">
              Go to the home page
            </ButtonLink>
          </Row>
        </>
      ) : (
        <Row>
          <ButtonLink to="/membership/login">Log In</ButtonLink>
        </Row>
      )}
    </AccountPage>
  )
}
