/** How a resource describes its endpoints; `api.ts` serves them. */
import type { Context } from '../context.ts'
import { object, type Decoder, type Fields, type Shape } from './params.ts'
import type { Cause } from './types.ts'

export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  params: Decoder<{ expand?: string[] | undefined }>
  /** Runs in one go, without waiting: whatever it changes, no other request sees half of it. */
  run(ctx: Context, params: never, path: { id: string }, cause: Cause): unknown
}

type Run<S extends Shape> = (ctx: Context, params: Fields<S>, path: { id: string }, cause: Cause) => unknown

export type Routes = (route: (endpoint: Endpoint) => void) => void

/**
 * The shape of the parameters is checked before execution begins: a refusal there is not saved under an idempotency
 * key, one by `run` is.
 */
export function get<S extends Shape>(path: string, shape: S, run: Run<S>): Endpoint {
  return { method: 'GET', path, params: object(shape), run }
}

export function post<S extends Shape>(path: string, shape: S, run: Run<S>): Endpoint {
  return { method: 'POST', path, params: object(shape), run }
}

export function del<S extends Shape>(path: string, shape: S, run: Run<S>): Endpoint {
  return { method: 'DELETE', path, params: object(shape), run }
}
