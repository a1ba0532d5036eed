import { useState } from 'react'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { sendVerification, VerifyForm } from '../profile/VerifyForm.tsx'
import { AsWritten } from '../ui/AsWritten.tsx'
import { Button } from '../ui/Button.tsx'
import { Section } from '../ui/Section.tsx'

/** Before anything is shown, the account proves its address. */
export function Unconfirmed({ email, again }: { email: string; again: () => void }) {
  const [sent, setSent] = useState<string | null>(null)
  const state = useSubmit('Something went wrong.')
  return (
    <Section title="Confirm your email first">
      <p>
        <span>We show classes only to the owner of </span>
        <AsWritten>{email}</AsWritten>
        <span>. Enter the code from our email.</span>
      </p>
      <MessageLine message={state.message} />
      {sent === null ? (
        <Row>
          <Button onClick={() => setSent('Enter the code from our email.')}>Enter the code</Button>
          <Button
            variant="secondary"
            pending={state.pending}
            onClick={() => state.submit(async () => setSent(await sendVerification('email')))}
          >
            Send a new code
          </Button>
        </Row>
      ) : (
        <VerifyForm attribute="email" sent={sent} onDone={again} onCancel={() => setSent(null)} />
      )}
    </Section>
  )
}
