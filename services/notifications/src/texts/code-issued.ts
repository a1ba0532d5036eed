import { validFor } from '../mails/phrases.ts'
import type { MailData } from '../schema.ts'

type CodeData = MailData['code_issued']

function sentence({ purpose, username }: CodeData, code: string, valid: string, site: URL): string {
  switch (purpose) {
    case 'sign_up':
      return `${code} is your code to confirm your Robo Kids Learning account. Valid for ${valid}. Not you? Ignore this.`
    case 'attribute':
      return `${code} is your code to verify your phone for Robo Kids Learning. Valid for ${valid}. Not you? Ignore this.`
    case 'password_reset':
      return `${code} is your code to reset your Robo Kids Learning password. Valid for ${valid}. Not you? Ignore this.`
    case 'sign_in':
      return `${code} is your code to log in to Robo Kids Learning. Valid for ${valid}. Do not share it.`
    case 'invitation':
      return `Robo Kids Learning: log in at ${site.host} as ${username} with temporary password ${code} (valid ${valid})`
  }
}

/**
 * Returns a text message of at most 160 characters of the GSM alphabet, so without the person's name. The last line lets a
 * browser fill the code in only on our site (https://wicg.github.io/sms-one-time-codes/); a temporary password has none.
 */
export function codeText(data: CodeData, code: string, validity: Temporal.Duration, siteUrl: string): string {
  const site = new URL(siteUrl)
  const message = sentence(data, code, validFor(validity), site)
  return data.purpose === 'invitation' ? message : `${message}\n\n@${site.hostname} #${code}`
}
