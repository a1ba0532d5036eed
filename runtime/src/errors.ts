import { errorStatus, type ErrorCode, type Issue, type RefusalDetails } from '@robokids/contracts/errors'

/**
 * An outcome that was foreseen: the caller is told its code, message and field issues, with the status that
 * contracts/errors.ts gives the code. Everything else that is thrown becomes a 500 with its message hidden.
 */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly issues: Issue[] | undefined
  /** What the caller needs to go on from there: it stands in the body beside the message. */
  readonly details: RefusalDetails

  constructor(code: ErrorCode, message: string, issues?: Issue[], details: RefusalDetails = {}) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.issues = issues
    this.details = details
  }

  /** What Fastify goes by where our own error handler is not, or not yet, at work. */
  get status(): number {
    return errorStatus[this.code]
  }
}

/** A connection that was lost, or not to be had, where whoever found out has no code for it. */
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
  // The operating system, also where a name cannot be resolved while a name server is away.
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
  '25006', // read_only_sql_transaction: this server is a standby by now
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Whether an error, or one that caused it, says that a database or a peer was out of reach: worth trying again. */
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
  '57014', // query_canceled, by a time-out
])

/** Whether a database error tells of others who were in the way: the same may succeed a moment later. */
export function isContention(error: unknown): boolean {
  return contentionStates.has(sqlState(error) ?? '')
}

/** The SQLSTATE of a database error, also where drizzle wraps it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as Error & { code?: string }).code
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}
