import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSearch, stringifySearch } from './search.ts'

describe('parseSearch', () => {
  it('keeps every value the text that was typed', () => {
    const search = parseSearch(
      '?childName=true&zipCode=02139&addressLine1=1e5&city=null&email=maren.holt%2Bx%40example.com&guardianName=Maren%20Holt',
    )
    expect(search).toEqual({
      childName: 'true',
      zipCode: '02139',
      addressLine1: '1e5',
      city: 'null',
      email: 'maren.holt+x@example.com',
      guardianName: 'Maren Holt',
    })
  })

  it('takes the first of a key that comes twice', () => {
    expect(parseSearch('?childName=Ivo&childName=Noa')).toEqual({ childName: 'Ivo' })
  })

  it('takes a key like __proto__ for a key', () => {
    const search = parseSearch('?__proto__=x')
    expect(Object.getPrototypeOf(search)).toBe(Object.prototype)
    expect(Object.keys(search)).toEqual(['__proto__'])
  })
})

describe('stringifySearch', () => {
  it('writes nothing for no values, and no quotes around values', () => {
    expect(stringifySearch({})).toBe('')
    expect(stringifySearch({ zipCode: '02139', a: undefined })).toBe('?zipCode=02139')
  })

  it('is undone by parseSearch, for any text', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' })), (search) => {
        expect(parseSearch(stringifySearch(search))).toEqual({ ...search })
      }),
    )
  })
})
