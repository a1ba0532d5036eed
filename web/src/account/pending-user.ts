import type { MembershipPlan } from '@robokids/contracts/auth'
import { session } from '../browser/storage.ts'
import { draftKey, pendingKey } from '../browser/stored-data.ts'

/** The values of the membership registration form as typed, without the passwords, which are never stored. */
export interface MemberValues {
  given_name: string
  family_name: string
  email: string
  birthdate: string
  phone_number: string
  street: string
  city: string
  state: string
  zip: string
  plan: MembershipPlan
  classDate: string
}

export const noValues: MemberValues = {
  given_name: '',
  family_name: '',
  email: '',
  birthdate: '',
  phone_number: '',
  street: '',
  city: '',
  state: '',
  zip: '',
  plan: 'monthly',
  classDate: '',
}

/** A user who has signed up in this tab: the form's values, with the phone number normalized and the address in one line. */
export interface PendingUser extends MemberValues {
  address: string
  /** Milliseconds. */
  signedUpAt: number
  /** The masked destination of the code; empty if none was sent. */
  codeSentTo: string
  /** The membership is paid, or existed already. */
  isMember?: boolean
}

function readObject(key: string): Record<string, unknown> | undefined {
  try {
    const stored: unknown = JSON.parse(session.get(key) ?? 'null')
    return typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const line = (value: unknown) => (typeof value === 'string' ? value : '')

function valuesOf(stored: Record<string, unknown>): MemberValues {
  const lines = Object.keys(noValues).map((name) => [name, line(stored[name])])
  return { ...(Object.fromEntries(lines) as MemberValues), plan: stored['plan'] === 'yearly' ? 'yearly' : 'monthly' }
}

export function readMemberDraft(): MemberValues {
  const stored = readObject(draftKey)
  return stored ? valuesOf(stored) : noValues
}

export function saveMemberDraft(values: MemberValues): void {
  session.set(draftKey, JSON.stringify(values))
}

export function readPendingUser(): PendingUser | undefined {
  const stored = readObject(pendingKey)
  if (!stored || line(stored['email']) === '') return undefined
  return {
    ...valuesOf(stored),
    address: line(stored['address']),
    codeSentTo: line(stored['codeSentTo']),
    isMember: stored['isMember'] === true,
    signedUpAt: typeof stored['signedUpAt'] === 'number' ? stored['signedUpAt'] : 0,
  }
}

export function savePendingUser(user: PendingUser): void {
  session.set(pendingKey, JSON.stringify(user))
}
