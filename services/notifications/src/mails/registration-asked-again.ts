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
  'If it wasn’t you, nothing was changed or shown to anyone, and you don’t need to do anything.',
]

function contentFor({ askedFor, isSigned, registrationId, children }: AskedAgain, siteUrl: string): Content {
  if (askedFor === 'seat') {
    const seats = children.length === 1 ? 'the seat is' : 'the seats are'
    return {
      subject: 'You’re already registered',
      heading: 'You’re already registered',
      text: [
        `Someone just started to register for this class with your email address, from a browser we don’t recognize. Your registration is paid and confirmed, and ${seats} yours.`,
      ],
      step: {
        text: ['Here is your registration:'],
        label: 'See your registration',
        url: `${siteUrl}/robokids/success?reference=${registrationId}`,
      },
      closing: [
        ['If it was you, you’re all set. If you do pay again, we’ll refund the second payment automatically.'],
        notYou,
      ],
    }
  }
  const text = (state: string): RichText => [
    `Someone just tried to sign the waiver for this registration with your details, from a browser we don’t recognize. ${state}`,
  ]
  if (isSigned) {
    return {
      subject: 'Your waiver is already signed',
      heading: 'Your waiver is already signed',
      text: text('The waiver was already signed, so nothing changed.'),
      closing: [['If it was you, you’re all set.'], notYou],
    }
  }
  return {
    subject: 'Your link to the waiver',
    heading: 'Please use this link to sign the waiver',
    text: text('Nothing was signed.'),
    step: {
      text: ['If it was you, please sign here:'],
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
