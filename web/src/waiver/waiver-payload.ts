import type { RegistrationRecord } from '../registration/record.ts'

/**
 * The body of `POST /api/waivers`: the specified fields, the registration and the document.
 * @param replaces the signature of a membership that this one replaces
 */
export function waiverPayload(record: RegistrationRecord, documentSha256: string | null, replaces?: string) {
  const { registrationId, guardianName, childName, email, startDate, classType } = record
  const { addressLine1, addressLine2, city, state, zipCode } = record
  return {
    ...(registrationId ? { registrationId } : {}),
    ...(replaces === undefined ? {} : { replaces }),
    guardianName,
    childName,
    childAge: record.childAge.trim() === '' ? '' : Number(record.childAge),
    // A member may sign in a browser that does not know it; the membership has its own.
    ...(email === '' ? {} : { email }),
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
