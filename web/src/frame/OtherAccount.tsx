import type { Session } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { forgetUser, sessionAnswer } from '../account/session.ts'
import { signOut } from '../account/sign-out.ts'
import { api } from '../api/api.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { adoptTabDraft } from '../registration/draft.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'

/** Shown after another tab has signed in to a different account: says which, and that nothing was changed. */
export function OtherAccount({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  /** Undefined while loading, and when that fails. */
  const [user, setUser] = useState<Session['user']>()
  const email = user === null ? null : user?.email
  const state = useSubmit('Could not log out.')
  useEffect(() => {
    // Not by the query: the page behind belongs to the previous account until it is reloaded.
    api('/api/auth/session', { answer: sessionAnswer }).then(
      (session) => {
        setUser(session.user)
        if (!session.user) forgetUser(queryClient)
      },
      () => undefined,
    )
  }, [queryClient])
  const leave = () =>
    state.submit(async () => {
      await signOut(queryClient, { leave: () => navigate({ to: '/membership/login' }) })
      onClose()
    })
  if (email === null) {
    return (
      <Dialog open role="alertdialog" title="You’re logged out" onClose={onClose}>
        <p>Someone logged out in this browser. Nothing was changed.</p>
        <Row>
          <Button onClick={onClose}>OK</Button>
        </Row>
      </Dialog>
    )
  }
  return (
    <Dialog open role="alertdialog" title="Another account is logged in" onClose={onClose}>
      <p>
        {email ? (
          <span>
            <strong translate="no">{email}</strong> is now logged in on this browser, but this page belongs to another
            account.
          </span>
        ) : (
          <span>Someone else has logged in on this browser since this page was opened.</span>
        )}{' '}
        <span>Nothing was changed.</span>
      </p>
      <MessageLine message={state.message} />
      <Row>
        <Button
          disabled={state.pending}
          onClick={() => {
            if (user) adoptTabDraft(user.userId)
            window.location.reload()
          }}
        >
          Continue with that account
        </Button>
        <Button variant="secondary" pending={state.pending} onClick={leave}>
          Log out
        </Button>
      </Row>
    </Dialog>
  )
}
