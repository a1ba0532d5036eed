import { useNavigate } from '@tanstack/react-router'
import { isLevel, levels } from '../content/levels.ts'
import { saveDraft } from '../registration/draft.ts'
import type { RegistrationRecord } from '../registration/record.ts'
import { valuesOfRecord } from '../registration/sign-up-values.ts'
import { Button } from '../ui/Button.tsx'

/** The way back to the form, with everything that was typed in it. */
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
