import { useNavigate } from '@tanstack/react-router'
import { isLevel, levels } from '../classes/level-looks.ts'
import { Button } from '../ui/Button.tsx'
import { saveDraft } from './draft.ts'
import type { RegistrationRecord } from './record.ts'
import { valuesOfRecord } from './sign-up-values.ts'

/** The link back to the form, which is filled in with the record. */
interface StartAgainProps {
  record: RegistrationRecord
  variant?: 'primary' | 'secondary'
  children: string
}

export function StartAgain({ record, variant = 'primary', children }: StartAgainProps) {
  const navigate = useNavigate()
  const startAgain = () => {
    saveDraft(valuesOfRecord(record), null)
    void navigate({ to: isLevel(record.classType) ? levels[record.classType].path : '/robokids' })
  }
  return (
    <Button variant={variant} onClick={startAgain}>
      {children}
    </Button>
  )
}
