import type { WaitlistView } from '@robokids/contracts/waitlist'
import { api } from '../api/api.ts'
import { MessageLine } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { waitlistView } from './answers.ts'

interface LeaveButtonProps {
  entryId: string
  onLeft: (entry: WaitlistView) => void
}

/** Leaves a line, by one click. */
export function LeaveButton({ entryId, onLeft }: LeaveButtonProps) {
  const { pending, message, submit } = useSubmit('That did not work. Please try again.')
  const leave = () =>
    submit(async () => {
      onLeft(await api(`/api/waitlist/${entryId}/leave`, { method: 'POST', body: {}, answer: waitlistView }))
    })
  return (
    <>
      <MessageLine message={message} />
      <Button variant="secondary" onClick={leave} pending={pending}>
        Leave the line
      </Button>
    </>
  )
}
