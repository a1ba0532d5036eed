import type { RegistrationRecord } from './record.ts'

export interface ChildValues {
  childName: string
  childAge: string
}

/** The values of the sign-up form as typed. There is always a first child. */
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

export type TextField = Exclude<keyof SignUpValues, 'children'>
export const textFields = Object.keys(emptyValues).filter((name): name is TextField => name !== 'children')

export const addressFields = ['addressLine1', 'addressLine2', 'city', 'state', 'zipCode'] as const

export const isEmptyChild = ({ childName, childAge }: ChildValues) => childName === '' && childAge === ''

/** Fills empty fields with known values. An address is taken as a whole or not at all, and so are the children. */
export function fillEmpty(values: SignUpValues, known: Partial<SignUpValues>): SignUpValues {
  const filled = { ...values }
  for (const name of ['guardianName', 'email', 'startDate'] as const) filled[name] ||= known[name] ?? ''
  if (addressFields.every((name) => values[name] === ''))
    for (const name of addressFields) filled[name] = known[name] ?? ''
  if (known.children && values.children.every(isEmptyChild)) filled.children = known.children
  return filled
}

/** Restores a saved registration into the form. */
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
