import { signInLocked, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { mailDelivered } from '@robokids/contracts/notifications'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInLockedMail } from '../src/mails/sign-in-locked.ts'
import { account } from './events.ts'
import { startNotifications, siteUrl, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
})
afterAll(() => fixture.close())

/** Waits until all events published before have been handled and their mails sent. */
async function allHandled(): Promise<void> {
  const { bus } = fixture.bed
  const last = account()
  await bus.publish(userDeleted, last.userId, last)
  await bus.publish(userUpdated, last.userId, { ...last, changed: ['password'], previousEmail: null })
  await bus.publish(signInLocked, last.userId, { ...last, reason: 'too_many_attempts', until: null })
  await fixture.smtp.mailTo(last.email ?? '', 3)
  await eventually(async () => (await fixture.mailsTo(last.userId)).every(({ status }) => status === 'sent'))
}

describe('user.updated', () => {
  it.each([
    ['password', 'Your password was changed'],
    ['mfa', 'Your two-step login was changed'],
    ['passkeys', 'Your passkeys were changed'],
    ['email', 'Your email address was changed'],
  ])('sends a mail when the %s was changed', async (changed, subject) => {
    const data = account()
    const event = await fixture.bed.bus.publish(userUpdated, data.userId, {
      ...data,
      changed: ['given_name', changed],
      previousEmail: null,
    })
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe(subject)
    expect(parsed.text).toContain('Hello Maren,')
    expect(parsed.text).toContain('If it wasn’t')
    expect(parsed.text).toMatch(/When:\n {2}\w+, \w+ \d+, \d{4} at \d+:\d\d [AP]M Pacific Time/)
    expect(parsed.text?.match(/https?:\S+/g)).toEqual([`${siteUrl}/membership/login`])
    const [mail] = await fixture.mailsTo(data.userId)
    expect(mail).toMatchObject({ fact: `user_updated:${event.id}`, medium: 'EMAIL', registrationId: null })
  })

  it.each([
    [[], 'Two-step login is now off: logging in takes only one step.'],
    [
      ['SOFTWARE_TOKEN_MFA', 'SMS_MFA'],
      'The second step is a code from your authenticator app, or a code by text message.',
    ],
  ] as const)('names the current second factors: %j', async (factors, text) => {
    const data = { ...account(), changed: ['mfa'], previousEmail: null, secondFactors: [...factors] }
    await fixture.bed.bus.publish(userUpdated, data.userId, data)
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your two-step login was changed')
    expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(text)
  })

  it.each([
    [0, 'It now has no passkeys.'],
    [1, 'It now has 1 passkey.'],
    [2, 'It now has 2 passkeys.'],
  ])('states the current number of passkeys: %d', async (passkeys, text) => {
    const data = { ...account(), changed: ['passkeys'], previousEmail: null, passkeys }
    await fixture.bed.bus.publish(userUpdated, data.userId, data)
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(text)
  })

  it('sends one mail about several changes', async () => {
    const data = account()
    const changed = ['mfa', 'password']
    await fixture.bed.bus.publish(userUpdated, data.userId, { ...data, changed, previousEmail: null })
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your account was changed')
    expect(parsed.text).toContain('The password for your account was changed.')
    expect(parsed.text).toContain('The two-step login for your account was changed.')
    await allHandled()
    expect(fixture.smtp.to(data.email ?? '')).toHaveLength(1)
  })

  it('also warns the previous address of a changed email, without the new address', async () => {
    const data = account()
    const previousEmail = `previous.${data.userId}@example.com`
    await fixture.bed.bus.publish(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail })
    await fixture.smtp.mailTo(data.email ?? '')
    const { parsed, raw } = await fixture.smtp.mailTo(previousEmail)
    expect(parsed.subject).toBe('Your email address was changed')
    expect(parsed.text).toContain('reply to this email right away')
    // The previous address works until then.
    expect(parsed.text).toContain('Once the new address is confirmed, you can no longer log in with this one.')
    expect(raw).not.toContain(data.email)
    await allHandled()
    expect(fixture.smtp.to(previousEmail)).toHaveLength(1)
  })

  it('warns only the previous address while the new one is not verified', async () => {
    const data = account({ emailVerified: false })
    const previousEmail = `previous.${data.userId}@example.com`
    await fixture.bed.bus.publish(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail })
    await fixture.smtp.mailTo(previousEmail)
    await allHandled()
    expect(await fixture.mailsTo(data.userId)).toHaveLength(1)
  })

  it.each([
    ['only other things changed', account(), ['given_name', 'phone_number', 'enabled', 'groups', 'birthdate']],
    ['the email is not verified', account({ emailVerified: false }), ['password']],
    ['there is no email', account({ email: null }), ['password', 'mfa']],
  ])('sends nothing if %s', async (_case, data, changed) => {
    await fixture.bed.bus.publish(userUpdated, data.userId, { ...data, changed, previousEmail: null })
    await allHandled()
    expect(await fixture.mailsTo(data.userId)).toEqual([])
  })

  it('sends one mail per event, however often it is delivered', async () => {
    const data = { ...account(), changed: ['password'], previousEmail: null }
    const first = newEvent(userUpdated, data.userId, data)
    const second = await fixture.bed.bus.publish(userUpdated, data.userId, data)
    for (const event of [first, second, first, second]) await fixture.bed.bus.republish(event)
    await fixture.smtp.mailTo(data.email ?? '', 2)
    await allHandled()
    expect(fixture.smtp.to(data.email ?? '')).toHaveLength(2)
    expect(fixture.bed.bus.all(mailDelivered, ({ userId }) => userId === data.userId)).toHaveLength(2)
  })
})

