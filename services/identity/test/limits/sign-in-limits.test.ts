import { randomUUID } from 'node:crypto'
import { signInLocked } from '@robokids/contracts/identity'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startIdentity, password, publicClient, type IdentityFixture } from '../fixture.ts'

let fixture: IdentityFixture
beforeAll(async () => {
  fixture = await startIdentity({
    TRUST_PROXY: 'true',
    ACCOUNT_FAILURES_AN_HOUR: '20',
    ADDRESS_ATTEMPTS_A_MINUTE: '150',
    ADDRESS_TEXTS_AN_HOUR: '3',
  })
})
afterEach(() => fixture.service.context.clock.set(Temporal.Now.instant()))
afterAll(() => fixture.stop())

let last = 0
let numbers = 0
const newAddress = () => `203.0.${Math.floor(++last / 250)}.${(last % 250) + 1}`
const from = (address: string) => ({ 'x-forwarded-for': address })
const signIn = (name: string, address: string, secret = password) =>
  fixture.call(
    'InitiateAuth',
    { ClientId: publicClient, AuthFlow: 'USER_PASSWORD_AUTH', AuthParameters: { USERNAME: name, PASSWORD: secret } },
    from(address),
  )
const exceeded = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Password attempts exceeded' } }

describe('failed sign-ins', () => {
  it('delay the next attempt, twice as long each time, whether it is correct or not', async () => {
    const { username, userId } = await fixture.member()
    const address = newAddress()
    const { clock } = fixture.service.context
    for (let failures = 0; failures < 6; failures++) {
      expect((await signIn(username, address, 'Wrong-2030!')).body['message']).toBe('Incorrect username or password.')
    }
    expect(await signIn(username, address)).toMatchObject(exceeded)
    clock.advance({ seconds: 2 })
    expect((await signIn(username, address, 'Wrong-2030!')).body['message']).toBe('Incorrect username or password.')
    clock.advance({ milliseconds: 1_200 })
    expect(await signIn(username, address)).toMatchObject(exceeded)
    clock.advance({ seconds: 2 })
    expect((await signIn(username, address)).status).toBe(200)
    const event = await fixture.bed.bus.seen(signInLocked, (data) => data.userId === userId)
    expect(event.data.reason).toBe('too_many_attempts')
    expect(fixture.bed.bus.all(signInLocked, (data) => data.userId === userId)).toHaveLength(1)
  })

  it('for an unknown username get the same responses', async () => {
    const [unknown, address] = [`user_${randomUUID()}`, newAddress()]
    for (let failures = 0; failures < 6; failures++) await signIn(unknown, address)
    expect(await signIn(unknown, address)).toMatchObject(exceeded)
  })

  it('from one address lock nobody out elsewhere, however many are concurrent', async () => {
    const { username } = await fixture.member()
    const attacker = newAddress()
    const answers = await Promise.all(Array.from({ length: 60 }, () => signIn(username, attacker, 'Wrong-2030!')))
    expect(answers.every(({ status }) => status === 400)).toBe(true)
    expect(await signIn(username, attacker)).toMatchObject(exceeded)
    expect((await signIn(username, newAddress())).status).toBe(200)
  }, 30_000)

  it('from many addresses delay strangers, but not users at a known address', async () => {
    const { username } = await fixture.member()
    const home = newAddress()
    expect((await signIn(username, home)).status).toBe(200)
    for (let failures = 0; failures < 21; failures++) await signIn(username, newAddress(), 'Wrong-2030!')
    expect(await signIn(username, newAddress())).toMatchObject(exceeded)
    expect((await signIn(username, home)).status).toBe(200)
  })

  it('from any addresses of one IPv6 network count as from one address', async () => {
    const { username } = await fixture.member()
    const inNetwork = (host: number) => `2001:db8:1:1::${host.toString(16)}`
    for (let failures = 0; failures < 6; failures++) await signIn(username, inNetwork(failures + 1), 'Wrong-2030!')
    expect(await signIn(username, inNetwork(99))).toMatchObject(exceeded)
    for (let failures = 0; failures < 30; failures++) await signIn(username, inNetwork(failures + 100), 'Wrong-2030!')
    expect((await signIn(username, newAddress())).status).toBe(200)
  })

  it('a correct password among many concurrent guesses does not bypass the delay', async () => {
    const { username } = await fixture.member()
    const address = newAddress()
    for (let failures = 0; failures < 5; failures++) await signIn(username, address, 'Wrong-2030!')
    const guesses = [...Array.from({ length: 20 }, (_, n) => `Wrong-${n}!`), password]
    const answers = await Promise.all(guesses.map((guess) => signIn(username, address, guess)))
    // Either it was checked before the first failure, or it is delayed as well.
    const right = answers.at(-1)
    if (right?.status === 200) return
    expect(right).toMatchObject(exceeded)
  })
})

