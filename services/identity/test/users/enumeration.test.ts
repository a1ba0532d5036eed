import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import { identity } from '../../src/app.ts'
import { cleanUp } from '../../src/users/clean-up.ts'
import { passkeys, simulatedNames, type users } from '../../src/schema.ts'
import { openFrontDesk, password, publicClient, settings, type FrontDesk } from '../front-desk.ts'
import { signInsAt } from '../sign-ins.ts'
import { startSrp } from '../srp-client.ts'

let desk: FrontDesk
let at: ReturnType<typeof signInsAt>
beforeAll(async () => {
  // What a day's tries come to is in strangers.test.ts.
  desk = await openFrontDesk({ EVEN_ANSWER_MS: '5', TRUST_PROXY: 'loopback', CODE_TRIES_A_DAY: '1000' })
  at = signInsAt(desk)
})
afterAll(() => desk.stop())

const other = 'Another-2031?'
let asked = 0
/** An address that looks like those of people who are there. */
const nobody = () => `user_nobody-${++asked}@example.com`

async function kindsOfPeople() {
  const confirmed = await desk.member()
  const unconfirmed = await desk.signUp()
  return { confirmed: confirmed.email, unconfirmed: unconfirmed.email, unknown: nobody() }
}

async function answersTo(ask: (name: string) => Promise<unknown>) {
  const people = await kindsOfPeople()
  const answers: unknown[] = []
  for (const name of Object.values(people)) answers.push(await ask(name))
  return answers
}
/** What an SRP sign-in tells of a name. */
async function srpOf(USERNAME: string): Promise<{ USERNAME?: string; SALT?: string }> {
  const { body } = await at.begin('USER_SRP_AUTH', { USERNAME, SRP_A: startSrp().A })
  return body['ChallengeParameters']
}
const asOne = (answers: unknown[]) => expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)

