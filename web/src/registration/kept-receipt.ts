import { session } from '../browser/storage.ts'
import { parseRecord, type RegistrationRecord } from './record.ts'

const receiptKey = 'roboKidsReceipt'

/** The data of the receipt page, kept after the registration's record is cleared. */
export interface ReceiptRecord extends Pick<
  RegistrationRecord,
  | 'registrationId'
  | 'guardianName'
  | 'email'
  | 'childName'
  | 'childAge'
  | 'siblings'
  | 'city'
  | 'state'
  | 'startDate'
  | 'timestamp'
> {
  address1: string
  address2: string
  zip: string
}

export function receiptOf(record: RegistrationRecord): ReceiptRecord {
  const { registrationId, guardianName, email, childName, childAge, siblings, city, state, startDate, timestamp } =
    record
  const { addressLine1: address1, addressLine2: address2, zipCode: zip } = record
  return {
    registrationId,
    guardianName,
    email,
    childName,
    childAge,
    siblings,
    address1,
    address2,
    city,
    state,
    zip,
    startDate,
    timestamp,
  }
}

/** Undefined if nothing valid is stored. */
export function readReceipt(): ReceiptRecord | undefined {
  const stored = session.get(receiptKey)
  const record = stored === null ? undefined : parseRecord(stored)
  return record && receiptOf(record)
}

export function saveReceipt(receipt: ReceiptRecord): void {
  session.set(receiptKey, JSON.stringify(receipt))
}

export function forgetReceipt(): void {
  session.remove(receiptKey)
}
