import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { addressFact, childrenFact, classFact, keepKit, questions, registrationStep, whenFact } from './phrases.ts'
import { pictures } from './pictures.ts'
import { richText } from './rich-text.ts'

/** Composes the mail about a shipped kit. If the registration is cancelled, it announces no class. */
export function kitShippedMail(data: MailData['kit_shipped'], siteUrl: string, isCancelled: boolean): RenderedMail {
  return renderMail({
    subject: [`On its way: your kit for ${data.levelTitle}`],
    heading: 'Your kit is on its way',
    picture: pictures.kit,
    opening: [
      richText`Hello ${data.guardianName},`,
      ...(isCancelled ? [['Your registration is canceled.'], keepKit] : [['We’ve handed your kit to the carrier.']]),
    ],
    facts: [
      { label: 'Carrier', lines: [richText`${data.carrier}`] },
      { label: 'Tracking number', lines: [richText`${data.trackingNumber}`] },
      addressFact(data),
      classFact(data),
      ...(isCancelled ? [] : [whenFact(data)]),
      childrenFact(data),
    ],
    step: registrationStep(data.registrationId, siteUrl),
    closing: [...(isCancelled ? [] : [['We’ll email you the class link before the class.']]), questions],
  })
}
