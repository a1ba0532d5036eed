import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting, questions, formatSchoolInstant, signInStep } from './phrases.ts'
import { pictures } from './pictures.ts'

/** Composes the mail about locked sign-ins or an ended session: what happened, and what the owner can do. */
export function signInLockedMail(data: MailData['sign_in_locked'], siteUrl: string): RenderedMail {
  const at = formatSchoolInstant(data.at)
  const when = { label: 'When', lines: [[at]] }
  switch (data.reason) {
    case 'too_many_attempts': {
      const until = data.until === null ? at : formatSchoolInstant(data.until)
      return renderMail({
        subject: ['Logging in to your account is paused'],
        heading: 'Too many failed attempts to log in',
        picture: pictures.account,
        opening: [
          greeting(data.givenName),
          ['There were too many failed attempts to log in to your account, so logging in is paused for a while.'],
        ],
        // The first locks last only seconds, so that both times show the same minute.
        facts: [when, ...(until === at ? [] : [{ label: 'Paused until', lines: [[until]] }])],
        step: signInStep(
          'If this was you, try again later, or select “Forgot your password?” on the login page.',
          siteUrl,
        ),
        closing: [
          [
            'If it wasn’t you, you don’t need to do anything: none of these attempts worked. We email you about this at most once a day.',
          ],
          questions,
        ],
      })
    }
    case 'token_reused':
      return renderMail({
        subject: ['We logged you out to protect your account'],
        heading: 'We logged you out',
        picture: pictures.account,
        opening: [
          greeting(data.givenName),
          [
            'Your login on one device was also used somewhere else. Someone may have copied it from your device, so we logged out both.',
          ],
        ],
        facts: [when],
        step: signInStep(
          'Please log in again. If you don’t know how this could have happened, choose a new password and log out everywhere on your profile page.',
          siteUrl,
        ),
        closing: [questions],
      })
  }
}
