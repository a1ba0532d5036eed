import { useState } from 'react'
import { NewPasswordFields, weakPassword } from '../account/NewPasswordFields.tsx'
import { isPasswordGood } from '../account/PasswordChecklist.tsx'
import { done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { AccountName, Form } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'

export function ChangePassword({ email }: { email: string }) {
  const [previousPassword, setPrevious] = useState('')
  const [proposedPassword, setProposed] = useState('')
  const state = useSubmit('Could not set new password.')
  const change = () => {
    if (previousPassword === '') {
      state.refuse('Please check the marked fields.', { previousPassword: 'Enter the password that you have now.' })
      return
    }
    if (!isPasswordGood(proposedPassword)) {
      state.refuse(weakPassword, { proposedPassword: 'Choose a password that follows the rules below.' })
      return
    }
    state.send(async () => {
      await api('/api/auth/change-password', {
        method: 'POST',
        body: { previousPassword, proposedPassword },
        answer: done,
      })
      setPrevious('')
      setProposed('')
      state.succeed('Your password is changed.')
    })
  }
  return (
    <Section title="Password">
      <Form state={state} onSubmit={change}>
        <AccountName email={email} />
        <Field
          label="Current password"
          name="previousPassword"
          error={state.errors['previousPassword']}
          type="password"
          autoComplete="current-password"
          value={previousPassword}
          onChange={(event) => setPrevious(event.target.value)}
          required
        />
        <NewPasswordFields
          name="proposedPassword"
          value={proposedPassword}
          error={state.errors['proposedPassword']}
          onChange={setProposed}
        />
        <div>
          <Button type="submit" variant="secondary" pending={state.sending}>
            Change password
          </Button>
        </div>
      </Form>
    </Section>
  )
}
