import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import { identity } from '../../src/app.ts'
import { passkeys, simulatedNames, type users } from '../../src/schema.ts'
import { startIdentity, password, publicClient, settings, type IdentityFixture } from '../fixture.ts'
import { signInClient } from '../sign-in-client.ts'
import { startSrp } from '../srp-client.ts'

let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
beforeAll(async () => {
  // The daily limits are tested in strangers.test.ts.
  fixture = await startIdentity({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback', CODE_TRIES_A_DAY: '1000' })
  at = signInClient(fixture)
})
afterAll(() => fixture.stop())

const other = 'Another-2031?'
let asked = 0
/** An unknown email that looks like those of existing users. */
const unknownEmail = () => `user_nobody-${++asked}@example.com`

async function kindsOfPeople() {
  const confirmed = await fixture.member()
  const unconfirmed = await fixture.signUp()
  return { confirmed: confirmed.email, unconfirmed: unconfirmed.email, unknown: unknownEmail() }
}

async function answersTo(ask: (name: string) => Promise<unknown>) {
  const people = await kindsOfPeople()
  const answers: unknown[] = []
  for (const name of Object.values(people)) answers.push(await ask(name))
  return answers
}
/** The parameters that an SRP sign-in returns for a username. */
async function srpOf(USERNAME: string): Promise<{ USERNAME?: string; SALT?: string }> {
  const { body } = await at.begin('USER_SRP_AUTH', { USERNAME, SRP_A: startSrp().A })
  return body['ChallengeParameters']
}
const asOne = (answers: unknown[]) => expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)

describe('user enumeration', () => {
  it('is prevented by equal responses of ForgotPassword and ResendConfirmationCode', async () => {
    for (const operation of ['ForgotPassword', 'ResendConfirmationCode']) {
      const answers = await answersTo((Username) => fixture.call(operation, { ClientId: publicClient, Username }))
      asOne(answers)
      expect(answers[0]).toEqual({
        status: 200,
        body: {
          CodeDeliveryDetails: { Destination: 'u***@e***', DeliveryMedium: 'EMAIL', AttributeName: 'email' },
        },
      })
    }
  })

  it('is prevented by equal responses of ConfirmSignUp, before and after the attempts are used up', async () => {
    const tries = (Username: string) =>
      Array.fromAsync({ length: 7 }, async () => {
        const { body } = await fixture.call('ConfirmSignUp', {
          ClientId: publicClient,
          Username,
          ConfirmationCode: 'no code',
        })
        return body
      })
    const answers = await answersTo(tries)
    expect(answers[0]).toMatchObject([
      ...Array.from({ length: 5 }, () => ({ __type: 'CodeMismatchException' })),
      { __type: 'LimitExceededException' },
      { __type: 'LimitExceededException' },
    ])
    // The code of a confirmed account is used up, so its attempts are counted like those of an unknown username.
    asOne(answers)
  })

  it('is prevented by equal responses of ConfirmForgotPassword, before and after a code was requested', async () => {
    const answers = await answersTo(async (Username) => {
      const attempt = async () => {
        const { body } = await fixture.call('ConfirmForgotPassword', {
          ClientId: publicClient,
          Username,
          ConfirmationCode: 'no code',
          Password: other,
        })
        return body['__type'] as string
      }
      const before = await attempt()
      await fixture.call('ForgotPassword', { ClientId: publicClient, Username })
      const after = await Array.fromAsync({ length: 6 }, attempt)
      await fixture.call('ForgotPassword', { ClientId: publicClient, Username })
      return [before, ...after, await attempt()]
    })
    asOne(answers)
    const wrong = 'CodeMismatchException'
    expect(answers[0]).toEqual([
      'ExpiredCodeException',
      ...Array.from({ length: 5 }, () => wrong),
      'LimitExceededException',
      wrong,
    ])
  })

  it('is prevented because ConfirmSignUp depends only on the requester’s own attempts', async () => {
    let network = 0
    const answers = await answersTo(async (Username) => {
      const subnet = `198.51.${++network}`
      return Array.fromAsync({ length: 31 }, async (_, nth) => {
        const from = { 'x-forwarded-for': `${subnet}.${Math.floor(nth / 6)}` }
        const { body } = await fixture.call(
          'ConfirmSignUp',
          { ClientId: publicClient, Username, ConfirmationCode: 'no code' },
          from,
        )
        return body['__type'] as string
      })
    })
    asOne(answers)
    expect((answers[0] as string[]).slice(24)).toEqual([
      ...Array.from({ length: 5 }, () => 'CodeMismatchException'),
      'LimitExceededException',
      'CodeMismatchException',
    ])
  })

  it('is prevented by equal responses in pools that verify phone numbers', async () => {
    const attributes: ('phone_number' | 'email')[] = ['phone_number']
    const { clientId: ClientId } = await fixture.pool({
      AliasAttributes: attributes,
      AutoVerifiedAttributes: attributes,
    })
    const call = (operation: string, Username: string, more: object = {}) =>
      fixture.call(operation, { ClientId, Username, ...more })
    const [confirmed, unknown] = ['+16505550131', '+16505550132'] as const
    const { username } = await fixture.signUp(ClientId, { phone_number: confirmed })
    const code = { ConfirmationCode: await fixture.codeFor(confirmed) }
    expect((await call('ConfirmSignUp', username, code)).status).toBe(200)
    const answers = []
    for (const phone of [confirmed, unknown]) {
      const confirm = async () => (await call('ConfirmSignUp', phone, { ConfirmationCode: 'no code' })).body['__type']
      const reset = { ConfirmationCode: 'no code', Password: other }
      const last = phone.slice(-4)
      answers.push(
        JSON.parse(
          JSON.stringify([
            await Array.fromAsync({ length: 6 }, confirm),
            await call('ResendConfirmationCode', phone),
            await confirm(),
            await call('ConfirmForgotPassword', phone, reset),
            await call('ForgotPassword', phone),
            await call('ConfirmForgotPassword', phone, reset),
          ]).replaceAll(last, '0000'),
        ),
      )
    }
    asOne(answers)
  })

  it('is prevented because the canonical username from SRP works like the email', async () => {
    const answers = []
    for (const email of [(await fixture.member()).email, unknownEmail()]) {
      const [byAddress, upper] = [await srpOf(email), await srpOf(email.toUpperCase())]
      const { USERNAME: name = '' } = byAddress
      const byName = await srpOf(name)
      const shouted = await srpOf(name.toUpperCase())
      const { body: forgotten } = await fixture.call('ForgotPassword', { ClientId: publicClient, Username: name })
      const { body: taken } = await fixture.call('SignUp', {
        ClientId: publicClient,
        Username: name,
        Password: password,
        UserAttributes: [{ Name: 'email', Value: unknownEmail() }],
      })
      for (let failures = 0; failures < 6; failures++) await at.byPassword(email, {}, other)
      const { body: waiting } = await at.byPassword(name, {}, other)
      for (let asking = 0; asking < 9; asking++)
        await fixture.call('ForgotPassword', { ClientId: publicClient, Username: email })
      const { body: asked } = await fixture.call('ForgotPassword', { ClientId: publicClient, Username: name })
      answers.push({
        name: name.replaceAll(/[\da-f]/g, 'x'),
        salts: [upper.SALT === byAddress.SALT, byName.SALT === byAddress.SALT, shouted.SALT === byAddress.SALT],
        names: [upper.USERNAME === name, byName.USERNAME === name],
        forgotten,
        taken,
        waiting,
        asked,
      })
    }
    asOne(answers)
    expect(answers[0]).toMatchObject({
      salts: [true, true, false],
      names: [true, true],
      forgotten: { CodeDeliveryDetails: { Destination: 'u***@e***' } },
      taken: { __type: 'UsernameExistsException' },
      waiting: { message: 'Password attempts exceeded' },
      asked: { __type: 'LimitExceededException' },
    })
  })

  it('is prevented by remembering disclosed placeholder usernames, but not those of mere password guesses', async () => {
    const { db, clock } = fixture.service.context
    const namesOf = (address: string) => db.$count(simulatedNames, eq(simulatedNames.address, address))
    const [guessed, disclosed] = [unknownEmail(), unknownEmail()]
    for (let failures = 0; failures < 5; failures++) await at.byPassword(guessed)
    expect(await namesOf(guessed)).toBe(0)
    const { USERNAME: first = '' } = await srpOf(disclosed)
    expect(await namesOf(disclosed)).toBe(1)
    const kept = [first]
    for (let week = 0; week < 6; week++) {
      clock.advance({ hours: 24 * 7 })
      await fixture.sweep()
      kept.push((await srpOf(disclosed)).USERNAME ?? '')
    }
    expect(new Set(kept)).toEqual(new Set([first]))
    clock.advance({ hours: 24 * 31 })
    await fixture.sweep()
    expect(await namesOf(disclosed)).toBe(0)
    clock.set(Temporal.Now.instant())
  })

  it('is prevented by equal responses to somebody who signed up with the same email', async () => {
    const answers = []
    for (const email of [(await fixture.member()).email, (await fixture.signUp()).email, unknownEmail()]) {
      const Username = `as-well-${++asked}`
      const UserAttributes = [{ Name: 'email', Value: email }]
      await fixture.call('SignUp', { ClientId: publicClient, Username, Password: other, UserAttributes })
      const confirm = async (name: string) => {
        const { body } = await fixture.call('ConfirmSignUp', {
          ClientId: publicClient,
          Username: name,
          ConfirmationCode: 'no code',
        })
        return body['__type'] as string
      }
      const reset = async (name: string) => {
        const { body } = await fixture.call('ConfirmForgotPassword', {
          ClientId: publicClient,
          Username: name,
          ConfirmationCode: 'no code',
          Password: password,
        })
        return body['__type'] as string
      }
      const ask = (operation: string, name: string) =>
        fixture.call(operation, { ClientId: publicClient, Username: name })
      answers.push([
        (await srpOf(email)).USERNAME === Username,
        (await at.bySrp(email, other)).body,
        (await at.byPassword(email, {}, other)).body,
        await Array.fromAsync({ length: 5 }, () => confirm(Username)),
        await confirm(email),
        (await ask('ResendConfirmationCode', email)).status,
        await confirm(email),
        (await ask('ForgotPassword', Username)).status,
        await Array.fromAsync({ length: 6 }, () => reset(Username)),
        await reset(email),
        (await ask('ForgotPassword', email)).status,
        await Array.fromAsync({ length: 6 }, () => reset(email)),
        await Array.fromAsync({ length: 10 }, async () => (await ask('ForgotPassword', Username)).status),
        (await ask('ForgotPassword', email)).status,
      ])
    }
    asOne(answers)
    expect(answers.map(([isMine, bySrp, byPassword]) => ({ isMine, bySrp, byPassword }))).toEqual(
      Array.from({ length: 3 }, () => ({
        isMine: false,
        bySrp: { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' },
        byPassword: { __type: 'UserNotConfirmedException', message: 'User is not confirmed.' },
      })),
    )
  })

  it('is prevented by equal responses before and after a sign-up, its confirmation and a password reset', async () => {
    const email = unknownEmail()
    const mine = `before-${++asked}`
    const newer = `${mine}-newer`
    const signUp = (Username: string, Password: string) =>
      fixture.call('SignUp', {
        ClientId: publicClient,
        Username,
        Password,
        UserAttributes: [{ Name: 'email', Value: email }],
      })
    for (const name of [mine, newer]) await signUp(name, `${other}${name}`)
    // From a new address each time, so that the responses do not depend on the requester's limits.
    let turn = 0
    const look = async () => {
      const from = { 'x-forwarded-for': `203.0.113.${++turn}` }
      const ask = async (operation: string, more: object) => {
        const { status, body } = await fixture.call(operation, { ClientId: publicClient, ...more }, from)
        return [status, body['__type'] ?? body['CodeDeliveryDetails']]
      }
      const wrong = { ConfirmationCode: 'no code' }
      const looks: unknown[] = []
      for (const Username of [email, mine]) {
        looks.push(await ask('ConfirmForgotPassword', { Username, ...wrong, Password: other }))
        looks.push(await ask('ForgotPassword', { Username }))
        looks.push(await ask('ConfirmForgotPassword', { Username, ...wrong, Password: other }))
        for (let tries = 0; tries < 6; tries++) looks.push(await ask('ConfirmSignUp', { Username, ...wrong }))
        looks.push(await ask('ResendConfirmationCode', { Username }))
        looks.push(await ask('ConfirmSignUp', { Username, ...wrong }))
      }
      for (const name of [mine, newer]) {
        const parameters = { USERNAME: email, PASSWORD: `${other}${name}` }
        looks.push(await ask('InitiateAuth', { AuthFlow: 'USER_PASSWORD_AUTH', AuthParameters: parameters }))
      }
      return JSON.stringify(looks)
    }
    const looks = [await look()]
    const codes = async (after: number) => fixture.codeFor(email, after)
    await signUp('victim', password)
    looks.push(await look())
    const sent = fixture.codesFor(email)
    await fixture.call('ResendConfirmationCode', { ClientId: publicClient, Username: 'victim' })
    const ConfirmationCode = await codes(sent)
    looks.push(await look())
    const confirmed = await fixture.call('ConfirmSignUp', {
      ClientId: publicClient,
      Username: 'victim',
      ConfirmationCode,
    })
    expect(confirmed.status).toBe(200)
    looks.push(await look())
    const before = fixture.codesFor(email)
    await fixture.call('ForgotPassword', { ClientId: publicClient, Username: email })
    const reset = await codes(before)
    looks.push(await look())
    const done = await fixture.call('ConfirmForgotPassword', {
      ClientId: publicClient,
      Username: email,
      ConfirmationCode: reset,
      Password: other,
    })
    expect(done.status).toBe(200)
    looks.push(await look())
    asOne(looks)
  })

  it('is prevented by first factors that unknown usernames are offered as well', async () => {
    const { client, db } = { client: publicClient, db: fixture.service.context.db }
    const ways = async (USERNAME: string) => {
      const { body } = await at.begin('USER_AUTH', { USERNAME })
      return (body['AvailableChallenges'] as string[]).join()
    }
    const ofUnknown = new Set<string>()
    for (let one = 0; one < 60; one++) ofUnknown.add(await ways(unknownEmail()))
    const changes: Partial<typeof users.$inferInsert>[] = [
      {},
      { mfa: ['EMAIL_OTP'] },
      { mfa: ['EMAIL_OTP'], resetBy: 'EMAIL' },
      { mfa: ['SMS_MFA'] },
      { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'] },
      { passwordHash: null, sealedSrpVerifier: null },
    ]
    for (const change of changes) {
      const { email, userId } = await fixture.member(client)
      if (Object.keys(change).length > 0) await at.change(userId, change)
      expect(ofUnknown).toContain(await ways(email))
    }
    // Passkey options disclose neither the number nor the model of passkeys.
    const challengesOf = async (USERNAME: string) => {
      const { body } = await at.begin('USER_AUTH', { USERNAME, PREFERRED_CHALLENGE: 'WEB_AUTHN' })
      if (body['ChallengeName'] !== 'WEB_AUTHN') return undefined
      const options = JSON.parse(body['ChallengeParameters'].CREDENTIAL_REQUEST_OPTIONS) as Record<string, unknown>
      return JSON.stringify({ ...options, challenge: String(options['challenge']).length })
    }
    const { email, userId } = await fixture.member(client)
    const key = {
      userId,
      name: 'Passkey',
      relyingPartyId: 'localhost',
      publicKey: '',
      counter: 0,
      transports: ['usb'],
      createdAt: fixture.service.context.clock.now(),
    }
    await db
      .insert(passkeys)
      .values([16, 64].map((bytes) => ({ ...key, id: randomBytes(bytes).toString('base64url') })))
    const own = await challengesOf(email)
    expect(own).toBeTypeOf('string')
    const others = new Set<string | undefined>()
    for (let one = 0; one < 60; one++) others.add(await challengesOf(unknownEmail()))
    expect(others).toEqual(new Set([undefined, own]))
  })

  it('is prevented by equal errors after too many code requests', async () => {
    const [confirmed, unknown] = [(await fixture.member()).email, unknownEmail()]
    const answers = []
    for (const Username of [confirmed, unknown]) {
      const ask = async () => (await fixture.call('ForgotPassword', { ClientId: publicClient, Username })).status
      answers.push((await Array.fromAsync({ length: 12 }, ask)).at(-1))
    }
    expect(answers).toEqual([400, 400])
  })

  it('is prevented by a stable and plausible code destination, also for usernames', async () => {
    const ask = async (Username: string) => {
      const { body } = await fixture.call('ForgotPassword', { ClientId: publicClient, Username })
      return body['CodeDeliveryDetails'] as Record<string, string>
    }
    const first = await ask('user_somebody')
    expect(first).toMatchObject({ DeliveryMedium: 'EMAIL', AttributeName: 'email' })
    expect(first['Destination']).toMatch(/^[a-z]\*\*\*@[a-z]\*\*\*$/)
    expect(await ask('user_somebody')).toEqual(first)
    expect((await ask('Zoe@Yonder.example'))['Destination']).toBe('z***@y***')
  })

  it('is prevented by equal response times', async () => {
    // On a busy machine, a single response can take some hundreds of ms.
    const step = 1_000
    const slow = await fixture.bed.start(identity, {
      ...settings,
      DATABASE_URL: fixture.service.databaseUrl,
      EVEN_ANSWER_MS: String(step),
    })
    const timeOf = async (operation: string, more: { Username: string }) => {
      const begun = performance.now()
      await fetch(slow.url, {
        method: 'POST',
        headers: { 'x-amz-target': `AWSCognitoIdentityProviderService.${operation}` },
        body: JSON.stringify({ ClientId: publicClient, AuthParameters: { USERNAME: more.Username }, ...more }),
      })
      return performance.now() - begun
    }
    const median = (times: number[]) => times.toSorted((one, next) => one - next)[1] ?? 0
    const [known, unknown] = [(await fixture.member()).email, unknownEmail()]
    for (const [operation, more] of [
      ['ForgotPassword', {}],
      ['ResendConfirmationCode', {}],
      ['ConfirmSignUp', { ConfirmationCode: 'no code' }],
      ['ConfirmForgotPassword', { ConfirmationCode: 'no code', Password: password }],
      ['InitiateAuth', { AuthFlow: 'USER_AUTH' }],
    ] as const) {
      const times: [number[], number[]] = [[], []]
      for (let round = 0; round < 3; round++) {
        const both = [known, unknown].map((Username) => timeOf(operation, { Username, ...more }))
        const [one, another] = await Promise.all(both)
        times[0].push(one ?? 0)
        times[1].push(another ?? 0)
      }
      const [one, another] = times.map(median)
      expect(Math.abs((one ?? 0) - (another ?? 0))).toBeLessThan(step / 2)
      expect(Math.min(one ?? 0, another ?? 0)).toBeGreaterThan(step - 5)
    }
    await slow.stop()
  })
})
