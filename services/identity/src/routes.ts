import cors from '@fastify/cors'
import { requireAdmin } from '@robokids/runtime/admin'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { signingKeysSchema } from '@robokids/contracts/identity'
import { z } from 'zod'
import type { Config } from './config.ts'
import { IdentityError } from './protocol/errors.ts'
import { operations } from './operations/table.ts'
import { findPool } from './pools/pools.ts'
import { protocolRoutes } from './protocol/protocol.ts'
import { registerTextMetric } from './limits/text-limits.ts'
import { listKeys, replaceKeys, startTokens, withdrawKey } from './sign-in/tokens.ts'

export async function routes(http: Http, context: Context<Config>): Promise<void> {
  registerTextMetric(context)
  const tokens = await startTokens(http, context)
  // Any origin is allowed: credentials are in the request, never in a cookie.
  await http.register(cors, {
    origin: '*',
    methods: ['POST', 'GET'],
    allowedHeaders: [
      'authorization',
      'cache-control',
      'content-type',
      'amz-sdk-invocation-id',
      'amz-sdk-request',
      'x-amz-date',
      'x-amz-security-token',
      'x-amz-target',
      'x-amz-user-agent',
    ],
    exposedHeaders: ['x-amzn-errortype', 'x-amzn-requestid'],
    maxAge: 86_400,
  })
  await http.register(async (scope) => protocolRoutes(scope, context, operations(tokens)))

  const onRequest = requireAdmin(context)
  const keysRoute = { onRequest, schema: { response: { 200: signingKeysSchema } } }
  http.get('/admin/signing-keys', keysRoute, async () => ({ signingKeys: await listKeys(context) }))
  http.post('/admin/signing-keys', keysRoute, async () => ({ signingKeys: await replaceKeys(context) }))
  http.post(
    '/admin/signing-keys/:kid/withdraw',
    { onRequest, schema: { ...keysRoute.schema, params: z.object({ kid: z.string().max(100) }) } },
    async ({ params: { kid } }) => ({ signingKeys: await withdrawKey(context, kid) }),
  )

  const publicPool = async (id: string) => {
    try {
      return await findPool(id, context)
    } catch (error) {
      throw error instanceof IdentityError ? new DomainError('not_found', error.message) : error
    }
  }
  const params = z.object({ poolId: z.string().max(55) })
  http.get('/:poolId/.well-known/jwks.json', { schema: { params } }, async (request, reply) => {
    const pool = await publicPool(request.params.poolId)
    return reply.header('cache-control', 'public, max-age=300').send(await tokens.keySet(pool))
  })
  http.get('/:poolId/.well-known/openid-configuration', { schema: { params } }, async (request, reply) => {
    const { id } = await publicPool(request.params.poolId)
    const issuer = `${context.config.ISSUER_URL}/${id}`
    return reply.header('cache-control', 'public, max-age=300').send({
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['token'],
      subject_types_supported: ['public'],
      scopes_supported: ['openid', 'email', 'phone', 'profile', 'aws.cognito.signin.user.admin'],
    })
  })
}
