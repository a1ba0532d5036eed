/** Why an authenticator failed. */
const failures: Record<string, string> = {
  NotAllowedError: 'The passkey request was canceled or took too long.',
  AbortError: 'The passkey request was aborted.',
  SecurityError: 'This passkey belongs to another site: the relying party does not match this address.',
  InvalidStateError: 'This device already has a passkey for your account.',
  NotSupportedError: 'This browser or device does not support passkeys.',
}

const notSupported = () => new Error(failures['NotSupportedError'])

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))

function textOf(bytes: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** WebAuthn options as JSON: binary values are base64url text. */
type Sent<Options, Text> = Omit<Options, keyof Text> & Text

/** Not every browser with passkeys has the standard's `parse…FromJSON`. */
const withIds = (credentials: PublicKeyCredentialDescriptorJSON[] = []) =>
  credentials.map((one) => ({ ...one, id: bytesOf(one.id) }) as PublicKeyCredentialDescriptor)

/** Nor `toJSON`; and a password manager may return an object of its own. */
function jsonOf(credential: PublicKeyCredential): Record<string, unknown> {
  if (typeof credential.toJSON === 'function') return credential.toJSON() as unknown as Record<string, unknown>
  const { id, rawId, type, authenticatorAttachment } = credential
  const response = credential.response as Partial<AuthenticatorAttestationResponse & AuthenticatorAssertionResponse>
  const { clientDataJSON, attestationObject, authenticatorData, signature, userHandle } = response
  const parts = { clientDataJSON, attestationObject, authenticatorData, signature, userHandle }
  return {
    id,
    rawId: textOf(rawId),
    type,
    ...(authenticatorAttachment ? { authenticatorAttachment } : {}),
    clientExtensionResults: credential.getClientExtensionResults(),
    response: {
      ...Object.fromEntries(Object.entries(parts).flatMap(([name, part]) => (part ? [[name, textOf(part)]] : []))),
      ...(response.getTransports ? { transports: response.getTransports() } : {}),
    },
  }
}

async function answerOf(ask: () => Promise<Credential | null>): Promise<Record<string, unknown>> {
  if (typeof PublicKeyCredential !== 'function') throw notSupported()
  let credential: Credential | null
  try {
    credential = await ask()
  } catch (error) {
    const known = error instanceof DOMException ? failures[error.name] : undefined
    throw new Error(known ?? 'The passkey could not be used.', { cause: error })
  }
  if (!credential) throw notSupported()
  return jsonOf(credential as PublicKeyCredential)
}

/** Creates a passkey on the device; returns the credential for the server. */
export function createPasskey(options: Record<string, unknown>): Promise<Record<string, unknown>> {
  return answerOf(() => {
    const { challenge, user, excludeCredentials, ...others } = options as unknown as Sent<
      PublicKeyCredentialCreationOptions,
      Pick<PublicKeyCredentialCreationOptionsJSON, 'challenge' | 'user' | 'excludeCredentials'>
    >
    const publicKey = {
      ...others,
      challenge: bytesOf(challenge),
      user: { ...user, id: bytesOf(user.id) },
      excludeCredentials: withIds(excludeCredentials),
    }
    return navigator.credentials.create({ publicKey })
  })
}

/** Signs a challenge with a passkey of the device. */
export function provePasskey(options: Record<string, unknown>): Promise<Record<string, unknown>> {
  return answerOf(() => {
    const { challenge, allowCredentials, ...others } = options as unknown as Sent<
      PublicKeyCredentialRequestOptions,
      Pick<PublicKeyCredentialRequestOptionsJSON, 'challenge' | 'allowCredentials'>
    >
    const publicKey = { ...others, challenge: bytesOf(challenge), allowCredentials: withIds(allowCredentials) }
    return navigator.credentials.get({ publicKey })
  })
}
