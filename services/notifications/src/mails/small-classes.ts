import { formatClassDate } from '@robokids/contracts/class-date'
import { minClassSize } from '@robokids/contracts/enrollment'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { timesOf } from './phrases.ts'

/** Composes the mail to the operator about classes that start soon and are below the minimum size. */
export function smallClassesMail({ classDate, classes }: MailData['small_classes']): RenderedMail {
  const day = formatClassDate(classDate)
  const isPlural = classes.length > 1
  return renderMail({
    subject: [`${isPlural ? `${classes.length} small classes` : 'A small class'} on ${day}`],
    heading: `${isPlural ? `${classes.length} classes have` : 'A class has'} fewer than ${minClassSize} children`,
    opening: [
      [`${isPlural ? 'They start' : 'It starts'} on ${day}, in a week or less.`],
      ['Nothing is canceled automatically: every class stays on sale until it starts, and you decide whether it runs.'],
    ],
    facts: classes.map(({ title, startTime, timeZone, paid, held, capacity }) => ({
      label: title,
      lines: [
        [`${paid} of ${capacity} seats paid${held > 0 ? `, ${held} held but not paid yet` : ''}`],
        ...timesOf({ startDate: classDate, startTime, timeZone }).map((line) => [line]),
      ],
    })),
    closing: [['To see who is registered:'], ['npm run admin -- registrations --csv']],
  })
}
