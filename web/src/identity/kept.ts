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
