import type { RegistrationView } from '@robokids/contracts/bff'
import { z } from 'zod'
import type { Search } from '../search.ts'
import { local, session } from '../storage.ts'
import type { RegistrationContent } from './sign-up-values.ts'

const waiverSessionKey = 'roboKidsWaiverSession'
const localKey = 'roboKidsRegistration'

const text = z
  .union([z.string(), z.number()])
  .transform(String)
  .nullish()
  .transform((value) => value ?? '')

const child = z.object({ childName: text, childAge: text })

const storedSchema = z.object({
  registrationId: text,
  guardianName: text,
  email: text,
  ...child.shape,
  siblings: z.array(child).nullish(),
  addressLine1: text,
  addressLine2: text,
  city: text,
  state: text,
  zipCode: text,
  address: z.object({ line1: text, line2: text, city: text, state: text, zip: text }).nullish(),
  startDate: text,
  selectedDate: text,
  classType: text,
  timestamp: z.union([z.string(), z.number()]).nullish(),
})

/** A registration as this browser remembers it; what it does not know is an empty string. */
export interface RegistrationRecord {
  /** Empty for a record that was made of the address line: nobody can be asked about it. */
  registrationId: string
  guardianName: string
  email: string
  childName: string
  childAge: string
  siblings: { childName: string; childAge: string }[]
  addressLine1: string
  addressLine2: string
  city: string
  state: string
  zipCode: string
  startDate: string
  classType: string
  /** When it was made: an ISO string, or milliseconds. */
  timestamp: string | number | null
}

/** Reads a stored record in either of its shapes; `undefined` when it is none. */
export function parseRecord(stored: string): RegistrationRecord | undefined {
  let content: unknown
  try {
    content = JSON.parse(stored)
  } catch {
    return undefined
  }
  const parsed = storedSchema.safeParse(content).data
  if (!parsed) return undefined
  const { address, selectedDate, siblings, timestamp, ...flat } = parsed
  return {
    ...flat,
    siblings: siblings ?? [],
    addressLine1: flat.addressLine1 || (address?.line1 ?? ''),
    addressLine2: flat.addressLine2 || (address?.line2 ?? ''),
    city: flat.city || (address?.city ?? ''),
    state: flat.state || (address?.state ?? ''),
    zipCode: flat.zipCode || (address?.zip ?? ''),
    startDate: flat.startDate || selectedDate,
    timestamp: timestamp ?? null,
  }
}

export type StoredRecord = { state: 'missing' } | { state: 'corrupt' } | { state: 'found'; record: RegistrationRecord }

function read(stored: string | null): StoredRecord {
  if (stored === null || stored === '') return { state: 'missing' }
  const record = parseRecord(stored)
  return record ? { state: 'found', record } : { state: 'corrupt' }
}

export const readSessionRecord = (): StoredRecord => read(session.get(waiverSessionKey))
export const readLocalRecord = (): StoredRecord => read(local.get(localKey))

/** The record of this tab, else of this browser. */
export function savedRecord(): RegistrationRecord | undefined {
  for (const stored of [readSessionRecord(), readLocalRecord()]) if (stored.state === 'found') return stored.record
  return undefined
}

const queryFields = [
  'guardianName',
  'childName',
  'email',
  'startDate',
  'classType',
  'addressLine1',
  'addressLine2',
  'city',
  'state',
  'zipCode',
] as const

/** The record that the confirmation page's own address carries; without an email there is none. */
export function recordOfSearch(search: Search): RegistrationRecord | undefined {
  if (!search['email']) return undefined
  const fields = Object.fromEntries(queryFields.map((name) => [name, search[name] ?? '']))
  return {
    ...(fields as Record<(typeof queryFields)[number], string>),
    registrationId: '',
    childAge: '',
    siblings: [],
    timestamp: new Date().toISOString(),
  }
}

export function recordOfContent(registrationId: string, content: RegistrationContent): RegistrationRecord {
  return {
    ...content,
    registrationId,
    childAge: String(content.childAge),
    siblings: content.siblings.map(({ childName, childAge }) => ({
      childName,
      childAge: String(childAge),
    })),
    timestamp: new Date().toISOString(),
  }
}

export function recordOfView(view: RegistrationView): RegistrationRecord {
  const { registrationId, guardianName, email, address, startDate, classType } = view
  const [first, ...siblings] = view.children.map(({ childName, childAge }) => ({
    childName,
    childAge: String(childAge),
  }))
  return {
    registrationId,
    guardianName,
    email,
    childName: first?.childName ?? '',
    childAge: first?.childAge ?? '',
    siblings,
    ...address,
    startDate,
    classType,
    timestamp: view.checkout?.paidAt ?? new Date().toISOString(),
  }
}

export function saveSessionRecord(record: RegistrationRecord): void {
  session.set(waiverSessionKey, JSON.stringify(record))
}

/** The registration that the parent goes to pay for: in this tab for the waiver, in this browser for the way back. */
export function saveRecords(record: RegistrationRecord): void {
  saveSessionRecord(record)
  local.set(localKey, JSON.stringify(record))
}

export function forgetRecords(): void {
  session.remove(waiverSessionKey)
  local.remove(localKey)
}
