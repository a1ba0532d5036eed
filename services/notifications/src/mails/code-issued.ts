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
        text: 'Welcome. Just one step left: enter this code and your account is ready.',
        step: {
          text: ['Closed the page where you enter the code? Open it again here:'],
          label: 'Open the confirmation page',
          url: `${siteUrl}/confirm?email=${encodeURIComponent(recipient)}`,
        },
        notRequested:
          'Didn’t sign up? Then someone else entered your address. You don’t need to do anything, and we’ll delete the account after 30 days. Don’t share this code with anyone, and don’t enter it on a page that asks for a password you never chose.',
      }
    case 'attribute':
      return {
        subject: 'Your code to verify your email address',
        heading: 'Verify your email address',
        text: 'Enter this code on your profile page to verify this email address.',
        step: signInStep('Not logged in anymore?', siteUrl),
        notRequested:
          'If you didn’t give us this address, you can ignore this email. Nothing changes without the code.',
      }
    case 'password_reset':
      return {
        subject: 'Your password reset code',
        heading: 'Choose a new password',
        text: 'Enter this code along with your new password.',
        step: signInStep('Closed the page where you enter the code? Select “Forgot your password?” here:', siteUrl),
        notRequested:
          'If you didn’t ask for a new password, ignore this email. Your password stays the same. We’ll never ask you for this code, so don’t share it with anyone.',
      }
    case 'sign_in':
      return {
        subject: 'Your code to log in',
        heading: 'Log in',
        text: 'Enter this code to log in.',
        step: signInStep('Closed the page where you enter the code? Start again here:', siteUrl),
        notRequested:
          'If this wasn’t you, don’t share this code with anyone. Someone may know your password, so log in and choose a new one.',
      }
    case 'invitation':
      return {
        subject: 'Your Robo Kids Learning account',
        heading: 'Your account is ready',
        text: 'We created an account for you. Log in with this temporary password, then choose your own.',
        step: signInStep('Log in here:', siteUrl),
        notRequested: 'If you weren’t expecting this, ignore this email, or reply to have the account removed.',
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
  const valid: RichText = [`It expires in ${validFor(validity)}.`]
  return renderMail({
    subject: [subject],
    heading,
    picture: invited || data.purpose === 'sign_up' ? pictures.welcome : pictures.account,
    opening: [greeting(data.givenName), [text], valid],
    code: { label: invited ? 'Temporary password' : 'Your code', value: code },
    facts: invited ? [{ label: 'Username', lines: [richText`${data.username}`] }] : [],
    step,
    closing: [[notRequested], questions],
  })
}
