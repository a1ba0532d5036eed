import { signInLocked, userDeleted, userUpdated } from '@robokids/contracts/identity'
import { mailDelivered } from '@robokids/contracts/notifications'
import { newEvent } from '@robokids/runtime/outbox'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInLockedMail } from '../src/mails/sign-in-locked.ts'
import { account } from './events.ts'
import { openOffice, siteUrl, type NotificationsFixture } from './fixture.ts'

let office: NotificationsFixture
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

/** Returns when everything that was published before has been handled and sent. */
async function settled(): Promise<void> {
  const { bus } = office.bed
  const last = account()
  await bus.publish(userDeleted, last.userId, last)
  await bus.publish(userUpdated, last.userId, { ...last, changed: ['password'], previousEmail: null })
  await bus.publish(signInLocked, last.userId, { ...last, reason: 'too_many_attempts', until: null })
  await office.post.mailTo(last.email ?? '', 3)
  await eventually(async () => (await office.mailsTo(last.userId)).every(({ status }) => status === 'sent'))
}

describe('user.updated', () => {
  it.each([
    ['password', 'Your password was changed'],
    ['mfa', 'Your two-step login was changed'],
    ['passkeys', 'Your passkeys were changed'],
    ['email', 'Your email address was changed'],
  ])('is told when it changed the %s', async (changed, subject) => {
    const data = account()
    const event = await office.bed.bus.publish(userUpdated, data.userId, {
      ...data,
      changed: ['given_name', changed],
      previousEmail: null,
    })
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe(subject)
    expect(parsed.text).toContain('Hello Maren,')
    expect(parsed.text).toContain('If it was not you')
    expect(parsed.text).toMatch(/When:\n {2}\w+, \w+ \d+, \d{4} at \d+:\d\d [AP]M Pacific Time/)
    expect(parsed.text?.match(/https?:\S+/g)).toEqual([`${siteUrl}/membership/login`])
    const [mail] = await office.mailsTo(data.userId)
    expect(mail).toMatchObject({ fact: `user_updated:${event.id}`, medium: 'EMAIL', registrationId: null })
  })

  it.each([
    [[], 'Two-step login is off now: your account is opened by one step alone.'],
    [
      ['SOFTWARE_TOKEN_MFA', 'SMS_MFA'],
      'The second step is a code from your authenticator app, or a code by text message.',
    ],
  ] as const)('says what the second step is now: %j', async (factors, told) => {
    const data = { ...account(), changed: ['mfa'], previousEmail: null, secondFactors: [...factors] }
    await office.bed.bus.publish(userUpdated, data.userId, data)
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your two-step login was changed')
    expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(told)
  })

  it.each([
    [0, 'There are no passkeys now.'],
    [1, 'There is 1 passkey now.'],
    [2, 'There are 2 passkeys now.'],
  ])('says how many passkeys there are now: %d', async (passkeys, told) => {
    const data = { ...account(), changed: ['passkeys'], previousEmail: null, passkeys }
    await office.bed.bus.publish(userUpdated, data.userId, data)
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(told)
  })

  it('is told in one mail when it changed several things', async () => {
    const data = account()
    const changed = ['mfa', 'password']
    await office.bed.bus.publish(userUpdated, data.userId, { ...data, changed, previousEmail: null })
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your account was changed')
    expect(parsed.text).toContain('The password of your account was changed.')
    expect(parsed.text).toContain('The two-step login of your account was changed.')
    await settled()
    expect(office.post.to(data.email ?? '')).toHaveLength(1)
  })

  it('tells the previous address as well when the e-mail changed, and not what the new one is', async () => {
    const data = account()
    const previousEmail = `previous.${data.userId}@example.com`
    await office.bed.bus.publish(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail })
    await office.post.mailTo(data.email ?? '')
    const { parsed, raw } = await office.post.mailTo(previousEmail)
    expect(parsed.subject).toBe('Your email address was changed')
    expect(parsed.text).toContain('reply to this email at once')
    // Until then it still does.
    expect(parsed.text).toContain('Once that one is confirmed, this one does not open the account any more.')
    expect(raw).not.toContain(data.email)
    await settled()
    expect(office.post.to(previousEmail)).toHaveLength(1)
  })

  it('tells the previous address alone while the new one is not verified', async () => {
    const data = account({ emailVerified: false })
    const previousEmail = `previous.${data.userId}@example.com`
    await office.bed.bus.publish(userUpdated, data.userId, { ...data, changed: ['email'], previousEmail })
    await office.post.mailTo(previousEmail)
    await settled()
    expect(await office.mailsTo(data.userId)).toHaveLength(1)
  })

  it.each([
    ['only other things changed', account(), ['given_name', 'phone_number', 'enabled', 'groups', 'birthdate']],
    ['the e-mail is not verified', account({ emailVerified: false }), ['password']],
    ['there is no e-mail', account({ email: null }), ['password', 'mfa']],
  ])('sends nothing where %s', async (_case, data, changed) => {
    await office.bed.bus.publish(userUpdated, data.userId, { ...data, changed, previousEmail: null })
    await settled()
    expect(await office.mailsTo(data.userId)).toEqual([])
  })

  it('is told once however often it comes, and two of them twice', async () => {
    const data = { ...account(), changed: ['password'], previousEmail: null }
    const first = newEvent(userUpdated, data.userId, data)
    const second = await office.bed.bus.publish(userUpdated, data.userId, data)
    for (const event of [first, second, first, second]) await office.bed.bus.republish(event)
    await office.post.mailTo(data.email ?? '', 2)
    await settled()
    expect(office.post.to(data.email ?? '')).toHaveLength(2)
    expect(office.bed.bus.all(mailDelivered, ({ userId }) => userId === data.userId)).toHaveLength(2)
  })
})

