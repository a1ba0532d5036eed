import { describe, expect, it } from 'vitest'
import { errorsByField } from '../forms/field-errors.ts'
import { readContent } from './read-content.ts'
import { recordOfContent } from './record.ts'
import { fieldsInOrder } from './sign-up-fields.ts'
import { emptyValues, type SignUpValues, valuesOfRecord } from './sign-up-values.ts'

const maren: SignUpValues = {
  guardianName: ' Maren Holt ',
  email: 'maren.holt@example.com',
  addressLine1: '14 Alder Way',
  addressLine2: '',
  city: 'San Mateo',
  state: 'CA',
  zipCode: '94401 ',
  startDate: '2027-01-08',
  children: [{ childName: 'Ivo', childAge: '9' }],
}

function errors(changes: Partial<SignUpValues>) {
  const read = readContent({ ...maren, ...changes }, 'basic')
  return 'errors' in read ? read.errors : {}
}

describe('readContent', () => {
  it('makes the specified fields of the form', () => {
    expect(readContent(maren, 'basic')).toEqual({
      content: {
        guardianName: 'Maren Holt',
        email: 'maren.holt@example.com',
        childName: 'Ivo',
        childAge: 9,
        siblings: [],
        addressLine1: '14 Alder Way',
        addressLine2: '',
        city: 'San Mateo',
        state: 'CA',
        zipCode: '94401',
        startDate: '2027-01-08',
        classType: 'basic',
      },
    })
  })

  it('names every required field of an empty form, and not the optional one', () => {
    const read = readContent(emptyValues, 'custom')
    if (!('errors' in read)) throw new Error('an empty form was taken')
    const required = fieldsInOrder(1).filter((name) => name !== 'addressLine2')
    expect(Object.keys(read.errors).toSorted()).toEqual(required.toSorted())
  })

  it.each(['2139', '94401-1234', '９４４０１', 'abcde'])('refuses the zip code %s', (zipCode) => {
    expect(errors({ zipCode })).toEqual({ zipCode: 'Zip code must be exactly five digits.' })
  })

  it('keeps the zero that a zip code begins with', () => {
    expect(readContent({ ...maren, zipCode: '02139' }, 'basic')).toMatchObject({
      content: { zipCode: '02139' },
    })
  })

  it.each(['4', '-9', '9.5', 'nine', '1e1', ''])('refuses the age %j', (childAge) => {
    expect(Object.keys(errors({ children: [{ childName: 'Ivo', childAge }] }))).toEqual(['childAge'])
  })

  it('tells errors of siblings under the names that the server uses', () => {
    const children = [maren.children[0]!, { childName: 'Noa', childAge: '7' }, { childName: '', childAge: '3' }]
    expect(errors({ children })).toEqual({
      'siblings.1.childName': "Child's first name is required.",
      'siblings.1.childAge': 'A child must be at least 5 years old.',
    })
  })
})

describe('errorsByField', () => {
  it('keeps the first message of a field', () => {
    expect(
      errorsByField([
        { path: 'email', message: 'one' },
        { path: 'email', message: 'two' },
      ]),
    ).toEqual({ email: 'one' })
  })
})

describe('valuesOfRecord', () => {
  it('brings what was sent back into the form', () => {
    const children = [maren.children[0]!, { childName: 'Noa', childAge: '7' }]
    const read = readContent({ ...maren, children }, 'basic')
    if (!('content' in read)) throw new Error('a good form was refused')
    expect(
      readContent(valuesOfRecord(recordOfContent('019a0c3e-7b1d-7a2c-9f52-3f1c2d4e5a6b', read.content)), 'basic'),
    ).toEqual(read)
  })
})
