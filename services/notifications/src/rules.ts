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
export function judgeFailure(
  attempts: number,
  { responseCode = 0, command = '', status = 0, final = false }: Failure,
): 'retry' | 'give_up' {
  const refused = responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)
  const textRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return final || refused || textRefused || attempts > retryDelays.length ? 'give_up' : 'retry'
}

/** The changes of an account that its owner is told about, lest somebody else made them. */
const noticedChanges = ['password', 'mfa', 'passkeys', 'email'] as const
export type NoticedChange = (typeof noticedChanges)[number]

export interface ChangeNotice {
  recipient: string
  changes: NoticedChange[]
  /** It goes to the address that the account had before. */
  toPrevious: boolean
}

/** Who is told of what: the verified address of all, and the one before it of being replaced and, until it is, of all. */
export function changeNotices(
  account: Pick<Account, 'email' | 'emailVerified'> & { changed: readonly string[]; previousEmail: string | null },
): ChangeNotice[] {
  const changes = noticedChanges.filter((change) => account.changed.includes(change))
  const { email, emailVerified, previousEmail } = account
  const notices: ChangeNotice[] = []
  if (changes.length > 0 && emailVerified && email !== null) {
    notices.push({ recipient: email, changes, toPrevious: false })
  }
  if (previousEmail === null || previousEmail === email) return notices
  if (changes.includes('email')) notices.push({ recipient: previousEmail, changes, toPrevious: true })
  else if (changes.length > 0 && !emailVerified) notices.push({ recipient: previousEmail, changes, toPrevious: false })
  return notices
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
export function noticeMailIsDue({ mailedAt }: { mailedAt: Temporal.Instant | null }, now: Temporal.Instant): boolean {
  return mailedAt === null || Temporal.Instant.compare(mailedAt.add({ hours: 24 }), now) <= 0
}
