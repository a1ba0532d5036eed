import type { MailData } from '../schema.ts'
import { dayAndMonth, timesOf } from './phrases.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'

/** Composes the mail to the operator about a class that meets within a day and has no link. */
export function classLinkMissingMail(data: MailData['class_link_missing']): RenderedMail {
  const { classSessionId, levelTitle, meeting, families, timeZone } = data
  const times = timesOf({ startDate: meeting.date, startTime: meeting.startTime, timeZone })
  return renderMail({
    subject: [`No class link: ${levelTitle}, ${dayAndMonth(meeting.date)}`],
    heading: 'A class meets within a day and has no link',
    opening: [
      ['Families have been told that the link appears on their page 30 minutes before the class. To set it:'],
      [`npm run admin -- link ${classSessionId} https://… [passcode]`],
    ],
    facts: [
      { label: 'Class', lines: [[levelTitle], [`Meeting ${meeting.number}`]] },
      { label: 'When', lines: [[dayAndMonth(meeting.date)], ...times.map((line) => [line])] },
      { label: 'Families', lines: [[`${families}`]] },
    ],
    closing: [],
  })
}
