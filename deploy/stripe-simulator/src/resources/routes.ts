import { object, type Decoder, type Fields, type Shape } from '../protocol/params.ts'
import type { Cause } from '../protocol/types.ts'
/** Declarations of a resource's endpoints; `api.ts` serves them. */
import type { Context } from './context.ts'

export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  params: Decoder<{ expand?: string[] | undefined }>
  /** Synchronous, so that no other request sees a partial change. */
  run(ctx: Context, params: never, path: { id: string }, cause: Cause): unknown
}

type Run<S extends Shape> = (ctx: Context, params: Fields<S>, path: { id: string }, cause: Cause) => unknown

export type Routes = (route: (endpoint: Endpoint) => void) => void

/**
 * The parameters are validated before execution: an error there is not saved under an idempotency
 * key, an error of `run` is.
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
