import type { MailData } from '../schema.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { greeting, questions, signInStep, validFor } from './phrases.ts'
import { pictures } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

type CodeData = MailData['code_issued']

interface Content {
  subject: string
  heading: string
  text: string
  step: NonNullable<MailContent['step']>
  /** What to do if somebody else requested the code. */
  notRequested: string
}

function contentFor(purpose: CodeData['purpose'], recipient: string, siteUrl: string): Content {
  switch (purpose) {
    case 'sign_up':
      return {
        subject: 'Your code to confirm your Robo Kids Learning account',
        heading: 'Confirm your email address',
        text: 'Welcome! One step is left: enter this code, and your account is ready.',
        step: {
          text: ['Did you close the page to enter it? Open it again here:'],
          label: 'Open the confirmation page',
          url: `${siteUrl}/confirm?email=${encodeURIComponent(recipient)}`,
        },
        notRequested:
          'Did you not sign up? Then somebody else typed your address. Do nothing, and nothing happens in your name: give this code to nobody, and do not enter it where you are asked for a password that you never chose. The account is deleted after 30 days.',
      }
    case 'attribute':
      return {
        subject: 'Your code to verify your email address',
        heading: 'Verify your email address',
        text: 'Enter this code on your profile page to verify this email address.',
        step: signInStep('No longer logged in?', siteUrl),
        notRequested:
          'If it was not you who gave us this address, ignore this email. Nothing changes without the code.',
      }
    case 'password_reset':
      return {
        subject: 'Your code for a new password',
        heading: 'Choose a new password',
        text: 'Enter this code together with the new password that you choose.',
        step: signInStep('Did you close the page to enter it? Press “Forgot your password?” here:', siteUrl),
        notRequested:
          'If it was not you who asked for it, ignore this email. Your password stays as it is. We never ask for this code, so give it to nobody.',
      }
    case 'sign_in':
      return {
        subject: 'Your code to log in',
        heading: 'Log in',
        text: 'Enter this code to log in.',
        step: signInStep('Did you close the page to enter it? Start again here:', siteUrl),
        notRequested:
          'If it was not you, give this code to nobody. Somebody may know your password: log in and choose a new one.',
      }
    case 'invitation':
      return {
        subject: 'Your Robo Kids Learning account',
        heading: 'Your account is ready',
        text: 'We made an account for you. Log in with this temporary password; you then choose one of your own.',
        step: signInStep('You log in here:', siteUrl),
        notRequested: 'If you did not expect this, ignore this email, or reply to it to have the account removed.',
      }
  }
}

/** Composes the mail with a code to copy. The code is never in a link, so that opening the link has no effect. */
export function codeMail(
  data: CodeData,
  { code, recipient }: { code: string; recipient: string },
  validity: Temporal.Duration,
  siteUrl: string,
): RenderedMail {
  const { subject, heading, text, step, notRequested } = contentFor(data.purpose, recipient, siteUrl)
  const invited = data.purpose === 'invitation'
  const valid: RichText = [`It is valid for ${validFor(validity)}.`]
  return renderMail({
    subject: [subject],
    heading,
    picture: invited || data.purpose === 'sign_up' ? pictures.welcome : pictures.account,
    opening: [greeting(data.givenName), [text], valid],
    code: { label: invited ? 'Temporary password' : 'Your code', value: code },
    facts: invited ? [{ label: 'User name', lines: [richText`${data.username}`] }] : [],
    step,
    closing: [[notRequested], questions],
  })
}
