import type { CodeDelivery } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { Form } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { provenApi, provenWhereAsked } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { confirmSignUpAnswer, deliveryAnswer } from './answers.ts'
import { CodeField } from './CodeField.tsx'
import { EmailField } from './EmailField.tsx'
import { askSession } from './session.ts'

/** `We mailed a code to m***@e***.` */
export const sentText = ({ medium, destination }: CodeDelivery, what = 'a code') =>
  `We ${medium === 'SMS' ? 'texted' : 'mailed'} ${what} to ${destination}.`

interface ConfirmFormProps {
  email: string
  onConfirmed: (signedIn: boolean) => void
  /** They want to choose a new password, which confirms the account as well. */
  onForgot: (email: string) => void
}

/** Confirms a new account with the code that was mailed. */
export function ConfirmForm({ email: known, onConfirmed, onForgot }: ConfirmFormProps) {
  const [email, setEmail] = useState(known)
  const [code, setCode] = useState('')
  const [password, setPassword] = useState('')
  const [shown, setShown] = useState(false)
  /** In another browser than the one that signed up: it says whose account it is. */
  const [asksPassword, setAsksPassword] = useState(false)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()

  const needsEmail = () => {
    if (email.trim() !== '') return false
    state.refuse('username is required to confirmSignUp', { email: 'Enter the email that you signed up with.' })
    return true
  }
  const confirm = () => {
    if (needsEmail()) return
    if (code.trim() === '') {
      state.refuse('code is required to confirmSignUp', { code: 'Enter the code from our email.' })
      return
    }
    state.send(async () => {
      const { signedIn } = await provenWhereAsked('sign-in', '/api/auth/confirm-sign-up', {
        method: 'POST',
        body: { email: email.trim(), code: code.trim(), ...(password === '' ? {} : { password }) },
        answer: confirmSignUpAnswer,
      }).catch((error: unknown) => {
        if (isRefusal(error, 'password_required')) setAsksPassword(true)
        throw error
      })
      const session = signedIn ? await askSession(queryClient).catch(() => undefined) : undefined
      // Where the browser keeps no cookies, nobody is.
      onConfirmed(signedIn && session?.user !== null)
    })
  }
  const resend = () => {
    if (needsEmail()) return
    state.send(async () => {
      const { delivery } = await provenApi('code', '/api/auth/resend-code', {
        method: 'POST',
        body: { email: email.trim() },
        answer: deliveryAnswer,
      })
      state.succeed(sentText(delivery, 'a new code'))
    })
  }

  return (
    <Form state={state} onSubmit={confirm}>
      <EmailField value={email} error={state.errors['email']} onChange={setEmail} />
      <CodeField
        label="Confirmation code"
        hint="It is in the email that we sent you. Look into the spam folder too."
        error={state.errors['code']}
        value={code}
        onChange={setCode}
      />
      {asksPassword && (
        <>
          <Field
            label="Password"
            name="password"
            error={state.errors['password']}
            type={shown ? 'text' : 'password'}
            autoComplete="current-password"
            autoCapitalize="none"
            spellCheck={false}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            required
          />
          <Checkbox label="Show Password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
        </>
      )}
      <Button type="submit" wide pending={state.sending}>
        Confirm Account
      </Button>
      <Button variant="quiet" disabled={state.sending} onClick={resend}>
        Send a new code
      </Button>
      {asksPassword && (
        <>
          <p>
            Did you not sign up yourself? Then somebody else typed your address: choose a new password, and nobody else
            can use the account. The same helps if you have forgotten yours.
          </p>
          <Button variant="secondary" disabled={state.sending} onClick={() => onForgot(email.trim())}>
            Choose a new password
          </Button>
        </>
      )}
    </Form>
  )
}
