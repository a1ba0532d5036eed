import type { WaitlistView } from '@robokids/contracts/waitlist'
import { useState } from 'react'
import { api } from '../api/api.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { waitlistView } from './answers.ts'

interface DeclineButtonProps {
  entry: Pick<WaitlistView, 'entryId' | 'children'>
  disabled?: boolean
  onDeclined: (entry: WaitlistView) => void
}

/** Gives offered seats to the next family, after one question. */
export function DeclineButton({ entry: { entryId, children }, disabled = false, onDeclined }: DeclineButtonProps) {
  const [asking, setAsking] = useState(false)
  const { pending, message, submit } = useSubmit('That did not work. Please try again.')
  const [seats, them] = children.length === 1 ? ['seat', 'it'] : ['seats', 'them']
  const decline = () => {
    setAsking(false)
    submit(async () => {
      onDeclined(await api(`/api/waitlist/${entryId}/decline`, { method: 'POST', body: {}, answer: waitlistView }))
    })
  }
  return (
    <>
      <MessageLine message={message} />
      <Button variant="secondary" onClick={() => setAsking(true)} disabled={disabled} pending={pending}>
        No, thank you
      </Button>
      <Dialog open={asking} title={`Give the ${seats} to the next family?`} onClose={() => setAsking(false)}>
        <Row>
          <Button variant="danger" onClick={decline}>{`Give ${them} to the next family`}</Button>
          <Button variant="secondary" onClick={() => setAsking(false)}>{`Keep the ${seats}`}</Button>
        </Row>
      </Dialog>
    </>
  )
}
