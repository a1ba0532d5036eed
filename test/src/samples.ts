import { randomUUIDv7 } from 'node:crypto'

/** A registration form without the class; every call has another id. */
export function sampleFamily() {
  return {
    id: randomUUIDv7(),
    guardianName: 'Maren Holt',
    childName: 'Ivo',
    childAge: 9,
    email: 'maren.holt@example.com',
    addressLine1: '14 Alder Way',
    addressLine2: '',
    city: 'San Mateo',
    state: 'CA',
    zipCode: '94401',
  }
}

/** A sign-up form. */
export function sampleMember(email: string) {
  return {
    given_name: 'Maren',
    family_name: 'Holt',
    email,
    password: 'Robot-2030!',
    birthdate: '1990-02-28',
    phone_number: '(650) 555-0123',
    street: '14 Alder Way',
    city: 'San Mateo',
    state: 'CA',
    zip: '94401',
  }
}
