import { local, session } from './storage.ts'

/** Keys and clearing of stored data, in a module of its own because every page can sign out. */
export const draftKey = 'membershipDraft'
export const pendingKey = 'pendingUser'

/** Clears the records of a completed registration. */
export function forgetMemberDraft(): void {
  session.remove(draftKey)
}

export function forgetPendingUser(): void {
  session.remove(pendingKey)
  forgetMemberDraft()
}

export const signUpDraftKey = 'roboKidsSignUpDraft'
/** The key of an account's draft in this browser, beyond its tab. */
export const draftOf = (userId: string) => `${signUpDraftKey}:${userId}`

/** Clears this account's draft of the sign-up form; a guest's draft stays. */
export function forgetAccountDraft(userId: string): void {
  local.remove(draftOf(userId))
  if (session.get(signUpDraftKey)?.includes(userId)) session.remove(signUpDraftKey)
}

/** The record whose waiver is signed next in this tab. */
export const waiverKey = 'roboKidsWaiverSession'
export const memberClass = 'membership'

/** Clears the draft of a contact message. */
export const messageKey = 'contactMessage'

export function forgetMessage(): void {
  session.remove(messageKey)
}

/** Clears a member's record; a registration's, which needs no account, stays. */
export function forgetMemberRecord(): void {
  if (session.get(waiverKey)?.includes(`"classType":"${memberClass}"`)) session.remove(waiverKey)
}
