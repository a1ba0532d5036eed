import type { LevelClassType, RegistrationRequest } from '@robokids/contracts/enrollment'
import type { RegistrationRecord } from './record.ts'

export interface ChildValues {
  childName: string
  childAge: string
}

/** What stands in the sign-up form's fields, as typed. There is always a first child. */
export interface SignUpValues {
  guardianName: string
  email: string
  addressLine1: string
  addressLine2: string
  city: string
  state: string
  zipCode: string
  startDate: string
  children: ChildValues[]
}

export const noChild: ChildValues = { childName: '', childAge: '' }

export const emptyValues: SignUpValues = {
  guardianName: '',
  email: '',
  addressLine1: '',
  addressLine2: '',
  city: '',
  state: '',
  zipCode: '',
  startDate: '',
  children: [noChild],
}

/** What is sent beside what the form says. */
export const notOfTheForm = { id: true, replaces: true, unlessRegistered: true, familyTimeZone: true } as const

/** What the form says. */
export type RegistrationContent = Omit<RegistrationRequest, keyof typeof notOfTheForm> & {
  classType: LevelClassType
}

/** Puts a saved registration back into the form. */
export function valuesOfRecord(record: RegistrationRecord): SignUpValues {
  const {
    guardianName,
    email,
    addressLine1,
    addressLine2,
    city,
    state,
    zipCode,
    startDate,
    childName,
    childAge,
    siblings,
  } = record
  const children = [{ childName, childAge }, ...siblings]
  return { guardianName, email, addressLine1, addressLine2, city, state, zipCode, startDate, children }
}
