import type { ProofForm } from '@robokids/contracts/proof'
import { api, ApiError, type Call } from '../api/api.ts'

// Forms alone need it, and only once they are filled in.
const loadProver = () => import('./prover.ts')

/** A form is being filled in: its proof of work is to be ready when it is sent. */
export function prepareProof(form: ProofForm): void {
  loadProver().then(
    ({ prepare }) => void prepare(form),
    () => undefined,
  )
}

/** Calls `api` with a form's proof of work. A signed-in user needs none. */
export async function provenApi<T>(form: ProofForm, path: `/api/${string}`, call: Call<T>): Promise<T> {
  const prover = await loadProver().catch(() => undefined)
  return prover ? prover.sendProven(form, (headers) => api(path, { ...call, headers })) : api(path, call)
}

/** As `api`, for what asks for a proof only now and then: with a password it does while many log in. */
export async function provenWhereAsked<T>(form: ProofForm, path: `/api/${string}`, call: Call<T>): Promise<T> {
  try {
    return await api(path, call)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'proof_required') return provenApi(form, path, call)
    throw error
  }
}
