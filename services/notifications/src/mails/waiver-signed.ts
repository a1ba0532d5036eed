import type { MailData } from '../schema.ts'
import { renderLetter, type RenderedLetter } from './letter.ts'
import { addressFact, childrenFact, childrenInShort, classFact, momentIn, questions, whenFact } from './phrases.ts'
import { say } from './words.ts'

/** Signed: the guardian's own copy, and what happens now. A membership comes with no kit. */
export function waiverSignedMail(data: MailData['waiver_signed']): RenderedLetter {
  const isMember = data.classType === 'membership'
  return renderLetter({
    subject: ['Your signed waiver: ', ...childrenInShort(data), `, ${data.levelTitle}`],
    heading: 'Your waiver is signed',
    opening: [
      say`Hello ${data.guardianName},`,
      [
        `Thank you. Your ${isMember ? 'membership' : 'registration'} is complete, and your signed waiver is attached for your records.`,
      ],
    ],
    facts: [
      { label: 'Signed', lines: [say`${data.guardianName}`, [`${momentIn(data.signedAt, data.timeZone)} Pacific`]] },
      classFact(data),
      whenFact(data),
      childrenFact(data),
      ...(isMember ? [] : [addressFact(data)]),
    ],
    closing: [
      [
        isMember
          ? 'The link to the session comes by email before it. You have nothing left to do.'
          : 'Your kit ships next, and the class link comes by email before the class. You have nothing left to do.',
      ],
      questions,
    ],
  })
}
