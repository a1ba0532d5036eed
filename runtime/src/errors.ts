import { errorStatus, type ErrorCode, type Issue } from '@robokids/contracts/errors'

/**
 * An outcome that was foreseen: the caller is told its code, message and field issues, with the status that
 * contracts/errors.ts gives the code. Everything else that is thrown becomes a 500 with its message hidden.
 */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly issues: Issue[] | undefined

  constructor(code: ErrorCode, message: string, issues?: Issue[]) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.issues = issues
  }

  get status(): number {
    return errorStatus[this.code]
  }
}

const connectionCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
])

/** Whether an error, or one that caused it, says that a database or a peer was out of reach: worth trying again. */
export function isConnectionError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (connectionCodes.has((cause as Error & { code?: string }).code ?? '')) return true
  }
  return false
}

/** The SQLSTATE of a database error, also where drizzle wraps it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as Error & { code?: string }).code
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}
