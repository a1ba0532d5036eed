import { beforeEach, describe, expect, it } from 'vitest'
import { session } from '../browser/storage.ts'
import { forgetAccountDraft, signUpDraftKey } from '../browser/stored-data.ts'
import {
  forgetDraft,
  forgetSent,
  forgetStoredDraft,
  idToReplace,
  idToSend,
  mayHoldSeats,
  recordPaymentStarted,
  recordHold,
  recordRejection,
  readDraft,
  saveDraft,
} from './draft.ts'
import { readContent } from './read-content.ts'
import type { RegistrationContent } from './registration-content.ts'
import { emptyValues } from './sign-up-values.ts'

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

describe('a draft of an account', () => {
  it('outlives its tab, is nobody else’s, and goes when it was sent or the account is left', () => {
    const [maren, ada] = ['maren-id', 'ada-id']
    const closeTab = () => session.remove(signUpDraftKey)
    const nameFor = (userId: string | null) => readDraft(userId).guardianName
    saveDraft({ ...emptyValues, guardianName: 'Maren' }, maren)
    expect([nameFor(maren), nameFor(ada), nameFor(null)]).toEqual(['Maren', '', ''])
    closeTab()
    expect([nameFor(maren), nameFor(ada), nameFor(null)]).toEqual(['Maren', '', ''])
    forgetStoredDraft(maren)
    expect(nameFor(maren)).toBe('')

    saveDraft({ ...emptyValues, guardianName: 'Maren' }, maren)
    forgetAccountDraft(maren)
    expect(nameFor(maren)).toBe('')
    // A guest's draft stays, and the account that signs in takes it over.
    saveDraft({ ...emptyValues, guardianName: 'Guest' }, null)
    forgetAccountDraft(maren)
    expect([nameFor(maren), nameFor(null)]).toEqual(['Guest', 'Guest'])

    saveDraft({ ...emptyValues, guardianName: 'Ada' }, ada)
    forgetDraft()
    expect(nameFor(ada)).toBe('')
  })
})

describe('the draft', () => {
  it('is the empty form before anything was typed, and after it is forgotten', () => {
    expect(readDraft(null)).toEqual(emptyValues)
    saveDraft({ ...emptyValues, guardianName: 'Maren' }, null)
    expect(readDraft(null).guardianName).toBe('Maren')
    forgetDraft()
    expect(readDraft(null)).toEqual(emptyValues)
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

describe('idToReplace', () => {
  const hold = (changes: Partial<RegistrationContent> = {}) => {
    const id = idToSend(content(changes))
    const replaced = idToReplace(id)
    recordHold(id, id, replaced)
    return { id, replaced }
  }

  it('is the one before, each time a field is changed, and also when it is changed back', () => {
    const first = hold()
    const second = hold({ city: 'Cambridge' })
    const third = hold({ city: 'Fresno' })
    const again = hold()
    expect(first.replaced).toBeUndefined()
    expect([second.replaced, third.replaced, again.replaced]).toEqual([first.id, second.id, third.id])
    expect(again.id).toBe(first.id)
    expect(idToReplace(again.id)).toBeUndefined()
  })

  it('is the one that the server answered, where the very same stood already', () => {
    const existing = '019a0c3e-7b1d-7a2c-9f52-3f1c2d4e5a6b'
    recordHold(idToSend(content()), existing, undefined)
    expect(idToSend(content())).toBe(existing)
    expect(idToReplace(idToSend(content({ city: 'Fresno' })))).toBe(existing)
  })

  it('is none that holds nothing, or that the parent has been to pay for', () => {
    recordRejection(idToSend(content({ city: 'Cambridge' })))
    expect(idToReplace(idToSend(content()))).toBeUndefined()
    recordPaymentStarted(hold().id)
    expect(idToReplace(idToSend(content({ city: 'Fresno' })))).toBeUndefined()
    expect(mayHoldSeats('basic', '2027-01-08')).toBe(true)
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
    recordRejection(id)
    expect(mayHoldSeats('basic', '2027-01-08')).toBe(false)
    expect(idToSend(content())).toBe(id)
  })
})
