import type { SecondFactor } from '@robokids/contracts/identity'
import type { SecurityChange } from '../rules.ts'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting, formatSchoolInstant, signInStep } from './phrases.ts'
import { pictures } from './pictures.ts'

const changeTexts: Record<SecurityChange, { subject: string; text: string }> = {
  password: { subject: 'Your password was changed', text: 'The password of your account was changed.' },
  mfa: { subject: 'Your two-step login was changed', text: 'The two-step login of your account was changed.' },
  passkeys: { subject: 'Your passkeys were changed', text: 'A passkey of your account was added or removed.' },
  email: { subject: 'Your email address was changed', text: 'The email address of your account is now this one.' },
}

const factorNames: Record<SecondFactor, string> = {
  SOFTWARE_TOKEN_MFA: 'a code from your authenticator app',
  SMS_MFA: 'a code by text message',
  EMAIL_OTP: 'a code by email',
}

/** Describes a change and, if known, the new state. */
function describeChange(
  change: SecurityChange,
  { secondFactors: factors, passkeys }: MailData['user_updated'],
): string {
  const { text } = changeTexts[change]
  if (change === 'passkeys' && passkeys !== undefined) {
    return `${text} There ${passkeys === 1 ? 'is 1 passkey' : `are ${passkeys === 0 ? 'no' : passkeys} passkeys`} now.`
  }
  if (change !== 'mfa' || factors === undefined) return text
  if (factors.length === 0) return 'Two-step login is off now: your account is opened by one step alone.'
  return `Two-step login is on now. The second step is ${factors.map((factor) => factorNames[factor]).join(', or ')}.`
}

/** Composes the mail about a change of the account's sign-in data: a warning, in case it was not the owner. */
export function userUpdatedMail(data: MailData['user_updated'], siteUrl: string): RenderedMail {
  const when = { label: 'When', lines: [[formatSchoolInstant(data.at)]] }
  if (data.toPrevious) {
    return renderMail({
      subject: [changeTexts.email.subject],
      heading: changeTexts.email.subject,
      picture: pictures.account,
      opening: [
        greeting(data.givenName),
        [
          'Your account was given another email address. Once that one is confirmed, this one does not open the account any more.',
        ],
        ...data.changes.filter((change) => change !== 'email').map((change) => [describeChange(change, data)]),
      ],
      facts: [when],
      closing: [
        ['If this was you, there is nothing to do.'],
        ['If it was not you, reply to this email at once, and we will help you to get your account back.'],
      ],
    })
  }
  const [only, ...others] = data.changes.map((change) => changeTexts[change])
  const subject = only === undefined || others.length > 0 ? 'Your account was changed' : only.subject
  return renderMail({
    subject: [subject],
    heading: subject,
    picture: pictures.account,
    opening: [greeting(data.givenName), ...data.changes.map((change) => [describeChange(change, data)])],
    facts: [when],
    step: signInStep(
      'If this was you, there is nothing to do. If it was not you, press “Forgot your password?” on the login page now, choose a new password, and then log out everywhere on your profile page.',
      siteUrl,
    ),
    closing: [['Does that not work? Reply to this email, and we will help you.']],
  })
}
