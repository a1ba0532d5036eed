import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { forgetUser } from '../account/session.ts'
import { done } from '../api/answer.ts'
import { api } from '../api/api.ts'
import { AccountName, Form, Row } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'

export function DeleteAccount({ email }: { email: string }) {
  const [asking, setAsking] = useState(false)
  const [deleted, setDeleted] = useState(false)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    await navigate({ to: '/', replace: true })
    forgetUser(queryClient)
  }
  return (
    <Section title="Delete your account" lead="This permanently deletes your account and what’s in it.">
      <div>
        <Button variant="secondary" onClick={() => setAsking(true)}>
          Delete account
        </Button>
      </div>
      <Dialog open={asking} title="Delete your account?" onClose={() => setAsking(false)}>
        <ReallyDelete
          email={email}
          onCancel={() => setAsking(false)}
          onDeleted={() => {
            setAsking(false)
            setDeleted(true)
          }}
        />
      </Dialog>
      <Alert message={deleted ? 'Your account has been deleted.' : null} onClose={() => void leave()} />
    </Section>
  )
}

interface ReallyDeleteProps {
  email: string
  onCancel: () => void
  onDeleted: () => void
}

function ReallyDelete({ email, onCancel, onDeleted }: ReallyDeleteProps) {
  const form = useForm(useState({ password: '' }), 'Something went wrong.')
  const { password } = form.values
  const remove = () => {
    if (password === '') {
      form.showError('Please check the marked fields.', { password: 'Enter your password.' })
      return
    }
    form.submit(async () => {
      await api('/api/profile', { method: 'DELETE', body: { password }, answer: done })
      onDeleted()
    })
  }
  return (
    <Form message={form.message} onSubmit={remove}>
      <p>
        This can’t be undone. A membership won’t renew; until its paid time is over, a new account with the same email
        can use it.
      </p>
      <p>Enter your password to confirm that it’s you.</p>
      <AccountName email={email} />
      <Field {...form.field('password')} label="Password" type="password" autoComplete="current-password" required />
      <Row>
        <Button type="submit" variant="danger" pending={form.pending}>
          Delete permanently
        </Button>
        <Button variant="secondary" disabled={form.pending} onClick={onCancel}>
          Keep my account
        </Button>
      </Row>
    </Form>
  )
}