describe('an account whose address is being changed', () => {
  it('gets all mails at the verified address', async () => {
    const data = account({ emailVerified: false })
    const verifiedEmail = `proven.${data.userId}@example.com`
    const pending = { ...data, verifiedEmail }
    const { bus } = fixture.bed
    await bus.publish(userUpdated, data.userId, {
      ...pending,
      changed: ['email', 'password'],
      previousEmail: verifiedEmail,
    })
    await bus.publish(signInLocked, data.userId, { ...pending, reason: 'token_reused', until: null })
    await bus.publish(userUpdated, data.userId, { ...pending, changed: ['mfa'], previousEmail: verifiedEmail })
    await fixture.smtp.mailTo(verifiedEmail, 3)
    await bus.publish(userDeleted, data.userId, pending)
    await fixture.smtp.mailTo(verifiedEmail, 4)
    const received = fixture.smtp.to(verifiedEmail).map(({ parsed }) => parsed)
    const changed = received.find(({ subject }) => subject === 'Your email address was changed')
    expect(changed?.text).toContain('The password for your account was changed.')
    const subjects = new Set(received.map(({ subject }) => subject))
    expect(subjects).toEqual(
      new Set([
        'We logged you out to protect your account',
        'Your account has been deleted',
        'Your email address was changed',
        'Your two-step login was changed',
      ]),
    )
    expect(fixture.smtp.to(data.email ?? '')).toEqual([])
  })
})

describe('sign_in.locked', () => {
  it('sends a mail about too many attempts with the end of the lock', async () => {
    const data = account()
    const until = '2026-11-29T00:05:00.000Z'
    await fixture.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'too_many_attempts', until })
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Logging in to your account is paused')
    expect(parsed.text).toContain('Paused until:\n  Saturday, November 28, 2026 at 4:05 PM Pacific Time')
    expect(parsed.text).toContain('If it wasn’t')
  })

  it('names no end of a lock that ends within the same minute, and the button by its label', () => {
    const at = '2026-11-29T00:05:10.000Z'
    const locked = { givenName: 'Maren', reason: 'too_many_attempts', at } as const
    const text = (until: string) => signInLockedMail({ ...locked, until }, 'https://robokids.example').text
    expect(text('2026-11-29T00:05:12.000Z')).not.toContain('Paused until')
    expect(text('2026-11-29T00:06:12.000Z')).toContain('Paused until:\n  Saturday, November 28, 2026 at 4:06 PM')
    expect(text('2026-11-29T00:06:12.000Z')).toContain('select “Forgot your password?” on the login page')
  })

  it('sends a mail about a reused token', async () => {
    const data = account()
    await fixture.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null })
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('We logged you out to protect your account')
    expect(parsed.text).toContain('Please log in again.')
    expect(parsed.text).not.toContain('Paused until')
  })

  it('sends one mail a day about continued attempts, and one about each reused token', async () => {
    const data = account()
    // In the future, because events before the start of the consumer are ignored.
    const on = (time: string, reason: 'too_many_attempts' | 'token_reused') => ({
      ...newEvent(signInLocked, data.userId, { ...data, reason, until: null }),
      time,
    })
    const reused = on('2099-11-28T12:00:00.000Z', 'token_reused')
    for (const event of [
      on('2099-11-28T00:00:01.000Z', 'too_many_attempts'),
      on('2099-11-28T23:59:59.000Z', 'too_many_attempts'),
      on('2099-11-29T00:00:01.000Z', 'too_many_attempts'),
      reused,
      reused,
      on('2099-11-28T12:00:01.000Z', 'token_reused'),
    ]) {
      await fixture.bed.bus.republish(event)
    }
    await fixture.smtp.mailTo(data.email ?? '', 4)
    await allHandled()
    const subjects = fixture.smtp.to(data.email ?? '').map(({ parsed }) => parsed.subject)
    expect(subjects.filter((subject) => subject === 'Logging in to your account is paused')).toHaveLength(2)
    expect(subjects.filter((subject) => subject === 'We logged you out to protect your account')).toHaveLength(2)
  })

  it('sends nothing to an address that is not verified', async () => {
    const data = account({ emailVerified: false })
    await fixture.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null })
    await allHandled()
    expect(await fixture.mailsTo(data.userId)).toEqual([])
  })
})

describe('user.deleted', () => {
  it('sends one goodbye mail', async () => {
    const data = account({ givenName: 'עדי' })
    const event = await fixture.bed.bus.publish(userDeleted, data.userId, data)
    await fixture.bed.bus.republish(event)
    await fixture.bed.bus.publish(userDeleted, data.userId, data)
    const { parsed } = await fixture.smtp.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your account has been deleted')
    expect(parsed.text).toContain('Hello \u2068עדי\u2069,')
    expect(parsed.text).not.toMatch(/https?:/)
    await allHandled()
    expect(fixture.smtp.to(data.email ?? '')).toHaveLength(1)
  })

  it.each([account({ emailVerified: false }), account({ email: null })])(
    'sends nothing if no address is verified',
    async (data) => {
      await fixture.bed.bus.publish(userDeleted, data.userId, data)
      await allHandled()
      expect(await fixture.mailsTo(data.userId)).toEqual([])
    },
  )
})
