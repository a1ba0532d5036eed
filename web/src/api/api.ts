import type { accountHeader } from '@robokids/contracts/auth'
import type { ErrorBody, ErrorCode, Issue, ErrorDetails } from '@robokids/contracts/errors'
import type { Answer } from './answer.ts'

/** Names this client to the server; no authority comes with it. */
const apiKey = 'robokids-web'

// As the contracts have it, without what checks their other parts.
const accountHeaderName: typeof accountHeader = 'x-account'

interface Refusal extends ErrorDetails {
  status: number
  code: ErrorCode | 'network_failed' | 'answer_unreadable' | 'answer_unexpected'
  /** The server's own words, for people; empty where it said none. */
  message: string
  issues?: readonly Issue[] | undefined
  requestId?: string | null
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
  /** What whoever was refused can go on with, as it came: `wayOnFrom` reads it. */
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
  /** What checks the answer: one of `answers.ts`, or a schema of the contracts. */
  answer: Answer<T>
  signal?: AbortSignal
  headers?: Record<string, string>
}

let signedIn: string | null = null
/** Whom the page is for: whoever was signed in when it was made. */
let account: string | null = null
let afterSignOut: () => void = () => undefined
let atOtherAccount: () => void = () => undefined

/** What is to be done when the server answers that nobody is signed in (any more). */
export function whenSignInIsRequired(react: () => void): void {
  afterSignOut = react
}

let confirmIdentity: (() => Promise<void>) | null = null

/**
 * How whoever is signed in shows that it is they who sit there, where what was asked for needs that. It is asked for again
 * after that, as it was; where `confirm` rejects, the call fails with its reason.
 */
export function whenFreshSignInIsRequired(confirm: (() => Promise<void>) | null): void {
  confirmIdentity = confirm
}

/** What is to be done when the server answers that another account is signed in than the one that the page is for. */
export function whenOtherAccount(react: () => void): void {
  atOtherAccount = react
}

/**
 * Who is signed in. Each changing request names the account that its page is for, so that the server refuses it where
 * another tab has signed in somebody else since: what was typed for one account must not happen to another's.
 */
export function noteAccount(userId: string | null): void {
  signedIn = userId
  if (!account || !userId) account = userId
}

/** The page that is shown now is made for whoever is signed in now. */
export function composeAnew(): void {
  account = signedIn
}

/** Calls the BFF and hands back its answer as the contract describes it; anything else throws an `ApiError`. */
export async function api<T>(path: `/api/${string}`, call: Call<T>): Promise<T> {
  const { method = 'GET', body, answer, signal } = call
  const headers: Record<string, string> = { accept: 'application/json', 'x-api-key': apiKey, ...call.headers }
  if (body !== undefined) headers['content-type'] = 'application/json'
  // Signing out is for whoever is signed in.
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
