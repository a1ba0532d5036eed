import type { ErrorBody, ErrorCode, Issue } from '@robokids/contracts/errors'
import type { Answer } from './answer.ts'

/** Names this client to the server; no authority comes with it. */
const apiKey = 'robokids-web'

interface Refusal {
  status: number
  code: ErrorCode | 'network_failed' | 'answer_unreadable' | 'answer_unexpected'
  /** The server's own words, for people; empty where it said none. */
  message: string
  issues?: readonly Issue[] | undefined
  requestId?: string | undefined
}

/**
 * Every way a call can fail: the server's refusal, no connection (`network_failed`), an answer that is no JSON
 * (`answer_unreadable`), or JSON that is not what the contract says (`answer_unexpected`).
 */
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

export interface Call<T> {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  body?: unknown
  /** What checks the answer: one of `answers.ts`, or a schema of the contracts. */
  answer: Answer<T>
  signal?: AbortSignal
}

let afterSignOut: () => void = () => undefined

/** What is to be done when the server answers that nobody is signed in (any more). */
export function whenSignInIsRequired(react: () => void): void {
  afterSignOut = react
}

/** Calls the BFF and hands back its answer as the contract describes it; anything else throws an `ApiError`. */
export async function api<T>(path: `/api/${string}`, { method = 'GET', body, answer, signal }: Call<T>): Promise<T> {
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
  if (content === undefined) throw new ApiError({ status, code: 'answer_unreadable', message: '' })
  if (!response.ok) {
    const refusal = new ApiError(isErrorBody(content) ? { ...content, status } : unexpected(status, content))
    if (refusal.code === 'sign_in_required') afterSignOut()
    throw refusal
  }
  const parsed = answer.safeParse(content)
  if (!parsed.success) throw new ApiError(unexpected(status, content))
  return parsed.data
}

function unexpected(status: number, content: unknown): Refusal {
  const message =
    content instanceof Object && 'message' in content && typeof content.message === 'string' ? content.message : ''
  return { status, code: 'answer_unexpected', message }
}

/** Tolerant: a newer server's unknown code still comes with words to show. */
function isErrorBody(content: unknown): content is ErrorBody {
  if (typeof content !== 'object' || content === null) return false
  const { code, message, issues = [] } = content as Partial<ErrorBody>
  return typeof code === 'string' && typeof message === 'string' && Array.isArray(issues)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
