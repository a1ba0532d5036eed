import type { SecondFactor } from '@robokids/contracts/identity'
import type { SecurityChange } from '../rules.ts'
import type { MailData } from '../schema.ts'
import { renderMail, type RenderedMail } from './render-mail.ts'
import { greeting, formatSchoolInstant, signInStep } from './phrases.ts'
import { pictures } from './pictures.ts'

const changeTexts: Record<SecurityChange, { subject: string; text: string }> = {
  password: { subject: 'Your password was changed', text: 'The password for your account was changed.' },
  mfa: { subject: 'Your two-step login was changed', text: 'The two-step login for your account was changed.' },
  passkeys: { subject: 'Your passkeys were changed', text: 'A passkey was added to or removed from your account.' },
  email: { subject: 'Your email address was changed', text: 'Your account now uses this email address.' },
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
    return `${text} It now has ${passkeys === 1 ? '1 passkey' : `${passkeys === 0 ? 'no' : passkeys} passkeys`}.`
  }
  if (change !== 'mfa' || factors === undefined) return text
  if (factors.length === 0) return 'Two-step login is now off: logging in takes only one step.'
  return `Two-step login is now on. The second step is ${factors.map((factor) => factorNames[factor]).join(', or ')}.`
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
          'The email address of your account was changed. Once the new address is confirmed, you can no longer log in with this one.',
        ],
        ...data.changes.filter((change) => change !== 'email').map((change) => [describeChange(change, data)]),
      ],
      facts: [when],
      closing: [
        ['If this was you, you’re all set.'],
        ['If it wasn’t you, reply to this email right away and we’ll help you get your account back.'],
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
      'If this was you, you’re all set. If it wasn’t, select “Forgot your password?” on the login page now, choose a new password, and then log out everywhere on your profile page.',
      siteUrl,
    ),
    closing: [['If that doesn’t work, reply to this email and we’ll help.']],
  })
}
