import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting, questions, schoolMoment, signInStep } from './phrases.ts'
import { pictures } from './pictures.ts'

/** Somebody tried to get in, or was thrown out: what happened, and what its owner can do. */
export function signInLockedMail(data: MailData['sign_in_locked'], siteUrl: string): RenderedMail {
  const at = schoolMoment(data.at)
  const when = { label: 'When', lines: [[at]] }
  switch (data.reason) {
    case 'too_many_attempts': {
      const until = data.until === null ? at : schoolMoment(data.until)
      return renderMail({
        subject: ['Sign-ins to your account are paused'],
        heading: 'Too many tries to log in',
        picture: pictures.account,
        opening: [
          greeting(data.givenName),
          ['There were too many tries to log in to your account that failed, so further ones have to wait a while.'],
        ],
        // The first pauses last seconds: until the minute in which they began.
        facts: [when, ...(until === at ? [] : [{ label: 'Paused until', lines: [[until]] }])],
        step: signInStep(
          'If this was you, try again later, or press “Forgot your password?” on the login page.',
          siteUrl,
        ),
        closing: [
          [
            'If it was not you, there is nothing to do: none of these tries got in. We tell you this once a day at most.',
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
