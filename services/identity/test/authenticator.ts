import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A software authenticator for passkeys, which can also tamper with its responses. */
export function makeAuthenticator() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32).toString('base64url')
  let counter = 0
  return {
    id,
    /** ES256 as a COSE key: a map of five entries in CBOR. */
    publicKey: Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]).toString('base64url'),
    /** Responds to a request. `tamper` replaces values of an honest authenticator or browser. */
    answer(
      options: { challenge: string; rpId?: string },
      origin: string,
      tamper: {
        rpId?: string
        challenge?: string
        counter?: number
        verified?: boolean
        type?: string
        id?: string
      } = {},
    ): string {
      counter = tamper.counter ?? counter + 1
      const flags = tamper.verified === false ? 0x01 : 0x05
      const bytes = Buffer.alloc(5)
      bytes.writeUInt8(flags)
      bytes.writeUInt32BE(counter, 1)
      const rpIdHash = createHash('sha256')
        .update(tamper.rpId ?? options.rpId ?? '')
        .digest()
      const authenticatorData = Buffer.concat([rpIdHash, bytes])
      const clientData = Buffer.from(
        JSON.stringify({
          type: tamper.type ?? 'webauthn.get',
          challenge: tamper.challenge ?? options.challenge,
          origin,
          crossOrigin: false,
        }),
      )
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()])
      return JSON.stringify({
        id: tamper.id ?? id,
        rawId: tamper.id ?? id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        },
      })
    },
  }
}
