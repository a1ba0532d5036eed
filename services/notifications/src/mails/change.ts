import type { ChangeTerms } from '@robokids/contracts/changes'
import type { Meeting } from '@robokids/contracts/meetings'
import { formatMoney } from '@robokids/contracts/pricing'
import type { MailData } from '../schema.ts'
import { childrenFact, classFact, datesFact, keepKit, questions, registrationStep, whenFact } from './phrases.ts'
import { pictureOfClass } from './pictures.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { richText, type RichText } from './rich-text.ts'

const money = (amount: number) => formatMoney({ amount, currency: 'usd' })
const toCard = 'to your card. Banks take 5 to 10 days.'

/** `Ivo`, `Ivo and Noa`, `Ivo, Noa, and Ada`: of the children who change. */
function namesOf({ lines }: ChangeTerms): RichText {
  const names = lines.map(({ childName }) => childName)
  const parts = new Intl.ListFormat('en-US').formatToParts(names)
  return parts.flatMap(({ type, value }) => (type === 'element' ? richText`${value}` : [value]))
}

/** The class of a change, with those children, for the facts of a mail. */
function inClass<Data extends MailData['places_moved' | 'places_cancelled' | 'move_refused']>(
  data: Data,
  theClass: ChangeTerms['from'],
  children: Data['children'],
): Data {
  return { ...data, ...theClass, children }
}

/** The changed children, by the names in the terms: their ages are not there. */
function moneyFact({ due, back }: ChangeTerms): { label: string; lines: RichText[] } {
  if (due > 0) return { label: 'Paid', lines: [[money(due)]] }
  return { label: 'Refund', lines: [[money(back)]] }
}

/** Composes the mail about a cancellation by the family. */
export function placesCancelledMail(
  data: MailData['places_cancelled'],
  { isKitShipped }: { isKitShipped: boolean },
  siteUrl: string,
): RenderedMail {
  const { terms, isOver } = data
  const names = namesOf(terms)
  return renderMail({
    subject: ['Canceled: ', ...names, `, ${terms.from.levelTitle}`],
    heading: terms.school ? 'Your refund is on its way' : 'Your class is canceled',
    picture: pictureOfClass(data),
    opening: [
      richText`Hello ${data.guardianName},`,
      ...(terms.school
        ? [
            terms.school.by === 'family'
              ? ['We had to cancel this class, and we are sorry. You chose a refund.']
              : ['We had to cancel this class, and we are sorry. We had not heard from you, so all of it is refunded.'],
            [`${money(terms.back)} is refunded ${toCard}`],
          ]
        : [
            ['You canceled the class of ', ...names, '. The seat is free for another family.'],
            terms.back > 0
              ? [`By our terms ${money(terms.back)} is refunded ${toCard}`]
              : ['By our terms $0.00 is refunded.'],
          ]),
      ...(isOver && isKitShipped ? [keepKit] : []),
    ],
    facts: [
      classFact(inClass(data, terms.from, data.children)),
      whenFact(inClass(data, terms.from, data.children)),
      moneyFact(terms),
      ...(isOver ? [] : [{ ...childrenFact(data), label: 'Still registered' }]),
    ],
    step: registrationStep(data.registrationId, siteUrl),
    closing: [['The attached events update your calendar.'], questions],
  })
}

/** Composes the mail about a move. */
export function placesMovedMail(data: MailData['places_moved'], siteUrl: string): RenderedMail {
  const { terms, classes } = data
  const { to, from } = terms
  if (to === null) throw new Error('A move leads to a class.')
  const names = namesOf(terms)
  const meetings: Meeting[] = classes.find(({ classSessionId }) => classSessionId === to.classSessionId)?.meetings ?? []
  const moved = inClass(data, to, data.children)
  const paid = terms.due > 0 ? [[`You paid the difference of ${money(terms.due)}.`]] : []
  const back = terms.back > 0 ? [[`${money(terms.back)} is refunded ${toCard}`]] : []
  return renderMail({
    subject: ['Moved: ', ...names, `, ${to.levelTitle}`],
    heading: 'Your new date',
    picture: pictureOfClass(moved),
    opening: [
      richText`Hello ${data.guardianName},`,
      [...names, ` moved from ${from.levelTitle} to ${to.levelTitle}.`],
      ...paid,
      ...back,
    ],
    facts: [
      classFact(moved),
      whenFact(moved),
      ...datesFact(meetings),
      { label: terms.lines.length === 1 ? 'Child' : 'Children', lines: [names] },
    ],
    step: registrationStep(data.registrationId, siteUrl),
    closing: [['The attached events update your calendar.'], questions],
  })
}

/** Composes the mail about a move that was paid when its seats were gone. */
export function moveRefusedMail(data: MailData['move_refused'], siteUrl: string): RenderedMail {
  const { terms } = data
  const names = namesOf(terms)
  const keep = terms.lines.length === 1 ? 'keeps' : 'keep'
  const old = inClass(data, terms.from, data.children)
  return renderMail({
    subject: ['Not moved: ', ...names, `, ${terms.from.levelTitle}`],
    heading: 'The new seat was gone',
    picture: pictureOfClass(old),
    opening: [
      richText`Hello ${data.guardianName},`,
      [
        'The new seat was gone when your payment arrived. ',
        ...names,
        ` ${keep} ${terms.from.levelTitle}, and ${money(terms.due)} is refunded ${toCard}`,
      ],
    ],
    facts: [classFact(old), whenFact(old), { label: 'Refund', lines: [[money(terms.due)]] }],
    step: registrationStep(data.registrationId, siteUrl),
    closing: [questions],
  })
}
