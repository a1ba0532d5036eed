import { formatClassTime } from '@robokids/contracts/class-date'
import type { MailData } from '../schema.ts'
import { childrenFact, classFact, datesFact, dayAndMonth, questions, registrationStep, timesOf } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { richText } from './rich-text.ts'

/** Composes the mail about a meeting that the school moved or skipped. */
export function rescheduledMail(data: MailData['registration_rescheduled'], siteUrl: string): RenderedMail {
  const { kind, number, from, to } = data.change
  const newDay = dayAndMonth(to.date)
  const happened =
    kind === 'skipped'
      ? `There is no class on ${dayAndMonth(from.date)}. Meeting ${number} is on ${newDay} instead, and the later ones each follow a week later.`
      : `Meeting ${number} moved from ${dayAndMonth(from.date)}, ${formatClassTime(from.startTime)} Pacific, to ${newDay}, ${formatClassTime(to.startTime)} Pacific.`
  const { timeZone, familyTimeZone } = data
  const when = timesOf({ startDate: to.date, startTime: to.startTime, timeZone, familyTimeZone })
  return renderMail({
    subject: [
      kind === 'skipped'
        ? `No class on ${dayAndMonth(from.date)}: ${data.levelTitle}`
        : `New date: ${data.levelTitle}, meeting ${number}`,
    ],
    heading: kind === 'skipped' ? `No class on ${dayAndMonth(from.date)}` : `Meeting ${number} has a new date`,
    picture: pictureOfClass(data),
    opening: [richText`Hello ${data.guardianName},`, [happened], ['We’re sorry for the change.']],
    facts: [
      classFact(data),
      { label: `Meeting ${number}`, lines: [[newDay], ...when.map((line) => [line])] },
      ...datesFact(data.meetings),
      childrenFact(data),
    ],
    step: registrationStep(data.registrationId, siteUrl),
    closing: [['The attached events update your calendar.'], questions],
  })
}
