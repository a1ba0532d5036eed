import type { Refund } from '@robokids/contracts/billing'
import type { Account } from '@robokids/contracts/identity'
import { productStates, type ProductState } from '@robokids/contracts/shop'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Between the attempts of one mail: quick at first, then patient, given up after about four days. */
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
 * How long a mail waits for an earlier one about the same subject that cannot be sent. Where the mail server is away, both
 * have to wait; this is for one that something of its own keeps back.
 */
export const waitsAtMost = Temporal.Duration.from({ hours: 24 })

/**
 * How long a message belongs to whoever is sending it: longer than any sending may take, and long enough for a database
 * that is away to come back, so that what was taken is noted before anybody sends it again. A process that dies in the
 * middle of it leaves a message that is tried again then.
 */
export const sendingLeaseMs = 5 * minute

/**
 * When the attempt that failed is followed by the next. One that expires is looked at no later than then, to be given up.
 * @param attempts those so far, the failed one included.
 */
export function nextTryAfter(
  attempts: number,
  now: Temporal.Instant,
  expiresAt: Temporal.Instant | null,
): Temporal.Instant {
  const later = now.add({ milliseconds: retryDelays[attempts - 1] ?? lastDelay })
  return expiresAt !== null && Temporal.Instant.compare(expiresAt, later) < 0 ? expiresAt : later
}

/** What the mail server, or the gateway for text messages, or what stood before them, said. */
export interface Failure {
  /** SMTP's three digits, where it came to an answer. */
  responseCode?: number | undefined
  /** The SMTP command that was refused. */
  command?: string | undefined
  /** The gateway's HTTP status, where it came to an answer. */
  status?: number | undefined
  /** Nothing that waiting could mend. */
  final?: boolean | undefined
}

/**
 * A 5xx to the recipient or to the message is the server's last word. To anything before that (greeting, sign-in, sender)
 * it means that our settings are wrong, which an operator can mend while mails wait.
 * A gateway refuses a text message with a 4xx that is not about time.
 */
export function classifyFailure(
  attempts: number,
  { responseCode = 0, command = '', status = 0, final = false }: Failure,
): 'retry' | 'give_up' {
  const refused = responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)
  const textRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return final || refused || textRefused || attempts > retryDelays.length ? 'give_up' : 'retry'
}

/** The changes of an account that its owner is told about, lest somebody else made them. */
const securityChanges = ['password', 'mfa', 'passkeys', 'email'] as const
export type SecurityChange = (typeof securityChanges)[number]

export interface ChangeWarning {
  recipient: string
  changes: SecurityChange[]
  /** It goes to the address that the account had before. */
  toPrevious: boolean
}

/**
 * The address at which an account's owner is written to: the one that they have proven to have, also while it is being
 * changed. Events of the time before do not name it.
 */
export function provenAddress({
  email,
  emailVerified,
  verifiedEmail,
}: Pick<Account, 'email' | 'emailVerified' | 'verifiedEmail'>): string | null {
  if (verifiedEmail !== undefined) return verifiedEmail
  return emailVerified ? email : null
}

/** Who is told of what: the proven address of all, and the one before it of being replaced. */
export function changeWarnings(
  account: Pick<Account, 'email' | 'emailVerified' | 'verifiedEmail'> & {
    changed: readonly string[]
    previousEmail: string | null
  },
): ChangeWarning[] {
  const changes = securityChanges.filter((change) => account.changed.includes(change))
  const { email, previousEmail } = account
  const proven = provenAddress(account) ?? (account.verifiedEmail === undefined ? previousEmail : null)
  const stockAlerts: ChangeWarning[] = []
  if (changes.length > 0 && proven !== null) {
    stockAlerts.push({ recipient: proven, changes, toPrevious: proven !== email && changes.includes('email') })
  }
  if (changes.includes('email') && proven === email && previousEmail !== null && previousEmail !== email) {
    stockAlerts.push({ recipient: previousEmail, changes: ['email'], toPrevious: true })
  }
  return stockAlerts
}

/** Whether all of a payment is back with a refund. Events of the time before do not say so, but their sums do. */
export function isWhole(refund: { whole?: boolean | undefined; refundedTotal: number; paidAmount: number }): boolean {
  return refund.whole ?? refund.refundedTotal >= refund.paidAmount
}

/** Whether the registration is over with a refund, and with it the entry in the parent's calendar. */
export function endsRegistration(refund: Parameters<typeof isWhole>[0] & Pick<Refund, 'reason'>): boolean {
  return refund.reason === 'requested' && isWhole(refund)
}

/** What a person typed as one line of well-formed text that reads forward, whatever it was; at most `max` characters. */
export function asLine(typed: string, max: number): string {
  const line = typed
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .trim()
  return [...line].slice(0, max).join('')
}

/** One address, with nothing beside it that a mail server could take for a second one or a command. */
export function isOneAddress(recipient: string): boolean {
  return /^[^\s\p{Cc}<>,;@]+@[^\s\p{Cc}<>,;@]+$/u.test(recipient)
}

/** The states in which somebody who asked has waited for the one that a product is in now. */
export function statesAwaiting(now: ProductState): ProductState[] {
  return productStates.filter(
    (asked) => asked !== 'available' && (now === 'available' || (now === 'pre_order' && asked !== 'pre_order')),
  )
}

/** An address is asked whether it wants news once a day at most, whoever types it in. */
export function isConfirmationMailDue(
  { mailedAt }: { mailedAt: Temporal.Instant | null },
  now: Temporal.Instant,
): boolean {
  return mailedAt === null || Temporal.Instant.compare(mailedAt.add({ hours: 24 }), now) <= 0
}
