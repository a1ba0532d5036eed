import { session } from '../storage.ts'

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

/** Whose waiver is signed next in this tab. */
export const waiverKey = 'roboKidsWaiverSession'
export const memberClass = 'membership'

/** A member's alone: that of a registration, which takes no account, stays. */
export function forgetMemberRecord(): void {
  if (session.get(waiverKey)?.includes(`"classType":"${memberClass}"`)) session.remove(waiverKey)
}