describe('an account whose address is being changed', () => {
  it('is told of at the proven address: what changes, that it is locked, that it is deleted', async () => {
    const data = account({ emailVerified: false })
    const verifiedEmail = `proven.${data.userId}@example.com`
    const pending = { ...data, verifiedEmail }
    const { bus } = office.bed
    await bus.publish(userUpdated, data.userId, {
      ...pending,
      changed: ['email', 'password'],
      previousEmail: verifiedEmail,
    })
    await bus.publish(signInLocked, data.userId, { ...pending, reason: 'token_reused', until: null })
    await bus.publish(userUpdated, data.userId, { ...pending, changed: ['mfa'], previousEmail: verifiedEmail })
    await office.post.mailTo(verifiedEmail, 3)
    await bus.publish(userDeleted, data.userId, pending)
    await office.post.mailTo(verifiedEmail, 4)
    const told = office.post.to(verifiedEmail).map(({ parsed }) => parsed)
    const changed = told.find(({ subject }) => subject === 'Your email address was changed')
    expect(changed?.text).toContain('The password of your account was changed.')
    const subjects = new Set(told.map(({ subject }) => subject))
    expect(subjects).toEqual(
      new Set([
        'We ended a login to your account',
        'Your account is deleted',
        'Your email address was changed',
        'Your two-step login was changed',
      ]),
    )
    expect(office.post.to(data.email ?? '')).toEqual([])
  })
})

describe('sign_in.locked', () => {
  it('tells of too many tries, until when sign-ins wait, and that there is nothing to do', async () => {
    const data = account()
    const until = '2026-11-29T00:05:00.000Z'
    await office.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'too_many_attempts', until })
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Sign-ins to your account are paused')
    expect(parsed.text).toContain('Paused until:\n  Saturday, November 28, 2026 at 4:05 PM Pacific Time')
    expect(parsed.text).toContain('If it was not you')
  })

  it('names no end of a pause that is over within its minute, and the button by its own words', () => {
    const at = '2026-11-29T00:05:10.000Z'
    const locked = { givenName: 'Maren', reason: 'too_many_attempts', at } as const
    const text = (until: string) => signInLockedMail({ ...locked, until }, 'https://robokids.example').text
    expect(text('2026-11-29T00:05:12.000Z')).not.toContain('Paused until')
    expect(text('2026-11-29T00:06:12.000Z')).toContain('Paused until:\n  Saturday, November 28, 2026 at 4:06 PM')
    expect(text('2026-11-29T00:06:12.000Z')).toContain('press “Forgot your password?” on the login page')
  })

  it('tells of a sign-in that was used twice', async () => {
    const data = account()
    await office.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null })
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('We ended a login to your account')
    expect(parsed.text).toContain('Please log in again.')
    expect(parsed.text).not.toContain('Paused until')
  })

  it('tells once a day of tries that go on, and each time of a sign-in that was used twice', async () => {
    const data = account()
    // To come: a mail of what happened before there was this kind of mail is none.
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
      await office.bed.bus.republish(event)
    }
    await office.post.mailTo(data.email ?? '', 4)
    await settled()
    const subjects = office.post.to(data.email ?? '').map(({ parsed }) => parsed.subject)
    expect(subjects.filter((subject) => subject === 'Sign-ins to your account are paused')).toHaveLength(2)
    expect(subjects.filter((subject) => subject === 'We ended a login to your account')).toHaveLength(2)
  })

  it('sends nothing to an address that is not verified', async () => {
    const data = account({ emailVerified: false })
    await office.bed.bus.publish(signInLocked, data.userId, { ...data, reason: 'token_reused', until: null })
    await settled()
    expect(await office.mailsTo(data.userId)).toEqual([])
  })
})

describe('user.deleted', () => {
  it('is told once, with a goodbye', async () => {
    const data = account({ givenName: 'עדי' })
    const event = await office.bed.bus.publish(userDeleted, data.userId, data)
    await office.bed.bus.republish(event)
    await office.bed.bus.publish(userDeleted, data.userId, data)
    const { parsed } = await office.post.mailTo(data.email ?? '')
    expect(parsed.subject).toBe('Your account is deleted')
    expect(parsed.text).toContain('Hello \u2068עדי\u2069,')
    expect(parsed.text).not.toMatch(/https?:/)
    await settled()
    expect(office.post.to(data.email ?? '')).toHaveLength(1)
  })

  it.each([account({ emailVerified: false }), account({ email: null })])(
    'is not told where no address is verified',
    async (data) => {
      await office.bed.bus.publish(userDeleted, data.userId, data)
      await settled()
      expect(await office.mailsTo(data.userId)).toEqual([])
    },
  )
})
