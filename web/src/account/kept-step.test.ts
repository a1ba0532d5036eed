import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { session } from '../browser/storage.ts'
import { forgetStep, keepStep, readKeptStep } from './kept-step.ts'

const nowhere = { email: '', step: null, isSecond: false, sent: null }
const byMail = {
  step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE',
  delivery: { medium: 'EMAIL', destination: 'm***@e***' },
} as const

describe('a step of a sign-in that is kept', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2026-11-29T12:00:00Z') })
  })
  afterEach(() => {
    vi.useRealTimers()
    forgetStep()
  })

  it('is there for three minutes, as long as the server holds it', () => {
    keepStep({ email: 'maren.holt@example.com', step: byMail, isSecond: true })
    const kept = { email: 'maren.holt@example.com', step: byMail, isSecond: true, sent: null }
    vi.advanceTimersByTime(179_000)
    expect(readKeptStep()).toEqual(kept)
    vi.advanceTimersByTime(2_000)
    expect(readKeptStep()).toEqual(nowhere)
  })

  it('is there for an hour where a code for a new password is on its way', () => {
    keepStep({ email: 'maren.holt@example.com', sent: 'We emailed a code to m***@e***.' })
    vi.advanceTimersByTime(3_599_000)
    expect(readKeptStep()).toMatchObject({ email: 'maren.holt@example.com', sent: 'We emailed a code to m***@e***.' })
    vi.advanceTimersByTime(2_000)
    expect(readKeptStep()).toEqual(nowhere)
  })

  it('is none that is made in the page, such as one that shows the key of an authenticator', () => {
    keepStep({ email: 'maren.holt@example.com', step: byMail })
    keepStep({
      email: 'maren.holt@example.com',
      step: { step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP', secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/x' },
    })
    expect(session.get('signInStep')).toBeNull()
    expect(readKeptStep()).toEqual(nowhere)
  })

  it('is none where what is kept cannot be read', () => {
    for (const broken of ['', '{', 'null', '[]', '7', '{"until":"soon"}']) {
      session.set('signInStep', broken)
      expect(readKeptStep()).toEqual(nowhere)
    }
  })
})
