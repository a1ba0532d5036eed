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
        subject: ['Sign-ins to your account are paused'],
        heading: 'Too many failed attempts to log in',
        picture: pictures.account,
        opening: [
          greeting(data.givenName),
          ['There were too many failed attempts to log in to your account, so logging in is paused for a while.'],
        ],
        // The first locks last only seconds, so that both times show the same minute.
        facts: [when, ...(until === at ? [] : [{ label: 'Paused until', lines: [[until]] }])],
        step: signInStep(
          'If this was you, try again later, or press “Forgot your password?” on the login page.',
          siteUrl,
        ),
        closing: [
          [
            'If it was not you, there is nothing to do: none of these attempts succeeded. We write to you about this at most once a day.',
          ],
          questions,
        ],
      })
    }
    case 'token_reused':
      return renderMail({
        subject: ['We ended a login to your account'],
        heading: 'We ended a login',
        picture: pictures.account,
        opening: [
          greeting(data.givenName),
          [
            'One of your sign-ins was used from a second place. That can mean that somebody copied it from your device, so we ended it there and on your device.',
          ],
        ],
        facts: [when],
        step: signInStep(
          'Please log in again. If you do not know how this could happen, choose a new password and log out everywhere on your profile page.',
          siteUrl,
        ),
        closing: [questions],
      })
  }
}
