import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting } from './phrases.ts'
import { pictures } from './pictures.ts'

/** Composes the mail about a deleted account. */
export function userDeletedMail(data: MailData['user_deleted']): RenderedMail {
  return renderMail({
    subject: ['Your account has been deleted'],
    heading: 'Your account has been deleted',
    picture: pictures.account,
    opening: [
      greeting(data.givenName),
      ['Your account has been deleted, and no one can log in to it anymore. Thank you for being with us.'],
    ],
    facts: [],
    closing: [
      ['If you didn’t ask for this, reply to this email right away.'],
      ['You’re welcome back anytime: just sign up again.'],
    ],
  })
}
