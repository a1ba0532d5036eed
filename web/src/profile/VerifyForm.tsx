import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deliveryAnswer } from '../account/answers.ts'
import { CodeField } from '../account/CodeField.tsx'
import { sentText } from '../account/ConfirmForm.tsx'
import { changeProfile } from '../account/profile.ts'
import { api } from '../api/api.ts'
import { Form, Row } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Button } from '../ui/Button.tsx'
import { Inset } from '../ui/Section.tsx'

export type VerifiedAttribute = 'email' | 'phone_number'

/** Sends a code, and returns the message about it. */
export async function sendVerification(attribute: VerifiedAttribute): Promise<string> {
  const { delivery } = await api('/api/profile/verification', {
    method: 'POST',
    body: { attribute },
    answer: deliveryAnswer,
  })
  return sentText(delivery)
}

interface VerifyFormProps {
  attribute: VerifiedAttribute
  /** The message about the code that was sent. */
  sent: string
  onDone: () => void
  onCancel: () => void
}

/** Verifies an email or a phone number by a code. */
export function VerifyForm({ attribute, sent, onDone, onCancel }: VerifyFormProps) {
  const form = useForm(useState({ code: '' }), 'Something went wrong.')
  const { code } = form.values
  const queryClient = useQueryClient()
  const confirm = () => {
    if (code.trim() === '') {
      form.showError('Please check the marked fields.', { code: 'Enter the code that we sent you.' })
      return
    }
    form.submit(async () => {
      await changeProfile(queryClient, '/api/profile/verification/confirm', { body: { attribute, code: code.trim() } })
      onDone()
    })
  }
  return (
    <Inset>
      <p>{sent}</p>
      <Form message={form.message} onSubmit={confirm}>
        <CodeField {...form.field('code')} awaited />
        <Row>
          <Button type="submit" pending={form.pending}>
            Verify
          </Button>
          <Button
            variant="quiet"
            disabled={form.pending}
            onClick={() => form.submit(async () => form.showSuccess(await sendVerification(attribute)))}
          >
            Send a new code
          </Button>
          <Button variant="quiet" disabled={form.pending} onClick={onCancel}>
            Later
          </Button>
        </Row>
      </Form>
    </Inset>
  )
}
