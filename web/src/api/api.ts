import type { accountHeader } from '@robokids/contracts/auth'
import type { ErrorBody, ErrorCode, Issue, ErrorDetails } from '@robokids/contracts/errors'
import type { Answer } from './answer.ts'

/** Identifies this client to the server; it grants nothing. */
const apiKey = 'robokids-web'

// As in the contracts, whose module would import their schemas.
const accountHeaderName: typeof accountHeader = 'x-account'

interface Refusal extends ErrorDetails {
  status: number
  code: ErrorCode | 'network_failed' | 'answer_unreadable' | 'answer_unexpected'
  /** The server's message, which can be shown; empty if there is none. */
  message: string
  issues?: readonly Issue[] | undefined
  requestId?: string | null
}

/**
 * Every way a call can fail: an error response, no connection (`network_failed`), a response that is not JSON
 * (`answer_unreadable`), or JSON that does not match the contract (`answer_unexpected`).
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: Refusal['code']
  readonly issues: readonly Issue[]
  readonly requestId: string | null
  /** Unparsed details that offer a way to proceed; `wayOnFrom` reads them. */
  readonly details: ErrorDetails

  constructor(refusal: Refusal) {
    const { status, code, message, issues = [], requestId = null } = refusal
    super(message)
    this.status = status
    this.code = code
    this.issues = issues
    this.requestId = requestId
    this.details = refusal
  }
}

export interface Call<T> {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  body?: unknown
  /** Validates the response: one of `answers.ts`, or a schema of the contracts. */
  answer: Answer<T>
  signal?: AbortSignal
  headers?: Record<string, string>
}

let signedIn: string | null = null
/** The account that the page is for: the one that was signed in when it was rendered. */
let account: string | null = null
let afterSignOut: () => void = () => undefined
let atOtherAccount: () => void = () => undefined

/** Sets the handler for responses that say that nobody is signed in (any more). */
export function whenSignInIsRequired(react: () => void): void {
  afterSignOut = react
}

let confirmIdentity: (() => Promise<void>) | null = null

/**
 * Sets how the signed-in user proves their identity for calls that require it. The call is then repeated; if `confirm` rejects,
 * it fails with that reason.
 */
export function whenFreshSignInIsRequired(confirm: (() => Promise<void>) | null): void {
  confirmIdentity = confirm
}

/** Sets the handler for responses that say that another account is signed in than the one that the page is for. */
export function whenOtherAccount(react: () => void): void {
  atOtherAccount = react
}

/**
 * Sets who is signed in. Each changing request names the account that its page is for, so that the server rejects it after
 * another tab has signed in to a different account: a form filled in for one account must not change another.
 */
export function setAccount(userId: string | null): void {
  signedIn = userId
  if (!account || !userId) account = userId
}

/** A new page is for the account that is signed in now. */
export function adoptSignedInAccount(): void {
  account = signedIn
}

/** Calls the BFF and returns its validated response; anything else throws an `ApiError`. */
export async function api<T>(path: `/api/${string}`, call: Call<T>): Promise<T> {
  const { method = 'GET', body, answer, signal } = call
  const headers: Record<string, string> = { accept: 'application/json', 'x-api-key': apiKey, ...call.headers }
  if (body !== undefined) headers['content-type'] = 'application/json'
  // Signing out applies to any account.
  if (account && method !== 'GET' && !path.endsWith('/sign-out')) headers[accountHeaderName] = account
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
    const { code } = refusal
    if (code === 'sign_in_required') afterSignOut()
    if (code === 'other_account') atOtherAccount()
    if (code === 'FreshSignInRequiredException' && confirmIdentity) {
      await confirmIdentity()
      return api(path, call)
    }
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

/** Tolerant: a newer server's unknown code still has a message to show. */
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
