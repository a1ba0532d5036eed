import { useState } from 'react'
import { api } from '../../api.ts'
import { done } from '../../answer.ts'
import { useSubmit } from '../../identity/use-submit.ts'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { AccountName, Form } from '../Form.tsx'
import { NewPasswordFields, weakPassword } from '../NewPasswordFields.tsx'
import { isPasswordGood } from '../PasswordChecklist.tsx'
import { Section } from './Section.tsx'

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