describe('whoever has an account and who has not', () => {
  it('is answered alike by ForgotPassword and ResendConfirmationCode', async () => {
    for (const operation of ['ForgotPassword', 'ResendConfirmationCode']) {
      const answers = await answersTo((Username) => desk.call(operation, { ClientId: publicClient, Username }))
      asOne(answers)
      expect(answers[0]).toEqual({
        status: 200,
        body: {
          CodeDeliveryDetails: { Destination: 'u***@e***', DeliveryMedium: 'EMAIL', AttributeName: 'email' },
        },
      })
    }
  })

  it('is answered alike by ConfirmSignUp, until and after the tries are used up', async () => {
    const tries = (Username: string) =>
      Array.fromAsync({ length: 7 }, async () => {
        const { body } = await desk.call('ConfirmSignUp', {
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
    // Of a confirmed account the code is used: its tries are not counted with it, but like those of a name of nobody.
    asOne(answers)
  })

  it('is answered alike by ConfirmForgotPassword, before and after a code was asked for', async () => {
    const answers = await answersTo(async (Username) => {
      const attempt = async () => {
        const { body } = await desk.call('ConfirmForgotPassword', {
          ClientId: publicClient,
          Username,
          ConfirmationCode: 'no code',
          Password: other,
        })
        return body['__type'] as string
      }
      const before = await attempt()
      await desk.call('ForgotPassword', { ClientId: publicClient, Username })
      const after = await Array.fromAsync({ length: 6 }, attempt)
      await desk.call('ForgotPassword', { ClientId: publicClient, Username })
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

  it('is answered by ConfirmSignUp by what one did oneself, however many tries others used up', async () => {
    let network = 0
    const answers = await answersTo(async (Username) => {
      const subnet = `198.51.${++network}`
      return Array.fromAsync({ length: 31 }, async (_, nth) => {
        const from = { 'x-forwarded-for': `${subnet}.${Math.floor(nth / 6)}` }
        const { body } = await desk.call(
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

  it('is answered alike where phone numbers are what is verified', async () => {
    const attributes: ('phone_number' | 'email')[] = ['phone_number']
    const { clientId: ClientId } = await desk.pool({ AliasAttributes: attributes, AutoVerifiedAttributes: attributes })
    const call = (operation: string, Username: string, more: object = {}) =>
      desk.call(operation, { ClientId, Username, ...more })
    const [confirmed, unknown] = ['+16505550131', '+16505550132'] as const
    const { username } = await desk.signUp(ClientId, { phone_number: confirmed })
    const code = { ConfirmationCode: await desk.codeFor(confirmed) }
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

  it('is found by the canonical name that SRP tells of an address as by the address', async () => {
    const answers = []
    for (const email of [(await desk.member()).email, nobody()]) {
      const [byAddress, upper] = [await srpOf(email), await srpOf(email.toUpperCase())]
      const { USERNAME: name = '' } = byAddress
      const byName = await srpOf(name)
      const shouted = await srpOf(name.toUpperCase())
      const { body: forgotten } = await desk.call('ForgotPassword', { ClientId: publicClient, Username: name })
      const { body: taken } = await desk.call('SignUp', {
        ClientId: publicClient,
        Username: name,
        Password: password,
        UserAttributes: [{ Name: 'email', Value: nobody() }],
      })
      for (let failures = 0; failures < 6; failures++) await at.byPassword(email, {}, other)
      const { body: waiting } = await at.byPassword(name, {}, other)
      for (let asking = 0; asking < 9; asking++)
        await desk.call('ForgotPassword', { ClientId: publicClient, Username: email })
      const { body: asked } = await desk.call('ForgotPassword', { ClientId: publicClient, Username: name })
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

  it('has a name remembered that was told, for as long as it is told, and none of whoever only guesses at passwords', async () => {
    const { db, clock } = desk.service.context
    const namesOf = (address: string) => db.$count(simulatedNames, eq(simulatedNames.address, address))
    const [guessed, told] = [nobody(), nobody()]
    for (let failures = 0; failures < 5; failures++) await at.byPassword(guessed)
    expect(await namesOf(guessed)).toBe(0)
    const { USERNAME: first = '' } = await srpOf(told)
    expect(await namesOf(told)).toBe(1)
    const kept = [first]
    for (let week = 0; week < 6; week++) {
      clock.advance({ hours: 24 * 7 })
      await cleanUp.run(desk.service.context, AbortSignal.any([]))
      kept.push((await srpOf(told)).USERNAME ?? '')
    }
    expect(new Set(kept)).toEqual(new Set([first]))
    clock.advance({ hours: 24 * 31 })
    await cleanUp.run(desk.service.context, AbortSignal.any([]))
    expect(await namesOf(told)).toBe(0)
    clock.set(Temporal.Now.instant())
  })

  it('is answered alike to who signed up with the address as well', async () => {
    const answers = []
    for (const email of [(await desk.member()).email, (await desk.signUp()).email, nobody()]) {
      const Username = `as-well-${++asked}`
      const UserAttributes = [{ Name: 'email', Value: email }]
      await desk.call('SignUp', { ClientId: publicClient, Username, Password: other, UserAttributes })
      const confirm = async (name: string) => {
        const { body } = await desk.call('ConfirmSignUp', {
          ClientId: publicClient,
          Username: name,
          ConfirmationCode: 'no code',
        })
        return body['__type'] as string
      }
      const reset = async (name: string) => {
        const { body } = await desk.call('ConfirmForgotPassword', {
          ClientId: publicClient,
          Username: name,
          ConfirmationCode: 'no code',
          Password: password,
        })
        return body['__type'] as string
      }
      const ask = (operation: string, name: string) => desk.call(operation, { ClientId: publicClient, Username: name })
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

  it('is answered the same before and after somebody signs up with the address, confirms it and resets its password', async () => {
    const email = nobody()
    const mine = `before-${++asked}`
    const newer = `${mine}-newer`
    const signUp = (Username: string, Password: string) =>
      desk.call('SignUp', {
        ClientId: publicClient,
        Username,
        Password,
        UserAttributes: [{ Name: 'email', Value: email }],
      })
    for (const name of [mine, newer]) await signUp(name, `${other}${name}`)
    // From an address of one's own each time: what is told is about what others did, not about how often one asked.
    let turn = 0
    const look = async () => {
      const from = { 'x-forwarded-for': `203.0.113.${++turn}` }
      const ask = async (operation: string, more: object) => {
        const { status, body } = await desk.call(operation, { ClientId: publicClient, ...more }, from)
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
    const codes = async (after: number) => desk.codeFor(email, after)
    await signUp('victim', password)
    looks.push(await look())
    const sent = desk.codesFor(email)
    await desk.call('ResendConfirmationCode', { ClientId: publicClient, Username: 'victim' })
    const ConfirmationCode = await codes(sent)
    looks.push(await look())
    const confirmed = await desk.call('ConfirmSignUp', { ClientId: publicClient, Username: 'victim', ConfirmationCode })
    expect(confirmed.status).toBe(200)
    looks.push(await look())
    const before = desk.codesFor(email)
    await desk.call('ForgotPassword', { ClientId: publicClient, Username: email })
    const reset = await codes(before)
    looks.push(await look())
    const done = await desk.call('ConfirmForgotPassword', {
      ClientId: publicClient,
      Username: email,
      ConfirmationCode: reset,
      Password: other,
    })
    expect(done.status).toBe(200)
    looks.push(await look())
    asOne(looks)
  })

  it('is offered ways to begin a sign-in that people without an account are offered as well, however it is set up', async () => {
    const { client, db } = { client: publicClient, db: desk.service.context.db }
    const ways = async (USERNAME: string) => {
      const { body } = await at.begin('USER_AUTH', { USERNAME })
      return (body['AvailableChallenges'] as string[]).join()
    }
    const ofNobody = new Set<string>()
    for (let one = 0; one < 60; one++) ofNobody.add(await ways(nobody()))
    const changes: Partial<typeof users.$inferInsert>[] = [
      {},
      { mfa: ['EMAIL_OTP'] },
      { mfa: ['EMAIL_OTP'], resetBy: 'EMAIL' },
      { mfa: ['SMS_MFA'] },
      { mfa: ['SOFTWARE_TOKEN_MFA', 'EMAIL_OTP'] },
      { passwordHash: null, sealedSrpVerifier: null },
    ]
    for (const change of changes) {
      const { email, userId } = await desk.member(client)
      if (Object.keys(change).length > 0) await at.change(userId, change)
      expect(ofNobody).toContain(await ways(email))
    }
    // Nor does what is asked of a passkey tell how many there are, or of which make.
    const asks = async (USERNAME: string) => {
      const { body } = await at.begin('USER_AUTH', { USERNAME, PREFERRED_CHALLENGE: 'WEB_AUTHN' })
      if (body['ChallengeName'] !== 'WEB_AUTHN') return undefined
      const options = JSON.parse(body['ChallengeParameters'].CREDENTIAL_REQUEST_OPTIONS) as Record<string, unknown>
      return JSON.stringify({ ...options, challenge: String(options['challenge']).length })
    }
    const { email, userId } = await desk.member(client)
    const key = {
      userId,
      name: 'Passkey',
      relyingPartyId: 'localhost',
      publicKey: '',
      counter: 0,
      transports: ['usb'],
      createdAt: desk.service.context.clock.now(),
    }
    await db
      .insert(passkeys)
      .values([16, 64].map((bytes) => ({ ...key, id: randomBytes(bytes).toString('base64url') })))
    const own = await asks(email)
    expect(own).toBeTypeOf('string')
    const others = new Set<string | undefined>()
    for (let one = 0; one < 60; one++) others.add(await asks(nobody()))
    expect(others).toEqual(new Set([undefined, own]))
  })

  it('is refused alike after asking for codes too often', async () => {
    const [confirmed, unknown] = [(await desk.member()).email, nobody()]
    const answers = []
    for (const Username of [confirmed, unknown]) {
      const ask = async () => (await desk.call('ForgotPassword', { ClientId: publicClient, Username })).status
      answers.push((await Array.fromAsync({ length: 12 }, ask)).at(-1))
    }
    expect(answers).toEqual([400, 400])
  })

  it('is told a destination that stays the same and looks like one, also by name', async () => {
    const ask = async (Username: string) => {
      const { body } = await desk.call('ForgotPassword', { ClientId: publicClient, Username })
      return body['CodeDeliveryDetails'] as Record<string, string>
    }
    const first = await ask('user_somebody')
    expect(first).toMatchObject({ DeliveryMedium: 'EMAIL', AttributeName: 'email' })
    expect(first['Destination']).toMatch(/^[a-z]\*\*\*@[a-z]\*\*\*$/)
    expect(await ask('user_somebody')).toEqual(first)
    expect((await ask('Zoe@Yonder.example'))['Destination']).toBe('z***@y***')
  })

  it('waits as long for an answer', async () => {
    // On a crowded machine an answer alone can take some hundreds.
    const step = 1_000
    const slow = await desk.bed.start(identity, {
      ...settings,
      DATABASE_URL: desk.service.databaseUrl,
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
    const [known, unknown] = [(await desk.member()).email, nobody()]
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
