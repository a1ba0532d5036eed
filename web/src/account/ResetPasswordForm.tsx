import { useState } from 'react'
import { done } from '../api/answer.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
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
  /** The code was sent: to which email, and the message to show. */
  onSent: (email: string, text: string) => void
}

/** Requests a password reset code. */
export function ForgotPasswordForm({ email: known, onSent }: ForgotPasswordFormProps) {
  const [values, setValues] = useState({ email: known })
  const change = (changed: typeof values) => {
    setValues(changed)
    prepareProof('password')
  }
  const form = useForm([values, change], 'Something went wrong.')
  const { email } = values
  const ask = () => {
    if (email.trim() === '') {
      form.showError('username is required to signIn', { email: 'Enter your email.' })
      return
    }
    form.submit(async () => onSent(email.trim(), await sendCode(email.trim())))
  }
  return (
    <Form message={form.message} onSubmit={ask}>
      <EmailField {...form.field('email')} />
      <Button type="submit" wide pending={form.pending}>
        Send me a code
      </Button>
    </Form>
  )
}

interface ResetPasswordFormProps {
  email: string
  onReset: () => void
}

/** Sets a new password with the code that was sent. */
export function ResetPasswordForm({ email, onReset }: ResetPasswordFormProps) {
  const form = useForm(useState({ code: '', password: '' }), 'Could not set new password.')
  const { code, password } = form.values
  const reset = () => {
    if (code.trim() === '') {
      form.showError('Please check the marked fields.', { code: 'Enter the code that we sent you.' })
      return
    }
    if (!isPasswordGood(password)) {
      form.showError(weakPassword, { password: 'Choose a password that follows the rules below.' })
      return
    }
    form.submit(async () => {
      await provenWhereAsked('sign-in', '/api/auth/confirm-forgot-password', {
        method: 'POST',
        body: { email, code: code.trim(), password },
        answer: done,
      })
      onReset()
    })
  }
  return (
    <Form message={form.message} onSubmit={reset}>
      <AccountName email={email} />
      <CodeField {...form.field('code')} />
      <NewPasswordFields {...form.field('password')} />
      <Button type="submit" wide pending={form.pending}>
        Set New Password
      </Button>
      <Button
        variant="quiet"
        disabled={form.pending}
        onClick={() => form.submit(async () => form.showSuccess(await sendCode(email)), 'Something went wrong.')}
      >
        Send a new code
      </Button>
    </Form>
  )
}
