import { useState } from 'react'
import { NewPasswordFields, weakPassword } from '../account/NewPasswordFields.tsx'
import { isPasswordGood } from '../account/PasswordChecklist.tsx'
import { done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'

const noPasswords = { previousPassword: '', proposedPassword: '' }

export function ChangePassword({ email }: { email: string }) {
  const form = useForm(useState(noPasswords), 'Could not set new password.')
  const { previousPassword, proposedPassword } = form.values
  const change = () => {
    if (previousPassword === '') {
      form.showError('Please check the marked fields.', { previousPassword: 'Enter your current password.' })
      return
    }
    if (!isPasswordGood(proposedPassword)) {
      form.showError(weakPassword, { proposedPassword: 'Choose a password that follows the rules below.' })
      return
    }
    form.submit(async () => {
      await api('/api/auth/change-password', {
        method: 'POST',
        body: { previousPassword, proposedPassword },
        answer: done,
      })
      form.change(noPasswords)
      form.showSuccess('Your password has been changed.')
    })
  }
  return (
    <Section title="Password">
      <Form message={form.message} onSubmit={change}>
        <AccountName email={email} />
        <Field
          {...form.field('previousPassword')}
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
        />
        <NewPasswordFields {...form.field('proposedPassword')} />
        <div>
          <Button type="submit" variant="secondary" pending={form.pending}>
            Change password
          </Button>
        </div>
      </Form>
    </Section>
  )
}
