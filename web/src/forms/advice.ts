import { isRefusal } from '../api/refusals.ts'

/** How to proceed after an error whose message, which is the service's, does not say it. */
export interface Advice {
  text: string
  /** Only our support can help. */
  writeToUs?: boolean
}

const adviceOnMessages: Record<string, Advice> = {
  'Password attempts exceeded': {
    text: 'Too many wrong passwords. Wait a minute, then try again; each wrong one makes the wait longer. Or choose a new password and log in right away.',
  },
  'User is disabled.': { text: 'We’ve disabled this account. If you don’t know why:', writeToUs: true },
  'Temporary password has expired and must be reset by an administrator.': {
    text: 'To get a new one:',
    writeToUs: true,
  },
}

export function adviceOn(error: unknown): Advice | undefined {
  if (isRefusal(error, 'MFAMethodNotFoundException')) return { text: 'If you can’t do that:', writeToUs: true }
  if (!isRefusal(error, 'NotAuthorizedException')) return undefined
  return Object.hasOwn(adviceOnMessages, error.message) ? adviceOnMessages[error.message] : undefined
}
