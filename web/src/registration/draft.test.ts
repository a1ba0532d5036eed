import { beforeEach, describe, expect, it } from 'vitest'
import { forgetDraft, forgetSent, idToSend, readDraft, saveDraft, mayHoldSeats, noteRefused } from './draft.ts'
import { readContent } from './read-content.ts'
import { emptyValues, type RegistrationContent } from './sign-up-values.ts'

function content(changes: Partial<RegistrationContent> = {}): RegistrationContent {
  const read = readContent(
    {
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      addressLine1: '14 Alder Way',
      addressLine2: '',
      city: 'San Mateo',
      state: 'CA',
      zipCode: '94401',
      startDate: '2027-01-08',
      children: [{ childName: 'Ivo', childAge: '9' }],
    },
    'basic',
  )
  if (!('content' in read)) throw new Error('a good form was refused')
  return { ...read.content, ...changes }
}

beforeEach(forgetDraft)

describe('the draft', () => {
  it('is the empty form before anything was typed, and after it is forgotten', () => {
    expect(readDraft()).toEqual(emptyValues)
    saveDraft({ ...emptyValues, guardianName: 'Maren' })
    expect(readDraft().guardianName).toBe('Maren')
    forgetDraft()
    expect(readDraft()).toEqual(emptyValues)
  })
})

describe('idToSend', () => {
  it('is the same for the same content', () => {
    expect(idToSend(content())).toBe(idToSend(content()))
  })

  it('is another one whenever a field changes, and the old one when it is changed back', () => {
    const first = idToSend(content())
    const others = [
      content({ city: 'Cambridge' }),
      content({ classType: 'custom' }),
      content({ siblings: [{ childName: 'Noa', childAge: 7 }] }),
    ]
    expect(new Set([first, ...others.map(idToSend)]).size).toBe(4)
    expect(idToSend(content())).toBe(first)
  })

  it('is new once the old one is used up', () => {
    const first = idToSend(content())
    forgetSent(first)
    expect(idToSend(content())).not.toBe(first)
  })
})

describe('mayHoldSeats', () => {
  it('knows the class and date that this form holds seats of', () => {
    idToSend(content())
    expect(mayHoldSeats('basic', '2027-01-08')).toBe(true)
    expect(mayHoldSeats('basic', '2027-01-09')).toBe(false)
    expect(mayHoldSeats('custom', '2027-01-08')).toBe(false)
  })

  it('is over once the server refused', () => {
    const id = idToSend(content())
    noteRefused(id)
    expect(mayHoldSeats('basic', '2027-01-08')).toBe(false)
    expect(idToSend(content())).toBe(id)
  })
})
