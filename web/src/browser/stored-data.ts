import { local, session } from './storage.ts'

/** What this tab keeps of a registration, and how it is forgotten: apart, because every page can log out. */
export const draftKey = 'membershipDraft'
export const pendingKey = 'pendingUser'

/** The registration is done: nothing of it needs typing again. */
export function forgetMemberDraft(): void {
  session.remove(draftKey)
}

export function forgetPendingUser(): void {
  session.remove(pendingKey)
  forgetMemberDraft()
}

export const signUpDraftKey = 'roboKidsSignUpDraft'
/** Where a parent's draft is kept in this browser, beyond its tab. */
export const draftOf = (userId: string) => `${signUpDraftKey}:${userId}`

/** What this account's parent typed into a sign-up form; that of a guest, who has no account, stays. */
export function forgetAccountDraft(userId: string): void {
  local.remove(draftOf(userId))
  if (session.get(signUpDraftKey)?.includes(userId)) session.remove(signUpDraftKey)
}

/** Whose waiver is signed next in this tab. */
export const waiverKey = 'roboKidsWaiverSession'
export const memberClass = 'membership'

/** What this tab keeps of a message to us. */
export const messageKey = 'contactMessage'

export function forgetMessage(): void {
  session.remove(messageKey)
}

/** A member's alone: that of a registration, which takes no account, stays. */
export function forgetMemberRecord(): void {
  if (session.get(waiverKey)?.includes(`"classType":"${memberClass}"`)) session.remove(waiverKey)
}
