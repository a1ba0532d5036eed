import type { Profile } from '@robokids/contracts/auth'
import { useEffect, useId, useState } from 'react'
import { SignInStepForm } from '../account/SignInStepForm.tsx'
import { useSignIn } from '../account/use-sign-in.ts'
import { whenFreshSignInIsRequired } from '../api/api.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field } from '../ui/Field.tsx'

interface Question {
  answered: () => void
  refused: (why: Error) => void
}

/**
 * Asks whoever is signed in to show that it is they, where the server wants that before it gives the account away, and goes
 * on with what was wanted.
 */
export function ConfirmIdentity({ profile }: { profile: Profile }) {
  const [question, setQuestion] = useState<Question | null>(null)
  useEffect(() => {
    let asking: Promise<void> | null = null
    whenFreshSignInIsRequired(() => {
      asking ??= new Promise<void>((resolve, reject) => {
        setQuestion({ answered: resolve, refused: reject })
      }).finally(() => {
        asking = null
        setQuestion(null)
      })
      return asking
    })
    return () => whenFreshSignInIsRequired(null)
  }, [])
  const fieldId = useId()
  useEffect(() => {
    // Now that the dialog is open: it came by itself, and typing is what it is for.
    if (question) document.getElementById(fieldId)?.focus()
  }, [question, fieldId])
  const cancel = () => question?.refused(new Error('Nothing was changed.'))
  return (
    <Dialog open={question !== null} title="Please confirm that it is you" onClose={cancel}>
      {question && <Proof profile={profile} fieldId={fieldId} onProven={question.answered} onCancel={cancel} />}
    </Dialog>
  )
}

interface ProofProps {
  profile: Profile
  /** Of the password's field. */
  fieldId: string
  onProven: () => void
  onCancel: () => void
}

function Proof({ profile, fieldId, onProven, onCancel }: ProofProps) {
  const { passkeys } = profile
  const email = profile.formerEmail ?? profile.email
  const [password, setPassword] = useState('')
  const signIn = useSignIn({ again: true })
  const state = useSubmit('That did not work.')
  const { step } = signIn
  const isProven = step?.step === 'DONE'
  useEffect(() => {
    if (isProven) onProven()
  }, [isProven, onProven])

  const cancel = (
    <Button variant="quiet" disabled={state.sending} onClick={onCancel}>
      Cancel
    </Button>
  )
  if (step && !isProven) {
    return (
      <>
        <SignInStepForm
          key={step.step}
          signIn={signIn}
          step={step}
          email={email}
          onConfirmed={onCancel}
          onReset={onCancel}
          onForgot={onCancel}
          onNewPassword={() => undefined}
        />
        {cancel}
      </>
    )
  }
  const prove = () => {
    if (password === '') {
      state.refuse('Please check the marked fields.', { password: 'Enter your password.' })
      return
    }
    state.send(() => signIn.begin({ password }))
  }
  return (
    <Form state={{ message: state.message ?? signIn.ended, forget: state.forget }} onSubmit={prove}>
      <p>You logged in a while ago. Show us that nobody else is at your screen, and we go on with what you wanted.</p>
      <AccountName email={email} />
      <Field
        id={fieldId}
        label="Password"
        name="password"
        error={state.errors['password']}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        required
      />
      <Button type="submit" wide pending={state.sending}>
        Continue
      </Button>
      {passkeys.length > 0 && (
        <Button
          variant="secondary"
          wide
          disabled={state.sending}
          onClick={() => state.send(() => signIn.begin({ preferred: 'WEB_AUTHN' }))}
        >
          Use a passkey
        </Button>
      )}
      <Button variant="quiet" disabled={state.sending} onClick={() => state.send(() => signIn.begin({}))}>
        Another way
      </Button>
      {cancel}
    </Form>
  )
}
