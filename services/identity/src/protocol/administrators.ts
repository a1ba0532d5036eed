import { createHash } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { isSameSecret } from '@robokids/runtime/same-secret'
import type { Context } from '@robokids/runtime/service'
import { SignatureV4 } from '@smithy/signature-v4'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { IdentityError } from './errors.ts'

/** Accepted clock difference of signatures. */
const tolerance = { minutes: 5 }

const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=([^/\s]{1,128})\/(\d{8})\/([\w-]{1,64})\/cognito-idp\/aws4_request,\s*SignedHeaders=([\w;-]{1,1024}),\s*Signature=([0-9a-f]{64})$/

/**
 * Checks that a request has an administrator's AWS Signature Version 4.
 * @throws IdentityError with the error names of AWS
 */
export async function authorizeAdministrator(
  request: FastifyRequest,
  body: string,
  { config, clock }: Context<Config>,
): Promise<void> {
  const { authorization } = request.headers
  if (authorization === undefined) {
    throw new IdentityError('MissingAuthenticationTokenException', 'Missing Authentication Token')
  }
  const [, accessKeyId = '', , region = '', signedHeaders = '', signature = ''] =
    authorizationPattern.exec(authorization) ?? []
  if (signature === '')
    throw new IdentityError('IncompleteSignatureException', 'The Authorization header is not valid.')
  const secretAccessKey = config.ADMIN_KEYS.get(accessKeyId)
  if (secretAccessKey === undefined) {
    throw new IdentityError('UnrecognizedClientException', 'The security token included in the request is invalid.')
  }
  const names = signedHeaders.split(';')
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(request.headers['x-amz-date'])) ?? []
  const mismatch = () =>
    new IdentityError(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    )
  // Headers that are not signed could be combined with another request's signature.
  if (!['host', 'x-amz-date', 'x-amz-target'].every((name) => names.includes(name)) || second === undefined) {
    throw mismatch()
  }
  // If the client sends the body's hash, the hash is what it signed, so it has to match the body.
  const bodyHash = request.headers['x-amz-content-sha256']
  if (bodyHash !== undefined && bodyHash !== createHash('sha256').update(body).digest('hex')) throw mismatch()
  let signedAt: Temporal.Instant
  try {
    signedAt = Temporal.Instant.from(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  } catch {
    throw mismatch()
  }
  const now = clock.now()
  if (
    Temporal.Instant.compare(signedAt, now.subtract(tolerance)) < 0 ||
    Temporal.Instant.compare(signedAt, now.add(tolerance)) > 0
  ) {
    throw new IdentityError('InvalidSignatureException', 'Signature expired or not yet valid.')
  }
  const signer = new SignatureV4({
    service: 'cognito-idp',
    region,
    credentials: { accessKeyId, secretAccessKey },
    sha256: Sha256,
    applyChecksum: false,
  })
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')]))
  const signed = await signer.sign(
    {
      method: 'POST',
      protocol: 'http:',
      hostname: request.hostname,
      path: '/',
      query: {},
      headers,
      body,
    },
    { signingDate: new Date(signedAt.epochMilliseconds), signableHeaders: new Set(names) },
  )
  const [, expected = ''] = /Signature=([0-9a-f]{64})/.exec(signed.headers['authorization'] ?? '') ?? []
  if (!isSameSecret(signature, expected)) throw mismatch()
}
