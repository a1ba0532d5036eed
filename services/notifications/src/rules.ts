import type { Refund } from '@robokids/contracts/billing'
import type { Account } from '@robokids/contracts/identity'
import { productStates, type ProductState } from '@robokids/contracts/shop'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The delays between the attempts of one mail; it is given up after about four days. */
export const retryDelays = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  1 * hour,
  2 * hour,
  4 * hour,
  8 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
  24 * hour,
] as const

const lastDelay = 24 * hour

/**
 * How long a mail waits for an earlier one about the same subject that cannot be sent for a reason of its own. (While the mail
 * server is unavailable, both have to wait.)
 */
export const maxWaitForEarlier = Temporal.Duration.from({ hours: 24 })

/**
 * How long a process has the exclusive right to send a message: longer than any sending may take, and long enough for an
 * unavailable database to come back, so that the outcome is recorded before another process sends it again. If the process
 * dies, the message is retried after the lease.
 */
export const sendingLeaseMs = 5 * minute

/**
 * Returns the time of the attempt after a failed one. For a mail that expires it is no later than the expiry, when the mail is
 * given up.
 * @param attempts the number of attempts so far, including the failed one.
 */
export function nextTryAfter(
  attempts: number,
  now: Temporal.Instant,
  expiresAt: Temporal.Instant | null,
): Temporal.Instant {
  const later = now.add({ milliseconds: retryDelays[attempts - 1] ?? lastDelay })
  return expiresAt !== null && Temporal.Instant.compare(expiresAt, later) < 0 ? expiresAt : later
}

/** The failure of an attempt, at the mail server, at the SMS gateway or before. */
export interface Failure {
  /** The SMTP response code, if there was a response. */
  responseCode?: number | undefined
  /** The SMTP command that was rejected. */
  command?: string | undefined
  /** The gateway's HTTP status, if there was a response. */
  status?: number | undefined
  /** A retry cannot help. */
  final?: boolean | undefined
}

/**
 * Decides whether to retry. A 5xx to the recipient or the message is permanent. Before that (connection, login, sender), a 5xx
 * means that our settings are wrong, which an operator can correct while mails wait.
 * For a gateway, a 4xx is permanent unless it is a timeout or a rate limit.
 */
export function classifyFailure(
  attempts: number,
  { responseCode = 0, command = '', status = 0, final = false }: Failure,
): 'retry' | 'give_up' {
  const refused = responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)
  const textRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return final || refused || textRefused || attempts > retryDelays.length ? 'give_up' : 'retry'
}

/** The changes of an account that its owner is warned about, in case somebody else made them. */
const securityChanges = ['password', 'mfa', 'passkeys', 'email'] as const
export type SecurityChange = (typeof securityChanges)[number]

export interface ChangeWarning {
  recipient: string
  changes: SecurityChange[]
  /** It is sent to the account's previous address. */
  toPrevious: boolean
}

/**
 * Returns the address for mails to an account's owner: the verified one, also while it is being changed. Older events do not
 * contain it.
 */
export function verifiedAddress({
  email,
  emailVerified,
  verifiedEmail,
}: Pick<Account, 'email' | 'emailVerified' | 'verifiedEmail'>): string | null {
  if (verifiedEmail !== undefined) return verifiedEmail
  return emailVerified ? email : null
}

/** Returns the warnings about an account's changes: all of them to the verified address, and a replacement to the previous one. */
export function changeWarnings(
  account: Pick<Account, 'email' | 'emailVerified' | 'verifiedEmail'> & {
    changed: readonly string[]
    previousEmail: string | null
  },
): ChangeWarning[] {
  const changes = securityChanges.filter((change) => account.changed.includes(change))
  const { email, previousEmail } = account
  const verified = verifiedAddress(account) ?? (account.verifiedEmail === undefined ? previousEmail : null)
  const warnings: ChangeWarning[] = []
  if (changes.length > 0 && verified !== null) {
    warnings.push({ recipient: verified, changes, toPrevious: verified !== email && changes.includes('email') })
  }
  if (changes.includes('email') && verified === email && previousEmail !== null && previousEmail !== email) {
    warnings.push({ recipient: previousEmail, changes: ['email'], toPrevious: true })
  }
  return warnings
}

/** Returns whether a payment is refunded in full with this refund. For older events the sums decide. */
export function isWhole(refund: { whole?: boolean | undefined; refundedTotal: number; paidAmount: number }): boolean {
  return refund.whole ?? refund.refundedTotal >= refund.paidAmount
}

/** Returns whether a refund ends the registration, and with it the entry in the parent's calendar. */
export function endsRegistration(refund: Parameters<typeof isWhole>[0] & Pick<Refund, 'reason'>): boolean {
  return refund.reason === 'requested' && isWhole(refund)
}

/** Converts user input to one line of well-formed text without direction controls, of at most `max` characters. */
export function asLine(typed: string, max: number): string {
  const line = typed
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .trim()
  return [...line].slice(0, max).join('')
}

/** Returns whether a recipient is exactly one address, which a mail server cannot read as several or as a command. */
export function isOneAddress(recipient: string): boolean {
  return /^[^\s\p{Cc}<>,;@]+@[^\s\p{Cc}<>,;@]+$/u.test(recipient)
}

/** Returns the states in which a requested alert is due now that the product is in state `now`. */
export function alertedStates(now: ProductState): ProductState[] {
  return productStates.filter(
    (asked) => asked !== 'available' && (now === 'available' || (now === 'pre_order' && asked !== 'pre_order')),
  )
}

/** Returns whether to send a confirmation mail: an address gets at most one a day. */
export function isConfirmationMailDue(
  { mailedAt }: { mailedAt: Temporal.Instant | null },
  now: Temporal.Instant,
): boolean {
  return mailedAt === null || Temporal.Instant.compare(mailedAt.add({ hours: 24 }), now) <= 0
}
