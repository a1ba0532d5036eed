import type { ProofForm, proofHeader } from '@robokids/contracts/proof'
import { api, ApiError } from '../api/api.ts'
import { proofChallenge } from './answers.ts'
import { solve } from './solve.ts'

// As the contracts have it, without what checks their other parts.
const proofHeaderName: typeof proofHeader = 'x-proof'

/** Shorter than the server's lifetime of a challenge. An expired one is solved again anyway. */
const freshForMs = 15 * 60_000

interface Ready {
  since: number
  /** Null where none is needed, or none could be had: the answer to the request will tell. */
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

/** Has a proof ready by the time that a form is sent. */
export function prepare(form: ProofForm): Promise<string | null> {
  const known = ready.get(form)
  if (known && performance.now() - known.since < freshForMs) return known.proof
  const proof = ask(form)
  ready.set(form, { since: performance.now(), proof })
  return proof
}

/** Sends a request with its proof, and once more with another one where the server wants that: it was too old, perhaps. */
export async function sendProven<T>(
  form: ProofForm,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  let proof = await prepare(form)
  // Each is taken once.
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
