import type { ProofForm } from '@robokids/contracts/proof'
import { api, ApiError, type Call } from '../api/api.ts'

// Imported on demand: only forms need it.
const loadProver = () => import('./prover.ts')

/** Called while a form is filled in, so that its proof of work is ready when it is sent. */
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

/** Calls `api` for requests that need a proof only sometimes: sign-ins with a password do under load. */
export async function provenWhereAsked<T>(form: ProofForm, path: `/api/${string}`, call: Call<T>): Promise<T> {
  try {
    return await api(path, call)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'proof_required') return provenApi(form, path, call)
    throw error
  }
}
