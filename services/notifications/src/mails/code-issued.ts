import type { MailData } from '../schema.ts'
import { renderMail, type MailContent, type RenderedMail } from './render-mail.ts'
import { greeting, questions, signInStep, validFor } from './phrases.ts'
import { pictures } from './pictures.ts'
import { richText, type RichText } from './rich-text.ts'

type CodeData = MailData['code_issued']

interface Story {
  subject: string
  heading: string
  told: string
  step: NonNullable<MailContent['step']>
  /** What to do where somebody else asked for the code. */
  otherwise: string
}

function storyOf(purpose: CodeData['purpose'], recipient: string, siteUrl: string): Story {
  switch (purpose) {
    case 'sign_up':
      return {
        subject: 'Your code to confirm your Robo Kids Learning account',
        heading: 'Confirm your email address',
        told: 'Welcome! One step is left: enter this code, and your account is ready.',
        step: {
          text: ['Is the page to enter it closed? Here it is:'],
          label: 'Open the confirmation page',
          url: `${siteUrl}/confirm?email=${encodeURIComponent(recipient)}`,
        },
        otherwise:
          'Did you not sign up? Then somebody else typed your address. Do nothing, and nothing happens in your name: give this code to nobody, and do not enter it where you are asked for a password that you never chose. The account is deleted after 30 days.',
      }
    case 'attribute':
      return {
        subject: 'Your code to verify your email address',
        heading: 'Verify your email address',
        told: 'Enter this code on your profile page to verify this email address.',
        step: signInStep('Are you not logged in any more?', siteUrl),
        otherwise: 'If it was not you who gave us this address, ignore this email. Nothing changes without the code.',
      }
    case 'password_reset':
      return {
        subject: 'Your code for a new password',
        heading: 'Choose a new password',
        told: 'Enter this code together with the new password that you choose.',
        step: signInStep('Is the page to enter it closed? Press “Forgot your password?” here:', siteUrl),
        otherwise:
          'If it was not you who asked for it, ignore this email. Your password stays as it is. We never ask for this code, so give it to nobody.',
      }
    case 'sign_in':
      return {
        subject: 'Your code to log in',
        heading: 'Log in',
        told: 'Enter this code to log in.',
        step: signInStep('Is the page to enter it closed? Begin again here:', siteUrl),
        otherwise:
          'If it was not you, give this code to nobody. Somebody may know your password: log in and choose a new one.',
      }
    case 'invitation':
      return {
        subject: 'Your Robo Kids Learning account',
        heading: 'Your account is ready',
        told: 'We made an account for you. Log in with this temporary password; you then choose one of your own.',
        step: signInStep('You log in here:', siteUrl),
        otherwise: 'If you did not expect this, ignore this email, or reply to it to have the account removed.',
      }
  }
}

/** A code to copy. It is in the mail alone and never in a link, so that opening what the mail links to changes nothing. */
export function codeMail(
  data: CodeData,
  { code, recipient }: { code: string; recipient: string },
  validity: Temporal.Duration,
  siteUrl: string,
): RenderedMail {
  const { subject, heading, told, step, otherwise } = storyOf(data.purpose, recipient, siteUrl)
  const invited = data.purpose === 'invitation'
  const valid: RichText = [`It is valid for ${validFor(validity)}.`]
  return renderMail({
    subject: [subject],
    heading,
    picture: invited || data.purpose === 'sign_up' ? pictures.welcome : pictures.account,
    opening: [greeting(data.givenName), [told], valid],
    code: { label: invited ? 'Temporary password' : 'Your code', value: code },
    facts: invited ? [{ label: 'User name', lines: [richText`${data.username}`] }] : [],
    step,
    closing: [[otherwise], questions],
  })
}
