import { FileButton } from '../ui/FileButton.tsx'

/** The same calendar entry as in the confirmation mail: phones open it in their calendar, computers download it. */
export function AddToCalendar({ registrationId }: { registrationId: string }) {
  return (
    <FileButton
      address={`/api/registrations/${encodeURIComponent(registrationId)}/calendar.ics`}
      variant="secondary"
      failure="We can’t make the event right now. It’s also in your confirmation email."
    >
      Add to calendar
    </FileButton>
  )
}
