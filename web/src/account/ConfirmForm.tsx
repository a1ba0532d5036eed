import type { CodeDelivery } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { provenApi, provenWhereAsked } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { confirmSignUpAnswer, deliveryAnswer } from './answers.ts'
import { CodeField } from './CodeField.tsx'
import { EmailField } from './EmailField.tsx'
import { refetchSession } from './session.ts'

/** `We emailed a code to m***@e***.` */
export const sentText = ({ medium, destination }: CodeDelivery, what = 'a code') =>
  `We ${medium === 'SMS' ? 'texted' : 'emailed'} ${what} to ${destination}.`

interface ConfirmFormProps {
  email: string
  onConfirmed: (signedIn: boolean) => void
  /** Called to reset the password, which confirms the account as well. */
  onForgot: (email: string) => void
}

/** Confirms a new account with the mailed code. */
export function ConfirmForm({ email: known, onConfirmed, onForgot }: ConfirmFormProps) {
  const [shown, setShown] = useState(false)
  /** Another browser than the one that signed up has to prove whose account it is. */
  const [asksPassword, setAsksPassword] = useState(false)
  const form = useForm(useState({ email: known, code: '', password: '' }), 'Something went wrong.')
  const { email, code, password } = form.values
  const queryClient = useQueryClient()

  const needsEmail = () => {
    if (email.trim() !== '') return false
    form.showError('username is required to confirmSignUp', { email: 'Enter the email that you signed up with.' })
    return true
  }
  const confirm = () => {
    if (needsEmail()) return
    if (code.trim() === '') {
      form.showError('code is required to confirmSignUp', { code: 'Enter the code from our email.' })
      return
    }
    form.submit(async () => {
      const { signedIn } = await provenWhereAsked('sign-in', '/api/auth/confirm-sign-up', {
        method: 'POST',
        body: { email: email.trim(), code: code.trim(), ...(password === '' ? {} : { password }) },
        answer: confirmSignUpAnswer,
      }).catch((error: unknown) => {
        if (isRefusal(error, 'password_required')) setAsksPassword(true)
        throw error
      })
      const session = signedIn ? await refetchSession(queryClient).catch(() => undefined) : undefined
      // Without cookies there is no session.
      onConfirmed(signedIn && session?.user !== null)
    })
  }
  const resend = () => {
    if (needsEmail()) return
    form.submit(async () => {
      const { delivery } = await provenApi('code', '/api/auth/resend-code', {
        method: 'POST',
        body: { email: email.trim() },
        answer: deliveryAnswer,
      })
      form.showSuccess(sentText(delivery, 'a new code'))
    })
  }

  return (
    <Form message={form.message} onSubmit={confirm}>
      <EmailField {...form.field('email')} />
      <CodeField
        {...form.field('code')}
        label="Confirmation code"
        hint="It’s in the email we sent you. Check your spam folder too."
      />
      {asksPassword && (
        <>
          <Field
            {...form.field('password')}
            label="Password"
            type={shown ? 'text' : 'password'}
            autoComplete="current-password"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
          <Checkbox label="Show Password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
        </>
      )}
      <Button type="submit" wide pending={form.pending}>
        Confirm Account
      </Button>
      <Button variant="quiet" disabled={form.pending} onClick={resend}>
        Send a new code
      </Button>
      {asksPassword && (
        <>
          <p>
            Didn’t sign up yourself? Then someone else entered your address. Choose a new password and no one else can
            use the account. Do the same if you forgot yours.
          </p>
          <Button variant="secondary" disabled={form.pending} onClick={() => onForgot(email.trim())}>
            Choose a new password
          </Button>
        </>
      )}
    </Form>
  )
}