describe('requests from one address', () => {
  it('are limited per minute', async () => {
    const address = newAddress()
    const answers = await Promise.all(
      Array.from({ length: 151 }, () =>
        fixture.call(
          'RespondToAuthChallenge',
          {
            ClientId: publicClient,
            ChallengeName: 'EMAIL_OTP',
            Session: 'x'.repeat(40),
            ChallengeResponses: { USERNAME: 'x' },
          },
          from(address),
        ),
      ),
    )
    const names = answers.map(({ body }) => String(body['__type']))
    expect(names.filter((name) => name === 'TooManyRequestsException')).toHaveLength(1)
  })
})

describe('networks of one IPv6 /48', () => {
  it('share eight times the limit of one network, while each IPv4 address has its own', async () => {
    const strict = await startIdentity({ TRUST_PROXY: 'true', ADDRESS_ATTEMPTS_A_MINUTE: '3' })
    try {
      const guess = async (address: string) => {
        const input = {
          ClientId: publicClient,
          ChallengeName: 'EMAIL_OTP',
          Session: 'x'.repeat(40),
          ChallengeResponses: { USERNAME: 'x' },
        }
        return String((await strict.call('RespondToAuthChallenge', input, from(address))).body['__type'])
      }
      const guesses = async (addressOf: (nth: number) => string) => {
        const names = await Array.fromAsync({ length: 30 }, (_, nth) => guess(addressOf(nth % 10)))
        return names.filter((name) => name !== 'TooManyRequestsException').length
      }
      strict.service.context.clock.set(Temporal.Now.instant())
      expect(await guesses((nth) => `2001:db8:5:${nth}::1`)).toBe(24)
      expect(await guess('2001:db8:5:99::1')).toBe('TooManyRequestsException')
      expect(await guess('2001:db8:6:1::1')).toBe('NotAuthorizedException')
      expect(await guesses((nth) => `203.0.113.${nth + 1}`)).toBe(30)
    } finally {
      await strict.stop()
    }
  })
})

describe('text messages', () => {
  it('are limited per hour and address for all accounts, while mails continue', async () => {
    const address = newAddress()
    const codeOf = async (AttributeName: string, elsewhere = address) => {
      const { username } = await fixture.member(publicClient, {
        phone_number: `+1650${String(++numbers).padStart(7, '5')}`,
      })
      const AccessToken = (await signIn(username, newAddress())).body['AuthenticationResult'].AccessToken as string
      return fixture.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName }, from(elsewhere))
    }
    const answers = await Promise.all(Array.from({ length: 5 }, () => codeOf('phone_number')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect((await codeOf('phone_number')).body['__type']).toBe('LimitExceededException')
    expect((await codeOf('email')).status).toBe(200)
    expect((await codeOf('phone_number', newAddress())).status).toBe(200)
  })
})

