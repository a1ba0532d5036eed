import { createHash } from 'node:crypto'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject, isoBase64URL, parseAuthenticatorData } from '@simplewebauthn/server/helpers'
import { z } from 'zod'
import { IdentityError, invalid } from '../protocol/errors.ts'
import type { PoolSettings } from '../pools/pool-settings.ts'
import type { Pool } from '../pools/pools.ts'
import type { passkeys } from '../schema.ts'

export type WebAuthn = NonNullable<PoolSettings['webAuthn']>

/** @throws IdentityError if the pool does not allow passkeys */
export function webAuthnOf({ settings }: Pool): WebAuthn {
  if (!settings.firstFactors.includes('WEB_AUTHN')) {
    throw new IdentityError('WebAuthnNotEnabledException', 'Passkeys are not enabled for this user pool.')
  }
  if (settings.webAuthn === null) {
    throw new IdentityError('WebAuthnConfigurationMissingException', 'The user pool has no relying party for passkeys.')
  }
  return settings.webAuthn
}

/**
 * Whether passkeys of a relying party may be used at an origin: a listed one, or, with no list, any that browsers
 * accept for it.
 */
export function isAllowedOrigin({ relyingPartyId, origins }: WebAuthn, origin: string): boolean {
  if (origins.length > 0) return origins.includes(origin)
  if (!URL.canParse(origin)) return false
  const { protocol, hostname, origin: normal } = new URL(origin)
  if (normal !== origin) return false
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) return false
  return hostname === relyingPartyId || hostname.endsWith(`.${relyingPartyId}`)
}

export const challengeNotFound = () =>
  new IdentityError('WebAuthnChallengeNotFoundException', 'The passkey request has expired. Please try again.')
export const originNotAllowed = () =>
  new IdentityError('WebAuthnOriginNotAllowedException', 'Passkeys may not be used at this address.')
export const relyingPartyMismatch = () =>
  new IdentityError('WebAuthnRelyingPartyMismatchException', 'The passkey is for another site.')
const notSupported = () =>
  new IdentityError('WebAuthnCredentialNotSupportedException', 'This passkey cannot be used here.')

const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]+$/)

/** The fields of WebAuthn's `RegistrationResponseJSON` that are used. */
export const newPasskeySchema = z.object({
  id: base64url.max(1400),
  rawId: base64url.max(1400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional().catch(undefined),
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(32)).max(10).optional().catch(undefined),
  }),
})

const clientDataSchema = z.object({ type: z.string(), challenge: z.string(), origin: z.string() })

/** Parses the client data that the authenticator signed. @returns an error if it is malformed */
export function readClientData(encoded: string): z.infer<typeof clientDataSchema> | IdentityError {
  try {
    return clientDataSchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()))
  } catch {
    return invalid('The credential is not a passkey response.')
  }
}

/** Whether the authenticator data is for this relying party. */
export function isForRelyingParty({ relyingPartyId }: WebAuthn, authenticatorData: Uint8Array): boolean {
  const expected = createHash('sha256').update(relyingPartyId).digest()
  return expected.equals(authenticatorData.subarray(0, 32))
}

type NewPasskey = Pick<typeof passkeys.$inferInsert, 'id' | 'publicKey' | 'counter' | 'transports' | 'attachment'>

/** Verifies a new passkey for this challenge and site. @returns the columns to store, or an error */
export async function verifyNewPasskey(
  given: z.infer<typeof newPasskeySchema>,
  challenge: string,
  settings: WebAuthn,
): Promise<NewPasskey | IdentityError> {
  const { clientDataJSON, attestationObject, transports = [] } = given.response
  const clientData = readClientData(clientDataJSON)
  if (clientData instanceof IdentityError) return clientData
  if (clientData.challenge !== challenge) return challengeNotFound()
  if (!isAllowedOrigin(settings, clientData.origin)) return originNotAllowed()
  try {
    const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData')
    parseAuthenticatorData(authData)
    if (!isForRelyingParty(settings, authData)) return relyingPartyMismatch()
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: given.id,
        rawId: given.rawId,
        type: given.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: clientData.origin,
      expectedRPID: settings.relyingPartyId,
      requireUserVerification: settings.userVerification === 'required',
    })
    if (!verified || registrationInfo.credential.id !== given.id) return notSupported()
    const { credential } = registrationInfo
    return {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports,
      attachment: given.authenticatorAttachment ?? null,
    }
  } catch {
    // The library rejects other types, algorithms and attestations, a missing user presence or verification, and an
    // invalid key.
    return notSupported()
  }
}
