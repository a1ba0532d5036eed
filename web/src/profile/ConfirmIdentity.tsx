import type { Profile } from '@robokids/contracts/auth'
import { useEffect, useId, useState } from 'react'
import { SignInStepForm } from '../account/SignInStepForm.tsx'
import { useSignIn } from '../account/use-sign-in.ts'
import { whenFreshSignInIsRequired } from '../api/api.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field } from '../ui/Field.tsx'

interface Question {
  answered: () => void
  refused: (why: Error) => void
}

/**
 * Asks the signed-in user to confirm their identity when the server requires it for a sensitive change; the change then
 * continues.
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
    // The dialog opened by itself, so the focus has to be moved to its field.
    if (question) document.getElementById(fieldId)?.focus()
  }, [question, fieldId])
  const cancel = () => question?.refused(new Error('Nothing was changed.'))
  return (
    <Dialog open={question !== null} title="Please confirm that it’s you" onClose={cancel}>
      {question && <Proof profile={profile} fieldId={fieldId} onProven={question.answered} onCancel={cancel} />}
    </Dialog>
  )
}

interface ProofProps {
  profile: Profile
  /** The id of the password field. */
  fieldId: string
  onProven: () => void
  onCancel: () => void
}

function Proof({ profile, fieldId, onProven, onCancel }: ProofProps) {
  const { passkeys } = profile
  const email = profile.formerEmail ?? profile.email
  const signIn = useSignIn({ again: true })
  const form = useForm(useState({ password: '' }), 'That did not work.')
  const { password } = form.values
  const { step } = signIn
  const isProven = step?.step === 'DONE'
  useEffect(() => {
    if (isProven) onProven()
  }, [isProven, onProven])

  const cancel = (
    <Button variant="quiet" disabled={form.pending} onClick={onCancel}>
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
      form.showError('Please check the marked fields.', { password: 'Enter your password.' })
      return
    }
    form.submit(() => signIn.begin({ password }))
  }
  return (
    <Form message={form.message ?? signIn.ended} onSubmit={prove}>
      <p>You logged in a while ago. Confirm that it’s still you and we’ll continue.</p>
      <AccountName email={email} />
      <Field
        id={fieldId}
        {...form.field('password')}
        label="Password"
        type="password"
        autoComplete="current-password"
        required
      />
      <Button type="submit" wide pending={form.pending}>
        Continue
      </Button>
      {passkeys.length > 0 && (
        <Button
          variant="secondary"
          wide
          disabled={form.pending}
          onClick={() => form.submit(() => signIn.begin({ preferred: 'WEB_AUTHN' }))}
        >
          Use a passkey
        </Button>
      )}
      <Button variant="quiet" disabled={form.pending} onClick={() => form.submit(() => signIn.begin({}))}>
        Another way
      </Button>
      {cancel}
    </Form>
  )
}
