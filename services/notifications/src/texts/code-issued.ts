import { validFor } from '../mails/phrases.ts'
import type { MailData } from '../schema.ts'

type CodeData = MailData['code_issued']

function sentence({ purpose, username }: CodeData, code: string, valid: string, site: URL): string {
  switch (purpose) {
    case 'sign_up':
      return `${code} confirms your Robo Kids Learning account. Valid for ${valid}. Not you? Ignore this.`
    case 'attribute':
      return `${code} verifies your phone at Robo Kids Learning. Valid for ${valid}. Not you? Ignore this.`
    case 'password_reset':
      return `${code} sets a new Robo Kids Learning password. Valid for ${valid}. Not you? Ignore this.`
    case 'sign_in':
      return `${code} signs you in at Robo Kids Learning. Valid for ${valid}. Not you? Tell nobody.`
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
