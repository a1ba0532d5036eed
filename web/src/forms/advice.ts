import { isRefusal } from '../api/refusals.ts'

/** How to proceed after an error whose message, which is the service's, does not say it. */
export interface Advice {
  text: string
  /** Only our support can help. */
  writeToUs?: boolean
}

const adviceOnMessages: Record<string, Advice> = {
  'Password attempts exceeded': {
    text: 'There were too many wrong passwords. Wait a minute, then try again: with each wrong one the wait gets longer. Or choose a new password, which ends it at once.',
  },
  'User is disabled.': { text: 'We have shut this account. If you do not know why:', writeToUs: true },
  'Temporary password has expired and must be reset by an administrator.': {
    text: 'We give you a new one:',
    writeToUs: true,
  },
}

export function adviceOn(error: unknown): Advice | undefined {
  if (isRefusal(error, 'MFAMethodNotFoundException')) return { text: 'If you cannot do that:', writeToUs: true }
  if (!isRefusal(error, 'NotAuthorizedException')) return undefined
  return Object.hasOwn(adviceOnMessages, error.message) ? adviceOnMessages[error.message] : undefined
}
