import { useState } from 'react'
import { Button } from '../ui/Button.tsx'

/** The same entry as in the confirmation's email: a phone opens it in its calendar, a computer keeps it as a file. */
export function AddToCalendar({ registrationId }: { registrationId: string }) {
  const [asking, setAsking] = useState(false)
  const [failed, setFailed] = useState(false)

  const add = async () => {
    setAsking(true)
    const address = `/api/registrations/${encodeURIComponent(registrationId)}/calendar.ics`
    try {
      // Looked at first: an address that has none would be shown in the place of this page.
      const answer = await fetch(address)
      setFailed(!answer.ok)
      if (answer.ok) window.location.assign(address)
    } catch {
      setFailed(true)
    }
    setAsking(false)
  }

  return (
    <>
      <Button variant="secondary" pending={asking} pendingLabel="One moment..." onClick={() => void add()}>
        Add to calendar
      </Button>
      {failed && <p role="alert">We cannot make the entry right now. It is in your confirmation email as well.</p>}
    </>
  )
}
