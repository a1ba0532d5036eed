import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { passkeys } from '../../src/schema.ts'
import { makeAuthenticator } from '../authenticator.ts'
import { startIdentity, type IdentityFixture } from '../fixture.ts'
import { signInClient, type Answer } from '../sign-in-client.ts'

const site = 'http://localhost:3000'
let fixture: IdentityFixture
let at: ReturnType<typeof signInClient>
beforeAll(async () => {
  fixture = await startIdentity({ SITE_URL: site })
  at = signInClient(fixture)
})
afterAll(() => fixture.stop())

async function withPasskey(counter = 0) {
  const person = await fixture.member()
  const authenticator = makeAuthenticator()
  await fixture.service.context.db.insert(passkeys).values({
    id: authenticator.id,
    userId: person.userId,
    name: 'Phone',
    relyingPartyId: 'localhost',
    publicKey: authenticator.publicKey,
    counter,
    transports: ['internal'],
    createdAt: fixture.service.context.clock.now(),
  })
  const begin = () => at.begin('USER_AUTH', { USERNAME: person.username, PREFERRED_CHALLENGE: 'WEB_AUTHN' })
  const answer = (challenged: Answer, CREDENTIAL: string) =>
    at.answer('WEB_AUTHN', challenged, { USERNAME: person.username, CREDENTIAL })
  return { ...person, authenticator, begin, answer }
}

const optionsOf = ({ body }: Answer) => JSON.parse(body['ChallengeParameters'].CREDENTIAL_REQUEST_OPTIONS)

describe('WEB_AUTHN', () => {
  it('signs in with an offered passkey', async () => {
    const { begin, answer, authenticator, username } = await withPasskey()
    const select = await at.begin('USER_AUTH', { USERNAME: username })
    expect(select.body['AvailableChallenges']).toContain('WEB_AUTHN')
    const challenged = await begin()
    const options = optionsOf(challenged)
    // An account's passkeys are not disclosed before the sign-in.
    expect(options).toMatchObject({ rpId: 'localhost' })
    expect(JSON.stringify(challenged.body)).not.toContain(authenticator.id)
    const credential = authenticator.answer(options, site)
    expect((await answer(challenged, credential)).status).toBe(200)
    expect((await answer(challenged, credential)).body['message']).toBe(
      'Invalid session for the user, session is expired.',
    )
    // A signature for one sign-in is not valid for another.
    expect((await answer(await begin(), credential)).body['__type']).toBe('WebAuthnChallengeNotFoundException')
  })

  it.each([
    ['another origin', 'https://robokids.evil.example', {}, 'WebAuthnOriginNotAllowedException'],
    ['another relying party', site, { rpId: 'evil.example' }, 'WebAuthnRelyingPartyMismatchException'],
    ['another challenge', site, { challenge: 'AAAA' }, 'WebAuthnChallengeNotFoundException'],
    ['a counter that went back', site, { counter: 3 }, 'NotAuthorizedException'],
    ['a registration', site, { type: 'webauthn.create' }, 'NotAuthorizedException'],
  ])('rejects %s, and the challenge is used up', async (_, origin, tamper, name) => {
    const { begin, answer, authenticator } = await withPasskey(7)
    const challenged = await begin()
    expect((await answer(challenged, authenticator.answer(optionsOf(challenged), origin, tamper))).body['__type']).toBe(
      name,
    )
    const late = await answer(challenged, authenticator.answer(optionsOf(challenged), site, { counter: 9 }))
    expect(late.body['message']).toBe('Invalid session for the user, session is expired.')
    const again = await begin()
    expect((await answer(again, authenticator.answer(optionsOf(again), site, { counter: 4_000_000_000 }))).status).toBe(
      200,
    )
  })

  it("rejects another user's passkey, another key and invalid input", async () => {
    const [maren, bo] = [await withPasskey(), await withPasskey()]
    const wrong = { status: 400, body: { message: 'Incorrect username or password.' } }
    const first = await maren.begin()
    expect(await maren.answer(first, bo.authenticator.answer(optionsOf(first), site))).toMatchObject(wrong)
    const second = await maren.begin()
    const forged = bo.authenticator.answer(optionsOf(second), site, { id: maren.authenticator.id })
    expect(await maren.answer(second, forged)).toMatchObject(wrong)
    const third = await maren.begin()
    for (const text of [
      '{}',
      'null',
      '[',
      '{"id":"a","rawId":"a","type":"public-key","response":{"clientDataJSON":"AA","authenticatorData":"AA","signature":"AA"}}',
    ]) {
      expect((await maren.answer(third, text)).body['__type']).toBe('InvalidParameterException')
    }
  })

  it('requires a second factor only if the authenticator did not verify the user', async () => {
    const { begin, answer, authenticator, userId } = await withPasskey()
    await at.withAuthenticator(userId)
    const sure = await begin()
    expect((await answer(sure, authenticator.answer(optionsOf(sure), site))).status).toBe(200)
    const unsure = await begin()
    const second = await answer(unsure, authenticator.answer(optionsOf(unsure), site, { verified: false }))
    expect(second.body['ChallengeName']).toBe('SOFTWARE_TOKEN_MFA')
  })
})
