import { placeInLine, seatCount, waitingTerms } from '@robokids/contracts/waitlist-texts'
import type { MailData } from '../schema.ts'
import {
  childrenFact,
  classFact,
  dateOf,
  instantLines,
  questions,
  schoolWeekday,
  shortChildren,
  whenFact,
} from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { richText, type RichText } from './rich-text.ts'

type Joined = MailData['waitlist_joined']
type Offered = MailData['waitlist_offered']
type Ended = MailData['waitlist_ended']

function aboutEntry(
  data: Joined | Offered | Ended,
  { subject, heading, text, step }: { subject: string; heading: string; text: RichText[]; step: MailContent['step'] },
  facts: MailContent['facts'] = [],
): RenderedMail {
  return renderMail({
    subject: [`${subject}: `, ...shortChildren(data), `, ${data.levelTitle}, ${dateOf(data)}`],
    heading,
    picture: pictureOfClass(data),
    opening: [richText`Hello ${data.guardianName},`, ...text],
    facts: [...facts, classFact(data), whenFact(data), childrenFact(data)],
    ...(step ? { step } : {}),
    closing: [questions],
  })
}

/** Composes the mail with a family's place in line. */
export function waitlistJoinedMail(data: Joined, siteUrl: string): RenderedMail {
  return aboutEntry(data, {
    subject: 'You’re in line',
    heading: `You are ${placeInLine(data.place, data.familiesWaiting)}`,
    text: [[waitingTerms(data.children.length)]],
    step: {
      text: ['You can see your place, or leave the line, at any time:'],
      label: 'See your place',
      url: `${siteUrl}/waitlist?reference=${data.entryId}`,
    },
  })
}

/** Composes the mail about held seats. Its link changes nothing by itself: mail programs open links too. */
export function waitlistOfferedMail(data: Offered, siteUrl: string): RenderedMail {
  const seats = data.children.length
  const [are, them] = seats === 1 ? ['is', 'it'] : ['are', 'them']
  return aboutEntry(
    data,
    {
      subject: seats === 1 ? 'A seat is yours' : `${seats} seats are yours`,
      heading: `${seatCount(seats)} ${are} yours for now`,
      text: [
        [
          `You were next in line, and we hold ${seatCount(seats)} for you. Take ${them} before the offer ends, or give ${them} to the next family.`,
        ],
      ],
      step: {
        text: ['Nothing happens until you choose on this page:'],
        label: seats === 1 ? 'Look at your seat' : 'Look at your seats',
        url: `${siteUrl}/waitlist?offer=${data.entryId}`,
      },
    },
    [{ label: 'Yours until', lines: instantLines(data.offerEndsAt, data) }],
  )
}

/** The ends that a family does not bring about itself. */
export type ToldOutcome = Extract<Ended['outcome'], 'expired' | 'class_cancelled' | 'class_started'>

export function isTold(outcome: Ended['outcome']): outcome is ToldOutcome {
  return outcome === 'expired' || outcome === 'class_cancelled' || outcome === 'class_started'
}

/** Composes the mail about an offer that ended, or a line that was closed. */
export function waitlistEndedMail(data: Ended & { outcome: ToldOutcome }, siteUrl: string): RenderedMail {
  const otherDates = { text: ['There are other dates:'], label: 'See other dates', url: `${siteUrl}/levels` }
  switch (data.outcome) {
    case 'expired': {
      const when = data.offerEndsAt === null ? '' : ` on ${schoolWeekday(data.offerEndsAt)}`
      return aboutEntry(data, {
        subject: 'The offer ended',
        heading: 'The offer ended',
        text: [[`The offer ended${when}. The seats went to the next family.`]],
        step: {
          text: ['You’re welcome to wait again. That is a new place at the end of the line:'],
          label: 'Join the line again',
          url: `${siteUrl}/waitlist?reference=${data.entryId}`,
        },
      })
    }
    case 'class_cancelled':
      return aboutEntry(data, {
        subject: 'Class canceled',
        heading: 'This class was canceled',
        text: [['This class was canceled, so the line is closed. Nothing was charged.']],
        step: otherDates,
      })
    case 'class_started':
      return aboutEntry(data, {
        subject: 'No seat became free',
        heading: 'No seat became free',
        text: [['This class has begun, so the line is closed. Nothing was charged.']],
        step: otherDates,
      })
  }
}
