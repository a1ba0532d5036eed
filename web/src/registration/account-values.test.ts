import { composeAddress, type Profile } from '@robokids/contracts/auth'
import { describe, expect, it } from 'vitest'
import { valuesOfProfile } from './account-values.ts'
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
