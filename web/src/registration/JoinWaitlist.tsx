import { useNavigate } from '@tanstack/react-router'
import { isLevel } from '../classes/level-looks.ts'
import { Button } from '../ui/Button.tsx'
import { saveDraft } from './draft.ts'
import type { RegistrationRecord } from './record.ts'
import { valuesOfRecord } from './sign-up-values.ts'

/** Leads to the waitlist of the record's class, with the form filled in. */
export function JoinWaitlist({ record }: { record: RegistrationRecord }) {
  const navigate = useNavigate()
  const { classType, startDate } = record
  if (!isLevel(classType)) return null
  const join = () => {
    saveDraft(valuesOfRecord(record), null)
    void navigate({ to: '/waitlist', search: { classType, startDate } })
  }
  return <Button onClick={join}>Join the waitlist</Button>
}
