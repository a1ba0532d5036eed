import { formatClassDate, formatClassTime } from '@robokids/contracts/class-date'
import type { MailData } from '../schema.ts'
import { dayAndMonth, questions, timesOf, greeting } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { richText, type RichText } from './rich-text.ts'

type Reminder = MailData['class_reminder']

/** `Ivo and Mia`; nothing if the names are unknown. */
function names({ childNames }: Reminder): RichText {
  const [last = '', ...others] = childNames.toReversed()
  if (others.length === 0) return richText`${last}`
  return richText`${others.toReversed().join(', ')} and ${last}`
}

function facts(data: Reminder): MailContent['facts'] {
  const { meeting, meetingCount, levelTitle, coachName, childNames, timeZone, familyTimeZone } = data
  const when = { startDate: meeting.date, startTime: meeting.startTime, timeZone, familyTimeZone }
  const part = meetingCount > 1 ? [[`Meeting ${meeting.number} of ${meetingCount}`]] : []
  return [
    { label: 'Class', lines: [[levelTitle], ...part] },
    {
      label: 'When',
      lines: [
        [formatClassDate(meeting.date)],
        ...timesOf(when).map((line) => [line]),
        [`${meeting.durationMinutes} minutes`],
      ],
    },
    ...(childNames.length === 0
      ? []
      : [
          { label: childNames.length === 1 ? 'Child' : 'Children', lines: childNames.map((name) => richText`${name}`) },
        ]),
    ...(coachName === null ? [] : [{ label: 'Coach', lines: [richText`${coachName}`] }]),
  ]
}

/** The next step: to sign, to join, or to look at the page where the link will be. */
function stepOf(
  { attendance, attendanceId, isSigned, link, kind }: Reminder,
  siteUrl: string,
): Pick<MailContent, 'step'> {
  if (!isSigned) {
    const path =
      attendance === 'membership' ? `/waiver?membership=${attendanceId}` : `/robokids/waiver?reference=${attendanceId}`
    return {
      step: {
        text: ['The waiver is not signed yet. Please sign it, and the class link appears.'],
        label: 'Read and sign the waiver',
        url: siteUrl + path,
      },
    }
  }
  if (link !== null && kind !== 'welcome') {
    const passcode = link.passcode === null ? [] : richText` The passcode is ${link.passcode}.`
    return {
      step: {
        text: ['The video call opens 30 minutes before the class.', ...passcode],
        label: 'Join class',
        url: link.joinUrl,
      },
    }
  }
  if (attendance === 'membership') return {}
  return {
    step: {
      text: ['The class link appears on this page 30 minutes before the class:'],
      label: 'See your registration',
      url: `${siteUrl}/robokids/success?reference=${attendanceId}`,
    },
  }
}

function textsOf(data: Reminder): { subject: RichText; heading: string; opening: RichText[] } {
  const { kind, meeting, levelTitle, nextMeeting } = data
  const day = dayAndMonth(meeting.date)
  const time = `${formatClassTime(meeting.startTime)} Pacific`
  const who = names(data)
  const forWhom: RichText = data.childNames.length === 0 ? [] : [' for ', ...who]
  switch (kind) {
    case 'welcome':
      return {
        subject: [`Get ready for ${levelTitle}: ${day}`],
        heading: 'Get ready for the first class',
        opening: [
          [`The first class`, ...forWhom, ` is on ${day} at ${time}. So that it starts well:`],
          [
            '1. Open the kit together, and check that nothing is missing or broken. If something is, reply to this email.',
          ],
          ['2. Set up a laptop or desktop computer with a camera and a microphone, at a table with good light.'],
          ['3. Charge what needs charging, and have a notebook and a pencil ready.'],
        ],
      }
    case 'day':
      return {
        subject: [`Reminder: ${levelTitle}, ${day}, ${time}`],
        heading: `Class on ${day}`,
        opening: [['The next class', ...forWhom, ` is on ${day} at ${time}.`]],
      }
    case 'hour':
      return {
        subject: [`Starting soon: ${levelTitle}, ${time}`],
        heading: `Class starts at ${time}`,
        opening: [['The class', ...forWhom, ` starts at ${time} today. Come a few minutes early to test the sound.`]],
      }
    case 'follow_up':
      return {
        subject: [`How was the first class of ${levelTitle}?`],
        heading: 'How was the first class?',
        opening: [
          [
            'The first class',
            ...forWhom,
            ' is done. Was everything clear, and did the kit work? Just reply to this email.',
          ],
          ...(nextMeeting === null
            ? []
            : [
                [
                  `The next class is on ${dayAndMonth(nextMeeting.date)} at ${formatClassTime(nextMeeting.startTime)} Pacific.`,
                ],
              ]),
        ],
      }
  }
}

/** Composes a mail around a meeting. */
export function classReminderMail(data: Reminder, siteUrl: string): RenderedMail {
  const { subject, heading, opening } = textsOf(data)
  return renderMail({
    subject,
    heading,
    picture: pictureOfClass(data),
    opening: [greeting(data.guardianName), ...opening],
    facts: data.kind === 'follow_up' ? [] : facts(data),
    ...(data.kind === 'follow_up' ? {} : stepOf(data, siteUrl)),
    closing: [questions],
  })
}
