import { composeAddress, type Profile } from '@robokids/contracts/auth'
import { describe, expect, it } from 'vitest'
import { valuesOfProfile, withFamily } from './account-values.ts'
import { emptyValues, fillEmpty } from './sign-up-values.ts'

const profile = (address: string) =>
  ({ givenName: 'Maren', familyName: 'Holt', email: 'maren.holt@example.com', address }) as Profile

describe('What an account says of a sign-up form', () => {
  it.each([
    { street: '14 Alder Way', city: 'Cambridge', state: 'MA', zip: '02139' },
    { street: '14 Alder Way, Apt 2, Back', city: 'San Mateo', state: 'New Mexico', zip: '94401' },
  ])('takes the address of a registration apart again: %o', (address) => {
    expect(valuesOfProfile(profile(composeAddress(address)))).toEqual({
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      addressLine1: address.street,
      city: address.city,
      state: address.state,
      zipCode: address.zip,
    })
  })

  it.each(['', '14 Alder Way', 'Box 7, Reykjavík'])(
    'leaves an address of another shape to the parent: "%s"',
    (address) => {
      expect(valuesOfProfile(profile(address))).toMatchObject({ addressLine1: '', city: '', zipCode: '' })
    },
  )

  it('is the only child of earlier registrations, and the address that the profile lacks; of several children none', () => {
    const address = { addressLine1: '14 Alder Way', addressLine2: 'B', city: 'Durham', state: 'NC', zipCode: '27701' }
    const [ivo, noa] = [
      { childName: 'Ivo', childAge: 9 },
      { childName: 'Noa', childAge: 11 },
    ] as const
    const one = withFamily(valuesOfProfile(profile('')), { children: [ivo], address })
    expect(fillEmpty(emptyValues, one.values)).toMatchObject({
      ...address,
      children: [{ childName: 'Ivo', childAge: '9' }],
    })
    const elsewhere = valuesOfProfile(profile('1 Main St, Cambridge, MA 02139'))
    const two = withFamily(elsewhere, { children: [ivo, noa], address })
    expect(fillEmpty(emptyValues, two.values)).toMatchObject({ city: 'Cambridge', children: emptyValues.children })
    expect(two.children).toHaveLength(2)
  })

  it('is not put over what was typed, and an address is one parent’s or the account’s, never half of each', () => {
    const known = valuesOfProfile(profile('14 Alder Way, Cambridge, MA 02139'))
    expect(fillEmpty({ ...emptyValues, guardianName: 'Ada Lind', city: 'Boston' }, known)).toEqual({
      ...emptyValues,
      guardianName: 'Ada Lind',
      email: 'maren.holt@example.com',
      city: 'Boston',
    })
    expect(fillEmpty(emptyValues, known)).toMatchObject({ addressLine1: '14 Alder Way', zipCode: '02139' })
  })
})
