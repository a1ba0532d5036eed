import { proofChallengeSchema, proofQuerySchema } from '@robokids/contracts/proof'
import type { Http } from '@robokids/runtime/http'
import type { Proofs } from './proofs.ts'

/** Issues challenges in advance of the requests that need their solutions. */
export function proofRoutes(http: Http, proofs: Proofs): void {
  http.get(
    '/api/proof',
    { schema: { querystring: proofQuerySchema, response: { 200: proofChallengeSchema } } },
    async (request, reply) => ({ challenge: await proofs.challenge(request.query.form, request, reply) }),
  )
}
