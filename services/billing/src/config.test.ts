import { readConfig, ConfigError } from '@robokids/runtime/config'
import { describe, expect, it } from 'vitest'
import { configSchema } from './config.ts'

const settings = {
  APP_ENV: 'local',
  STRIPE_SECRET_KEY: 'sk_test_abc',
  STRIPE_API_URL: 'http://127.0.0.1:4010',
  STRIPE_WEBHOOK_SECRETS: 'whsec_new, whsec_old',
  SITE_URL: 'https://robokids.example/',
}

describe('the billing settings', () => {
  it('reads valid settings', () => {
    expect(readConfig(configSchema, settings)).toMatchObject({
      STRIPE_WEBHOOK_SECRETS: ['whsec_new', 'whsec_old'],
      SITE_URL: 'https://robokids.example',
      RECONCILE_EVERY_MS: 60_000,
    })
    expect(readConfig(configSchema, { ...settings, STRIPE_API_URL: '' }).STRIPE_API_URL).toBeUndefined()
  })

  it('rejects a live key together with a simulator URL', () => {
    expect(() => readConfig(configSchema, { ...settings, STRIPE_SECRET_KEY: 'sk_live_abc' })).toThrow(ConfigError)
    expect(
      readConfig(configSchema, { ...settings, STRIPE_SECRET_KEY: 'sk_live_abc', STRIPE_API_URL: undefined }),
    ).toBeDefined()
  })

  it('rejects malformed keys and secrets without repeating them in the error', () => {
    for (const wrong of [
      { STRIPE_SECRET_KEY: 'pk_test_1' },
      { STRIPE_WEBHOOK_SECRETS: 'whsec_a,oops' },
      { STRIPE_WEBHOOK_SECRETS: '' },
    ]) {
      const read = () => readConfig(configSchema, { ...settings, ...wrong })
      expect(read).toThrow(Object.keys(wrong)[0])
      expect(read).not.toThrow(/pk_test_1|oops/)
    }
  })
})
