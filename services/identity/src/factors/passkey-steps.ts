import type { Database, Transaction } from '@robokids/runtime/db'
import { generateAuthenticationOptions, verifyAuthenticationResponse } from '@simplewebauthn/server'
import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { IdentityError, invalid, wrongPassword } from '../protocol/errors.ts'
import type { Call } from '../protocol/protocol.ts'
import { passkeys, type User } from '../schema.ts'
import { issueChallenge, type AuthAnswer, type OpenStep, type SignInProgress } from '../sign-in/sign-in-steps.ts'
import {
  challengeNotFound,
  isAllowedOrigin,
  isForRelyingParty,
  originNotAllowed,
  readClientData,
  relyingPartyMismatch,
  webAuthnOf,
} from './web-authn.ts'

const challengeSchema = z.object({ challenge: z.string() })

const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]+$/)
const responseSchema = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional().catch(undefined),
  clientExtensionResults: z.record(z.string(), z.unknown()).default({}),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
})

const ownPasskeys = (user: User, relyingPartyId: string) =>
  and(eq(passkeys.userId, user.id), eq(passkeys.relyingPartyId, relyingPartyId))

/** Whether the account has a passkey for the site. */
export async function hasPasskeys(
  tx: Transaction | Database,
  user: User | undefined,
  relyingPartyId: string,
): Promise<boolean> {
  if (!user) return false
  return (await tx.$count(passkeys, ownPasskeys(user, relyingPartyId))) > 0
}

/**
 * Issues a passkey challenge. It lists no credentials: their number and length would reveal whether an account exists.
 * Passkeys are registered as discoverable (`residentKey`), so none is needed.
 */
export async function issuePasskeyChallenge(
  tx: Transaction,
  progress: SignInProgress,
  call: Call,
): Promise<AuthAnswer> {
  const { client, state } = progress
  const { config } = call.context
  const { relyingPartyId, userVerification } = webAuthnOf(client.pool)
  const options = await generateAuthenticationOptions({
    rpID: relyingPartyId,
    userVerification,
    timeout: config.SIGN_IN_STEP_SECONDS * 1000,
  })
  return issueChallenge(
    tx,
    { ...progress, state: { ...state, step: { challenge: options.challenge } } },
    'WEB_AUTHN',
    { CREDENTIAL_REQUEST_OPTIONS: JSON.stringify(options) },
    call,
  )
}

type Response = z.infer<typeof responseSchema>

/** @throws IdentityError InvalidParameterException */
export function readCredential(text: string): Response {
  try {
    return responseSchema.parse(JSON.parse(text))
  } catch {
    throw invalid('CREDENTIAL is not a passkey response.')
  }
}

/**
 * Verifies a passkey's signature for the step's account, site and challenge; stores the authenticator's counter.
 * @returns whether the authenticator verified the person, or an error
 */
export async function verifyPasskey(
  tx: Transaction,
  step: OpenStep,
  given: Response,
): Promise<{ personVerified: boolean } | IdentityError> {
  const settings = webAuthnOf(step.client.pool)
  const { relyingPartyId, userVerification } = settings
  const { challenge } = challengeSchema.parse(step.state.step)
  const { clientDataJSON, authenticatorData } = given.response
  const clientData = readClientData(clientDataJSON)
  if (clientData instanceof IdentityError) return clientData
  if (clientData.challenge !== challenge) return challengeNotFound()
  if (!isAllowedOrigin(settings, clientData.origin)) return originNotAllowed()
  if (!isForRelyingParty(settings, Buffer.from(authenticatorData, 'base64url'))) return relyingPartyMismatch()
  const { user } = step
  const [passkey] = user
    ? await tx
        .select()
        .from(passkeys)
        .where(and(eq(passkeys.id, given.id), ownPasskeys(user, relyingPartyId)))
        .for('update')
    : []
  if (!passkey) return wrongPassword()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...given,
        response: {
          clientDataJSON,
          authenticatorData,
          signature: given.response.signature,
          ...(given.response.userHandle ? { userHandle: given.response.userHandle } : {}),
        },
      } as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: clientData.origin,
      expectedRPID: relyingPartyId,
      requireUserVerification: userVerification === 'required',
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
    })
    if (!verified) return wrongPassword()
    await tx.update(passkeys).set({ counter: authenticationInfo.newCounter }).where(eq(passkeys.id, passkey.id))
    return { personVerified: authenticationInfo.userVerified }
  } catch {
    // The library rejects a counter that went back, a missing user presence or verification, and an invalid key.
    return wrongPassword()
  }
}
