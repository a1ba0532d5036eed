import { errorStatus, type ErrorCode, type Issue, type ErrorDetails } from '@robokids/contracts/errors'

/**
 * An expected error: the response has its code, message and field issues, and the code's status from contracts/errors.ts.
 * Any other thrown error becomes a 500 without its message.
 */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly issues: Issue[] | undefined
  /** Additional fields of the response body that the client needs to continue. */
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, issues?: Issue[], details: ErrorDetails = {}) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.issues = issues
    this.details = details
  }

  /** Fastify uses it when our own error handler does not run. */
  get status(): number {
    return errorStatus[this.code]
  }
}

/** Returns the error of a service or provider that could not be reached, or did not respond as agreed, with its cause for the log. */
export function unavailable(cause: unknown): DomainError {
  const error = new DomainError('upstream_unavailable', 'Please try again in a moment.')
  error.cause = cause
  return error
}

/** A connection was lost or not available, and the original error has no code for it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code = 'CONNECTION_LOST'
}

const connectionCodes = new Set([
  'CONNECTION_LOST',
  // postgres.js
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  // undici: the other side has closed it
  'UND_ERR_SOCKET',
  // The operating system. EAI_AGAIN and ENOTFOUND also occur while a name server is unavailable.
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
  '25006', // read_only_sql_transaction: the server has become a standby
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Returns whether an error, or one of its causes, means that a database or peer was unreachable, so that a retry can help. */
export function isConnectionError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '' } = cause as Error & { code?: string }
    // Class 08 of SQLSTATE is "connection exception".
    if (connectionCodes.has(code) || /^08[0-9A-Z]{3}$/.test(code)) return true
  }
  return false
}

const contentionStates = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '57014', // query_canceled, by a timeout
])

/** Returns whether a database error was caused by concurrent transactions, so that a retry can help. */
export function isContention(error: unknown): boolean {
  return contentionStates.has(sqlState(error) ?? '')
}

/** Returns the SQLSTATE of a database error, also if drizzle has wrapped it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as Error & { code?: string }).code
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}
