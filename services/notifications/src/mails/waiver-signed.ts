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
  const canSignAgain = isMember && data.accountDeleted !== true
  return renderMail({
    subject: isMember
      ? ['The signed waiver for your membership']
      : ['Your signed waiver: ', ...shortChildren(data), `, ${data.levelTitle}`],
    heading: 'Your waiver is signed',
    picture: pictureOfClass(data),
    // Anyone with the link can sign for a membership, so the typed name is not used in the member's greeting or subject.
    opening: [
      isMember ? ['Hello,'] : richText`Hello ${data.guardianName},`,
      [
        isMember
          ? 'The waiver for your membership is signed. A copy is attached for your records.'
          : 'Thank you. Your registration is complete, and your signed waiver is attached for your records.',
      ],
      ...(data.replaces ? [['This signature replaces the earlier one. We keep both on record.']] : []),
    ],
    facts: [
      { label: 'Signed', lines: [richText`${data.guardianName}`, ...instantLines(data.signedAt, data)] },
      classFact(data),
      whenFact(data),
      childrenFact(data),
      ...(isMember ? [] : [addressFact(data)]),
    ],
    ...(canSignAgain
      ? {
          aside: {
            text: ['If you didn’t sign it, log in and sign it again. Your signature will replace this one.'],
            label: 'Sign it again',
            url: `${siteUrl}/waiver?membership=${data.registrationId}`,
          },
        }
      : isMember
        ? {}
        : { step: registrationStep(data.registrationId, siteUrl) }),
    closing: [
      [
        isMember
          ? 'We’ll email you the link before the session starts. You’re all set.'
          : 'Your kit ships next, and we’ll email you the class link before the class. You’re all set.',
      ],
      isMember && !canSignAgain ? ['Didn’t sign it, or have a question? Just reply to this email.'] : questions,
    ],
  })
}
