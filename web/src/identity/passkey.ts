/** Why an authenticator gave no answer. */
const failures: Record<string, string> = {
  NotAllowedError: 'The passkey request was cancelled, or took too long.',
  AbortError: 'The passkey request was aborted.',
  SecurityError: 'This passkey belongs to another site: the relying party does not match this address.',
  InvalidStateError: 'This device already has a passkey for your account.',
  NotSupportedError: 'This browser or device does not support passkeys.',
}

const notSupported = () => new Error(failures['NotSupportedError'])

/** Browsers of today read and write the standard's JSON themselves; one that cannot is told so. */
function isSupported(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    'parseCreationOptionsFromJSON' in PublicKeyCredential &&
    'parseRequestOptionsFromJSON' in PublicKeyCredential
  )
}

async function jsonOf(ask: () => Promise<Credential | null>): Promise<Record<string, unknown>> {
  if (!isSupported()) throw notSupported()
  let credential: Credential | null
  try {
    credential = await ask()
  } catch (error) {
    const known = error instanceof DOMException ? failures[error.name] : undefined
    throw new Error(known ?? 'The passkey could not be used.', { cause: error })
  }
  if (!(credential instanceof PublicKeyCredential)) throw notSupported()
  return credential.toJSON() as unknown as Record<string, unknown>
}

/** Has the device make a passkey; answers what the server keeps of it. */
export function createPasskey(options: Record<string, unknown>): Promise<Record<string, unknown>> {
  return jsonOf(() =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        options as unknown as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  )
}

/** Has the device prove a passkey. */
export function provePasskey(options: Record<string, unknown>): Promise<Record<string, unknown>> {
  return jsonOf(() =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
        options as unknown as PublicKeyCredentialRequestOptionsJSON,
      ),
    }),
  )
}
