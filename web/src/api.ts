import { type ErrorCode, errorBodySchema, type Issue } from '@robokids/contracts/errors'
import type { z } from 'zod'

/** Names this client to the server; no authority comes with it. */
const apiKey = 'robokids-web'

interface Refusal {
  status: number
  code: ErrorCode | 'network_failed' | 'answer_unreadable'
  /** The server's own words, for people; empty where it said none. */
  message: string
  issues?: readonly Issue[] | undefined
  requestId?: string | undefined
}

/** Every way a call can fail: the server's refusal, no connection (`network_failed`), or an answer that is not one of ours. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: Refusal['code']
  readonly issues: readonly Issue[]
  readonly requestId: string | null

  constructor({ status, code, message, issues = [], requestId }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.issues = issues
    this.requestId = requestId ?? null
  }
}

export interface Call<Schema extends z.ZodType> {
  method?: 'GET' | 'POST'
  body?: unknown
  answer: Schema
  signal?: AbortSignal
}

/** Calls the BFF and hands back its answer as the contract describes it; anything else throws an `ApiError`. */
export async function api<Schema extends z.ZodType>(
  path: `/api/${string}`,
  { method = 'GET', body, answer, signal }: Call<Schema>,
): Promise<z.output<Schema>> {
  const headers: Record<string, string> = { accept: 'application/json', 'x-api-key': apiKey }
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  let content: unknown
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    const text = await response.text()
    content = parseJson(text)
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError({ status: 0, code: 'network_failed', message: '' })
  }
  const { status } = response
  if (!response.ok) {
    const refusal = errorBodySchema.safeParse(content)
    throw new ApiError(refusal.success ? { status, ...refusal.data } : { status, code: 'answer_unreadable', message: '' })
  }
  const parsed = answer.safeParse(content)
  if (!parsed.success) throw new ApiError({ status, code: 'answer_unreadable', message: '' })
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
