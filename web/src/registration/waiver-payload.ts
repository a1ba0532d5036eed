import type { RegistrationRecord } from './record.ts'

/** What `POST /api/waivers` gets: the specified fields, and which registration and which document are meant. */
export function waiverPayload(record: RegistrationRecord, documentSha256: string | null) {
  const { registrationId, guardianName, childName, email, startDate, classType } = record
  const { addressLine1, addressLine2, city, state, zipCode } = record
  return {
    ...(registrationId ? { registrationId } : {}),
    guardianName,
    childName,
    childAge: record.childAge.trim() === '' ? '' : Number(record.childAge),
    email,
    startDate,
    classType,
    addressLine1,
    addressLine2,
    city,
    state,
    zipCode,
    timestamp: record.timestamp ?? Date.now(),
    documentSha256,
  }
}
