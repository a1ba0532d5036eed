import { challengeSchema, proofHeader, type Challenge } from '@robokids/contracts/proof'
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'

/** Solves a challenge. @returns the headers of the request that needed it */
export async function prove(challenge: Challenge): Promise<Record<string, string>> {
  const solution = await solveChallenge({ challenge, deriveKey })
  if (!solution) throw new Error('The challenge was not solved in time.')
  return { [proofHeader]: Buffer.from(JSON.stringify({ challenge, solution })).toString('base64') }
}

/**
 * Like `fetch`, for anonymous visitors: if the response asks for a proof of work, the request is repeated with one, as
 * pages do.
 */
export async function fetchProven(url: string | URL, request: RequestInit = {}): Promise<Response> {
  const headers = new Headers(request.headers)
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url, { ...request, headers })
    if (answer.status !== 403 || tries === 3) return answer
    const body = (await answer
      .clone()
      .json()
      .catch(() => ({}))) as { code?: string; challenge?: unknown }
    if (body.code !== 'proof_required') return answer
    const proof = await prove(challengeSchema.parse(body.challenge))
    for (const [name, value] of Object.entries(proof)) headers.set(name, value)
  }
}
