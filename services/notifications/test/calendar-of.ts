import nodeIcal, { type VEvent } from 'node-ical'
import type { Received } from './fake-smtp-server.ts'

/** Returns the calendar entries that are attached to a mail, in their order. */
export function calendarEntriesOf({ files }: Received) {
  const file = files.find(({ contentType }) => contentType === 'text/calendar')
  if (!file) throw new Error('There is no calendar in the mail.')
  const source = file.content.toString('utf8')
  const parsed = nodeIcal.sync.parseICS(source)
  const events = Object.values(parsed).filter((part): part is VEvent => part?.type === 'VEVENT')
  return { source, events, parsed }
}

/** Returns the only calendar entry that is attached to a mail. */
export function calendarOf(mail: Received) {
  const { source, events, parsed } = calendarEntriesOf(mail)
  const [event] = events
  if (!event || events.length > 1) throw new Error('The calendar does not have exactly one event.')
  return { source, event, parsed }
}
