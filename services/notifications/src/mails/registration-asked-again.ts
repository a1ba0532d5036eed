import type { MailData } from '../schema.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { childrenFact, shortChildren, classFact, dateOf, questions, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

type AskedAgain = MailData['registration_asked_again']

interface Content {
  subject: string
  heading: string
  text: RichText
  step?: MailContent['step']
  closing: RichText[]
}

const notYou: RichText = [
  'If it was not you: nothing of yours was changed or shown to anybody, and you need not do anything.',
]

function contentFor({ askedFor, isSigned, registrationId, children }: AskedAgain, siteUrl: string): Content {
  if (askedFor === 'seat') {
    const seats = children.length === 1 ? 'the seat is' : 'the seats are'
    return {
      subject: 'You are registered already',
      heading: 'You are registered already',
      text: [
        `Somebody has just started to register for this class with your email address, from a browser that we do not recognize. Your registration is paid and confirmed, and ${seats} yours.`,
      ],
      step: {
        text: ['Here is your registration:'],
        label: 'See your registration',
        url: `${siteUrl}/robokids/success?reference=${registrationId}`,
      },
      closing: [
        [
          'If it was you, nothing is left to do. Should you pay once more all the same, that second payment goes back to your card by itself.',
        ],
        notYou,
      ],
    }
  }
  const text = (state: string): RichText => [
    `Somebody has just asked to sign the waiver of this registration with your details, from a browser that we do not recognize. ${state}`,
  ]
  if (isSigned) {
    return {
      subject: 'Your waiver is signed already',
      heading: 'Your waiver is signed already',
      text: text('It is signed already, so nothing was signed now.'),
      closing: [['If it was you, nothing is left to do.'], notYou],
    }
  }
  return {
    subject: 'Your link to the waiver',
    heading: 'Please sign the waiver by this link',
    text: text('Nothing was signed.'),
    step: {
      text: ['If it was you, please sign by this link:'],
      label: 'Read and sign the waiver',
      url: `${siteUrl}/robokids/waiver?reference=${registrationId}`,
    },
    closing: [notYou],
  }
}

/** Composes the mail to a family about someone else's request for what the family already has. */
export function registrationAskedAgainMail(data: AskedAgain, siteUrl: string): RenderedMail {
  const { subject, heading, text, step, closing } = contentFor(data, siteUrl)
  return renderMail({
    subject: [`${subject}: `, ...shortChildren(data), `, ${data.levelTitle}, ${dateOf(data)}`],
    heading,
    picture: pictureOfClass(data),
    opening: [richText`Hello ${data.guardianName},`, text],
    facts: [classFact(data), whenFact(data), childrenFact(data)],
    ...(step ? { step } : {}),
    closing: [...closing, questions],
  })
}
