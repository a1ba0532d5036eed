import type { RegistrationView } from '@robokids/contracts/bff'
import { local, session } from '../browser/storage.ts'
import { memberClass, waiverKey } from '../browser/stored-data.ts'
import type { RegistrationContent } from './registration-content.ts'

const localKey = 'roboKidsRegistration'

/** A registration as stored in this browser; unknown values are empty strings. */
export interface RegistrationRecord {
  /** Empty for a record from the URL, which cannot be verified. */
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
  /** The creation time: an ISO string, or milliseconds. */
  timestamp: string | number | null
}

type Stored = Record<string, unknown>

const isObject = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first of these keys with a value. Zip codes and ages may be stored as numbers. */
function line(stored: Stored, ...keys: string[]): string {
  for (const key of keys) {
    const value = stored[key]
    if (typeof value === 'number') return String(value)
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

const readChild = (stored: Stored) => ({ childName: line(stored, 'childName'), childAge: line(stored, 'childAge') })

/** Parses a stored record in any of its shapes (flat, nested address, receipt); `undefined` if invalid. */
export function parseRecord(stored: string): RegistrationRecord | undefined {
  let record: unknown
  try {
    record = JSON.parse(stored)
  } catch {
    return undefined
  }
  if (!isObject(record)) return undefined
  const { siblings, timestamp } = record
  const address = isObject(record['address']) ? record['address'] : {}
  const place = (key: string, ...otherKeys: string[]) =>
    line(record, key, ...otherKeys) || line(address, key, ...otherKeys)
  return {
    registrationId: line(record, 'registrationId'),
    guardianName: line(record, 'guardianName'),
    email: line(record, 'email'),
    ...readChild(record),
    siblings: Array.isArray(siblings) ? siblings.filter(isObject).map(readChild) : [],
    addressLine1: place('addressLine1', 'address1', 'line1'),
    addressLine2: place('addressLine2', 'address2', 'line2'),
    city: place('city'),
    state: place('state'),
    zipCode: place('zipCode', 'zip'),
    startDate: line(record, 'startDate', 'selectedDate'),
    classType: line(record, 'classType'),
    timestamp: typeof timestamp === 'string' || typeof timestamp === 'number' ? timestamp : null,
  }
}

export type StoredRecord = { state: 'missing' } | { state: 'corrupt' } | { state: 'found'; record: RegistrationRecord }

function read(stored: string | null): StoredRecord {
  if (stored === null || stored === '') return { state: 'missing' }
  const record = parseRecord(stored)
  return record ? { state: 'found', record } : { state: 'corrupt' }
}

export const readSessionRecord = (): StoredRecord => read(session.get(waiverKey))
export const readLocalRecord = (): StoredRecord => read(local.get(localKey))

/** The record of this tab, or else of this browser. */
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

/** A search parameter of the confirmation page that a record can be read from. */
export type RecordParameter = (typeof queryFields)[number]

/** The record in the confirmation page's search parameters; requires an email. */
export function recordOfSearch(search: { [Name in RecordParameter]?: string | undefined }):
  | RegistrationRecord
  | undefined {
  if (!search.email) return undefined
  const fields = Object.fromEntries(queryFields.map((name) => [name, search[name] ?? '']))
  return {
    ...(fields as Record<RecordParameter, string>),
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

/** A member's record has the membership's id as its registration id. */
export const isOfMember = ({ classType }: Pick<RegistrationRecord, 'classType'>) => classType === memberClass

/** A member's record for the waiver page: a membership has no child until its waiver is signed. */
export function recordOfMembership(membershipId: string, known: Partial<RegistrationRecord> = {}): RegistrationRecord {
  return {
    guardianName: '',
    email: '',
    childName: '',
    childAge: '',
    siblings: [],
    addressLine1: '',
    addressLine2: '',
    city: '',
    state: '',
    zipCode: '',
    startDate: '',
    timestamp: new Date().toISOString(),
    ...known,
    registrationId: membershipId,
    classType: memberClass,
  }
}

export function saveSessionRecord(record: RegistrationRecord): void {
  session.set(waiverKey, JSON.stringify(record))
}

/** Stores the registration that is being paid: in this tab for the waiver, in this browser for the return. */
export function saveRecords(record: RegistrationRecord): void {
  saveSessionRecord(record)
  local.set(localKey, JSON.stringify(record))
}

export function forgetRecords(): void {
  session.remove(waiverKey)
  local.remove(localKey)
}
