import { codePurposes } from '@robokids/contracts/identity'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeText } from './code-issued.ts'

/** ASCII characters and line ends that count as one of a text message's 160 characters (3GPP TS 23.038, 6.2.1). */
const gsm = /^[\nA-Za-z0-9 @$_!"#%&'()*+,\-./:;<=>?]*$/

const data = {
  codeId: '0196f3c0-0000-7000-8000-000000000002',
  givenName: 'Zoë 🤖',
  username: 'user_0196f3c0-0000-7000-8000-000000000002',
}

describe('codeText', () => {
  it('returns one text message of the GSM alphabet, for every purpose and validity', () => {
    const codes = fc.stringMatching(/^\d{6,8}$/)
    const validity = fc.integer({ min: 0, max: 7 * 24 * 60 * 60 })
    const site = fc.constantFrom('https://robokidslearning.example', 'http://localhost:3000')
    fc.assert(
      fc.property(fc.constantFrom(...codePurposes), codes, validity, site, (purpose, code, seconds, siteUrl) => {
        const text = codeText({ ...data, purpose }, code, Temporal.Duration.from({ seconds }), siteUrl)
        expect(text).toMatch(gsm)
        expect(text.length).toBeLessThan(160)
        expect(text).toContain(code)
        if (purpose !== 'invitation') {
          expect(text.split('\n').at(-1)).toBe(`@${new URL(siteUrl).hostname} #${code}`)
        }
      }),
    )
  })

  it('contains the user name and the temporary password of an invitation', () => {
    const text = codeText(
      { ...data, purpose: 'invitation' },
      'Tmp-4f9K!x',
      Temporal.Duration.from({ days: 7 }),
      'http://localhost:3000',
    )
    expect(text).toBe(
      'Robo Kids Learning: log in at localhost:3000 as user_0196f3c0-0000-7000-8000-000000000002 with temporary password Tmp-4f9K!x (valid 7 days)',
    )
  })
})
