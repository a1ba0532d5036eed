import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting } from './phrases.ts'
import { pictures } from './pictures.ts'

/** Composes the mail about a deleted account. */
export function userDeletedMail(data: MailData['user_deleted']): RenderedMail {
  return renderMail({
    subject: ['Your account is deleted'],
    heading: 'Your account is deleted',
    picture: pictures.account,
    opening: [
      greeting(data.givenName),
      ['Your account is deleted, and nobody can log in to it any more. Thank you for being with us.'],
    ],
    facts: [],
    closing: [
      ['If it was not you who asked for this, reply to this email at once.'],
      ['You are welcome back at any time: simply register again.'],
    ],
  })
}
