import { FileButton } from '../ui/FileButton.tsx'

/** The same entry as in the confirmation's email: a phone opens it in its calendar, a computer keeps it as a file. */
export function AddToCalendar({ registrationId }: { registrationId: string }) {
  return (
    <FileButton
      address={`/api/registrations/${encodeURIComponent(registrationId)}/calendar.ics`}
      variant="secondary"
      failure="We cannot make the entry right now. It is in your confirmation email as well."
    >
      Add to calendar
    </FileButton>
  )
}
