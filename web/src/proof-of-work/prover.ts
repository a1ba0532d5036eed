import type { ProofForm, proofHeader } from '@robokids/contracts/proof'
import { api, ApiError } from '../api/api.ts'
import { proofChallenge } from './answers.ts'
import { solve } from './solve.ts'

// As in the contracts, whose module would import their schemas.
const proofHeaderName: typeof proofHeader = 'x-proof'

/** Shorter than the server's lifetime of a challenge. An expired one is solved again anyway. */
const freshForMs = 15 * 60_000

interface Ready {
  since: number
  /** Null if none is needed, or none could be obtained: the request's response decides. */
  proof: Promise<string | null>
}

const ready = new Map<ProofForm, Ready>()

async function ask(form: ProofForm): Promise<string | null> {
  try {
    const { challenge } = await api(`/api/proof?form=${form}`, { answer: proofChallenge })
    return challenge && (await solve(challenge))
  } catch {
    return null
  }
}

/** Starts solving, so that a proof is ready when the form is sent. */
export function prepare(form: ProofForm): Promise<string | null> {
  const known = ready.get(form)
  if (known && performance.now() - known.since < freshForMs) return known.proof
  const proof = ask(form)
  ready.set(form, { since: performance.now(), proof })
  return proof
}

/** Sends a request with its proof, and retries once with a new one if the server rejects it, as when it has expired. */
export async function sendProven<T>(
  form: ProofForm,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  let proof = await prepare(form)
  // Each is accepted once.
  ready.delete(form)
  for (let tries = 0; ; tries += 1) {
    try {
      return await send(proof === null ? {} : { [proofHeaderName]: proof })
    } catch (error) {
      const { challenge } = error instanceof ApiError ? error.details : {}
      if (!challenge || tries === 3) throw error
      proof = await solve(challenge)
    }
  }
}