describe('the metrics of sign-ins', () => {
  it('count completed ones, and failed ones by kind', async () => {
    const counted = async () => {
      const text = await (await fetch(`${fixture.url}/metrics`)).text()
      const read = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(text)?.[1])
      return {
        completed: read('sign_ins_total'),
        wrong: read('sign_in_failures_total{kind="wrong_password"}'),
        exceeded: read('sign_in_failures_total{kind="too_many_attempts"}'),
        other: read('sign_in_failures_total{kind="other"}'),
      }
    }
    const { username } = await fixture.member()
    const before = await counted()
    await signIn(username, newAddress())
    const address = newAddress()
    for (let failures = 0; failures < 6; failures++) await signIn(username, address, 'Wrong-2030!')
    await signIn(username, address)
    await fixture.call('InitiateAuth', { ClientId: publicClient, AuthFlow: 'REFRESH_TOKEN_AUTH', AuthParameters: {} })
    expect(await counted()).toEqual({
      completed: before.completed + 1,
      wrong: before.wrong + 6,
      exceeded: before.exceeded + 1,
      other: before.other,
    })
  })
})

describe('all text messages together', () => {
  const metrics = async ({ url }: IdentityFixture) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Object.fromEntries(
      [...text.matchAll(/^text_messages_total\{outcome="(\w+)"\} (\d+)$/gm)].map(([, outcome, n]) => [
        outcome,
        Number(n),
      ]),
    )
  }
  const tokenAt = async (at: IdentityFixture, phone_number: string) => {
    const { username } = await at.member(publicClient, { phone_number })
    const parameters = { USERNAME: username, PASSWORD: password }
    const begin = { ClientId: publicClient, AuthFlow: 'USER_PASSWORD_AUTH', AuthParameters: parameters }
    return (await at.call('InitiateAuth', begin)).body['AuthenticationResult'].AccessToken as string
  }
  const verify = (at: IdentityFixture, AccessToken: string, address: string, AttributeName = 'phone_number') =>
    at.call('GetUserAttributeVerificationCode', { AccessToken, AttributeName }, from(address))

  it('are limited per day for all requesters, while mails continue', async () => {
    const strict = await startIdentity({ TRUST_PROXY: 'true', TEXTS_A_DAY: '3' })
    try {
      const tokens = await Promise.all(Array.from({ length: 5 }, (_, nth) => tokenAt(strict, `+1650555010${nth}`)))
      const answers = await Promise.all(tokens.map((token) => verify(strict, token, newAddress())))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
      expect(answers.find(({ status }) => status !== 200)?.body).toEqual({
        __type: 'LimitExceededException',
        message: 'We can’t send more text messages today. Please use another method, or try again tomorrow.',
      })
      expect(await metrics(strict)).toEqual({ sent: 3, refused: 2 })
      expect((await verify(strict, tokens[0] ?? '', newAddress(), 'email')).status).toBe(200)
      strict.service.context.clock.advance({ hours: 24, minutes: 1 })
      expect((await verify(strict, await tokenAt(strict, '+16505550109'), newAddress())).status).toBe(200)
    } finally {
      await strict.stop()
    }
  })

  it('are sent only to configured countries, with an error for other numbers', async () => {
    const before = (await metrics(fixture))['sent']
    const foreign = await verify(fixture, await tokenAt(fixture, '+447700900123'), newAddress())
    expect(foreign).toEqual({
      status: 400,
      body: {
        __type: 'InvalidParameterException',
        message: 'We can send text messages only to numbers that begin with +1. Please use another method.',
      },
    })
    expect((await metrics(fixture))['sent']).toBe(before)
  })
})

describe('codes of a sign-in', () => {
  const ask = (name: string, address: string) =>
    fixture.call(
      'InitiateAuth',
      { ClientId: publicClient, AuthFlow: 'CUSTOM_AUTH', AuthParameters: { USERNAME: name } },
      from(address),
    )

  it('are limited per hour and address, while their owner still gets them', async () => {
    const { username } = await fixture.member()
    const attacker = newAddress()
    const names = [username, `user_${randomUUID()}`]
    for (const name of names) {
      for (let sent = 0; sent < 10; sent++) expect((await ask(name, attacker)).status).toBe(200)
      expect((await ask(name, attacker)).body).toEqual({
        __type: 'LimitExceededException',
        message: 'Attempt limit exceeded, please try after some time.',
      })
    }
    expect((await ask(username, newAddress())).status).toBe(200)
  })
})
