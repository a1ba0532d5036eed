import { expect, it } from 'vitest'
import { fullText, ordinal, placeInLine, waitingTerms } from './waitlist-texts.ts'

it('A place in line is told as an ordinal number.', () => {
  expect([1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111, 112].map(ordinal)).toEqual([
    '1st',
    '2nd',
    '3rd',
    '4th',
    '11th',
    '12th',
    '13th',
    '21st',
    '22nd',
    '103rd',
    '111th',
    '112th',
  ])
  expect(placeInLine(3, 7)).toBe('3rd of 7 families')
  expect(placeInLine(1, 1)).toBe('1st of 1 family')
})

it('A full class says how many families wait for it.', () => {
  expect([1, 7].map(fullText)).toEqual(['Full. 1 family waits.', 'Full. 7 families wait.'])
})

it('The terms of waiting speak of one seat, or of several together.', () => {
  expect(waitingTerms(1)).toBe(
    'You wait for 1 seat. We offer seats in order. When 1 is free we email you and hold it for 24 hours (less close to the start). Nothing is charged now.',
  )
  expect(waitingTerms(2)).toBe(
    'You wait for 2 seats together. We offer seats in order. If fewer are free than you need, the next family may take them, and you keep your place. When 2 are free we email you and hold them for 24 hours (less close to the start). Nothing is charged now.',
  )
})
