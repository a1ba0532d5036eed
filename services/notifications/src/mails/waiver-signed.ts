import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import {
  addressFact,
  childrenFact,
  shortChildren,
  classFact,
  instantLines,
  questions,
  registrationStep,
  whenFact,
} from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { richText } from './rich-text.ts'

/** Composes the mail with the signed waiver and what happens next. A membership has no kit. */
export function waiverSignedMail(data: MailData['waiver_signed'], siteUrl: string): RenderedMail {
  const isMember = data.classType === 'membership'
  return renderMail({
    subject: isMember
      ? ['The signed waiver of your membership']
      : ['Your signed waiver: ', ...shortChildren(data), `, ${data.levelTitle}`],
    heading: 'Your waiver is signed',
    picture: pictureOfClass(data),
    // Anyone with the link can sign for a membership, so the typed name is not used in the member's greeting or subject.
    opening: [
      isMember ? ['Hello,'] : richText`Hello ${data.guardianName},`,
      [
        isMember
          ? 'The waiver of your membership is signed. A copy is attached for your records.'
          : 'Thank you. Your registration is complete, and your signed waiver is attached for your records.',
      ],
      ...(data.replaces ? [['This signature takes the place of the one before. We keep both on record.']] : []),
    ],
    facts: [
      { label: 'Signed', lines: [richText`${data.guardianName}`, ...instantLines(data.signedAt, data)] },
      classFact(data),
      whenFact(data),
      childrenFact(data),
      ...(isMember ? [] : [addressFact(data)]),
    ],
    ...(isMember
      ? {
          aside: {
            text: [
              'Was it not you who signed? Then log in and sign it again: your signature takes the place of this one.',
            ],
            label: 'Sign it again',
            url: `${siteUrl}/waiver?membership=${data.registrationId}`,
          },
        }
      : { step: registrationStep(data.registrationId, siteUrl) }),
    closing: [
      [
        isMember
          ? 'We email you the link before the session starts. You have nothing left to do.'
          : 'Your kit ships next, and the class link comes by email before the class. You have nothing left to do.',
      ],
      questions,
    ],
  })
}
