import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBff } from './fixture.ts'

const secret = () => randomBytes(24).toString('base64url')

let bed: TestBed
beforeAll(async () => {
  ;[bed] = await Promise.all([testBed({ natsPassword: secret() }), buildWeb()])
})
afterAll(() => bed.stop())

describe('the design system page', () => {
  it('is served in development, and not found in production', async () => {
    const WEB_DIST = join(root, 'web/dist')
    const production = {
      APP_ENV: 'production',
      SYSTEM_NAME: 'robokids',
      ADMIN_SECRET: secret(),
      SITE_URL: 'https://robokids.org',
      SECURITY_EMAIL: 'security@robokids.org',
      IDENTITY_CLIENT_SECRET: secret(),
      PROOF_SECRET: secret(),
      SESSION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      TRUST_PROXY: '10.1.0.0/16',
    }
    const statuses = async (env: Record<string, string>) => {
      const { url } = await startBff(bed, { WEB_DIST, ...env })
      const answers = await Promise.all(['/design-system', '/privacy'].map((path) => fetch(url + path)))
      return answers.map(({ status }) => status)
    }
    expect(await statuses({})).toEqual([200, 200])
    expect(await statuses(production)).toEqual([404, 200])
  })
})
