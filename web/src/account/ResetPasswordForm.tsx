import { useState } from 'react'
import { done } from '../api/answer.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof, provenApi, provenWhereAsked } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { deliveryAnswer } from './answers.ts'
import { CodeField } from './CodeField.tsx'
import { sentText } from './ConfirmForm.tsx'
import { EmailField } from './EmailField.tsx'
import { NewPasswordFields, weakPassword } from './NewPasswordFields.tsx'
import { isPasswordGood } from './PasswordChecklist.tsx'

async function sendCode(email: string): Promise<string> {
  const { delivery } = await provenApi('password', '/api/auth/forgot-password', {
    method: 'POST',
    body: { email },
    answer: deliveryAnswer,
  })
  return sentText(delivery)
}

interface ForgotPasswordFormProps {
  email: string
  /** The code is on its way: to whom, and what to say of it. */
  onSent: (email: string, text: string) => void
}

/** Asks for a code that lets one choose a new password. */
export function ForgotPasswordForm({ email: known, onSent }: ForgotPasswordFormProps) {
  const [email, setEmail] = useState(known)
  const state = useSubmit('Something went wrong.')
  const type = (typed: string) => {
    setEmail(typed)
    prepareProof('password')
  }
  const ask = () => {
    if (email.trim() === '') {
      state.refuse('username is required to signIn', { email: 'Enter your email.' })
      return
    }
    state.send(async () => onSent(email.trim(), await sendCode(email.trim())))
  }
  return (
    <Form state={state} onSubmit={ask}>
      <EmailField value={email} error={state.errors['email']} onChange={type} />
      <Button type="submit" wide pending={state.sending}>
        Send me a code
      </Button>
    </Form>
  )
}

interface ResetPasswordFormProps {
  email: string
  onReset: () => void
}

/** A new password, with the code that was sent. */
export function ResetPasswordForm({ email, onReset }: ResetPasswordFormProps) {
  const [code, setCode] = useState('')
  const [password, setPassword] = useState('')
  const state = useSubmit('Could not set new password.')
  const reset = () => {
    if (code.trim() === '') {
      state.refuse('Please check the marked fields.', { code: 'Enter the code that we sent you.' })
      return
    }
    if (!isPasswordGood(password)) {
      state.refuse(weakPassword, { password: 'Choose a password that follows the rules below.' })
      return
    }
    state.send(async () => {
      await provenWhereAsked('sign-in', '/api/auth/confirm-forgot-password', {
        method: 'POST',
        body: { email, code: code.trim(), password },
        answer: done,
      })
      onReset()
    })
  }
  return (
    <Form state={state} onSubmit={reset}>
      <AccountName email={email} />
      <CodeField error={state.errors['code']} value={code} onChange={setCode} />
      <NewPasswordFields name="password" value={password} error={state.errors['password']} onChange={setPassword} />
      <Button type="submit" wide pending={state.sending}>
        Set New Password
      </Button>
      <Button
        variant="quiet"
        disabled={state.sending}
        onClick={() => state.send(async () => state.succeed(await sendCode(email)), 'Something went wrong.')}
      >
        Send a new code
      </Button>
    </Form>
  )
}
