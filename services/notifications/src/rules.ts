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
 * Begins an attempt: counted, and the next one already put off, before anything is sent. A process that dies in the
 * middle of it leaves a mail that is tried again after that delay.
 */
export function beginAttempt(
  attempts: number,
  now: Temporal.Instant,
): { attempts: number; nextTryAt: Temporal.Instant } {
  return { attempts: attempts + 1, nextTryAt: now.add({ milliseconds: retryDelays[attempts] ?? lastDelay }) }
}

/** What the mail server, or what stood before it, said. */
export interface Failure {
  /** SMTP's three digits, where it came to an answer. */
  responseCode?: number | undefined
  /** The SMTP command that was refused. */
  command?: string | undefined
  /** Nothing that waiting could mend. */
  final?: boolean | undefined
}

/**
 * A 5xx to the recipient or to the message is the server's last word. To anything before that (greeting, sign-in, sender)
 * it means that our settings are wrong, which an operator can mend while mails wait.
 */
export function judgeFailure(
  attempts: number,
  { responseCode = 0, command = '', final = false }: Failure,
): 'retry' | 'give_up' {
  const refused = responseCode >= 500 && /^(RCPT TO|DATA)$/.test(command)
  return final || refused || attempts > retryDelays.length ? 'give_up' : 'retry'
}
