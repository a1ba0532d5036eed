import type { AgreementTerms } from '@robokids/contracts/agreement'
import { emailKey } from '@robokids/contracts/email-key'
import { signUpAnswer } from '../account/answers.ts'
import { type PendingUser, readPendingUser, savePendingUser } from '../account/pending-user.ts'
import { readersTimeZone } from '../browser/readers-time-zone.ts'
import { provenApi } from '../proof-of-work/proven.ts'
import type { Member } from './read-member.ts'
import { membershipCheckoutAnswer } from './register-answers.ts'

/** The account that was created in this tab for this email, if any. */
export function pendingUserOf(email: string): PendingUser | undefined {
  const pending = readPendingUser()
  return pending && emailKey(pending.email) === emailKey(email) ? pending : undefined
}

/** Creates the account once: a retry after a failed checkout reuses it. */
export async function signUpOnce(
  member: Member,
  password: string,
  wish: Pick<PendingUser, 'plan' | 'classDate'>,
): Promise<PendingUser> {
  const made = pendingUserOf(member.email)
  if (made) {
    const pending = { ...made, ...wish }
    savePendingUser(pending)
    return pending
  }
  const { address: _, ...body } = member
  const { delivery } = await provenApi('sign-up', '/api/auth/sign-up', {
    method: 'POST',
    body: { ...body, password },
    answer: signUpAnswer,
  })
  const pending = {
    ...member,
    ...wish,
    signedUpAt: Date.now(),
    codeSentTo: delivery?.destination ?? '',
  }
  savePendingUser(pending)
  return pending
}

/** Returns the payment page's URL; for a signed-in member that of the customer portal, with a message. */
export async function membershipCheckout(
  { email, plan, classDate }: Pick<PendingUser, 'email' | 'plan' | 'classDate'>,
  consent: { version: string; text: string },
  agreed: AgreementTerms,
): Promise<{ url: string; message?: string }> {
  return provenApi('membership', '/api/createStripeSession', {
    method: 'POST',
    body: { email, plan, classDate, consent, familyTimeZone: readersTimeZone(), agreed },
    answer: membershipCheckoutAnswer,
  })
}
