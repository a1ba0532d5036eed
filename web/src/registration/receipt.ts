import { z } from 'zod'
import { session } from '../storage.ts'
import type { RegistrationRecord } from './record.ts'

const receiptKey = 'roboKidsReceipt'

const line = z.string().default('')
const receiptSchema = z.object({
  registrationId: line,
  guardianName: line,
  email: line,
  childName: line,
  childAge: line,
  siblings: z.array(z.object({ childName: line, childAge: line })).default([]),
  address1: line,
  address2: line,
  city: line,
  state: line,
  zip: line,
  startDate: line,
  timestamp: z.union([z.string(), z.number()]).nullable().default(null),
})

/** What the receipt page shows, and keeps after the registration's own record is gone. */
export type ReceiptRecord = z.output<typeof receiptSchema>

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

export function readReceipt(): ReceiptRecord | undefined {
  try {
    return receiptSchema.safeParse(JSON.parse(session.get(receiptKey) ?? 'null')).data
  } catch {
    return undefined
  }
}

export function saveReceipt(receipt: ReceiptRecord): void {
  session.set(receiptKey, JSON.stringify(receipt))
}

export function forgetReceipt(): void {
  session.remove(receiptKey)
}
