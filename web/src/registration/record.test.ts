import { waiverBodySchema } from '@robokids/contracts/bff'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseSearch } from '../browser/search.ts'
import { session } from '../browser/storage.ts'
import { waiverPayload } from '../waiver/waiver-payload.ts'
import { forgetReceipt, readReceipt, receiptOf, saveReceipt } from './kept-receipt.ts'
import {
  forgetRecords,
  parseRecord,
  readLocalRecord,
  readSessionRecord,
  recordOfSearch,
  recordOfView,
  savedRecord,
  saveRecords,
  saveSessionRecord,
} from './record.ts'
import { sampleView } from './sample-view.ts'

beforeEach(() => {
  forgetRecords()
  forgetReceipt()
})

describe('parseRecord', () => {
  it('reads the variant with selectedDate and a nested address', () => {
    const record = parseRecord(
      JSON.stringify({
        guardianName: 'Maren Holt',
        email: 'maren.holt@example.com',
        classType: 'basic',
        selectedDate: '2025-10-03',
        address: {
          line1: '14 Alder Way',
          line2: 'Unit 2',
          city: 'Cambridge',
          state: 'MA',
          zip: '02139',
        },
        timestamp: 1_758_000_000_000,
      }),
    )
    expect(record).toMatchObject({
      startDate: '2025-10-03',
      addressLine1: '14 Alder Way',
      addressLine2: 'Unit 2',
      city: 'Cambridge',
      zipCode: '02139',
      childName: '',
      timestamp: 1_758_000_000_000,
    })
  })

  it.each(['{"guardianName":', '[]', '"text"', '7', 'null'])('takes %s for no record', (stored) => {
    expect(parseRecord(stored)).toBeUndefined()
  })

  it('reads back what was saved', () => {
    const record = recordOfView(sampleView())
    expect(parseRecord(JSON.stringify(record))).toEqual(record)
  })
})

describe('the saved records', () => {
  it('are missing, corrupt or found', () => {
    expect(readSessionRecord()).toEqual({ state: 'missing' })
    session.set('roboKidsWaiverSession', '{half')
    expect(readSessionRecord()).toEqual({ state: 'corrupt' })
    saveSessionRecord(recordOfView(sampleView()))
    expect(readSessionRecord()).toMatchObject({ state: 'found' })
  })

  it("falls back from this tab's record to this browser's", () => {
    const record = recordOfView(sampleView())
    saveRecords(record)
    expect(readLocalRecord()).toEqual({ state: 'found', record })
    session.remove('roboKidsWaiverSession')
    expect(savedRecord()).toEqual(record)
  })
})

describe('recordOfSearch', () => {
  it('keeps every value as typed', () => {
    const search = parseSearch(
      '?guardianName=Maren%20Holt&childName=true&email=maren.holt%2Bx%40example.com&startDate=2027-01-08&classType=basic&addressLine1=1e5&city=null&state=CA&zipCode=02139',
    )
    expect(recordOfSearch(search)).toMatchObject({
      guardianName: 'Maren Holt',
      childName: 'true',
      email: 'maren.holt+x@example.com',
      addressLine1: '1e5',
      addressLine2: '',
      city: 'null',
      zipCode: '02139',
    })
  })

  it('has a fresh ISO timestamp', () => {
    const { timestamp } = recordOfSearch({ email: 'maren.holt@example.com' })!
    expect(new Date(timestamp!).toISOString()).toBe(timestamp)
  })

  it('is nothing without an email', () => {
    expect(recordOfSearch({ guardianName: 'Maren Holt', email: '' })).toBeUndefined()
  })
})

describe('waiverPayload', () => {
  it('sends the specified fields in a shape that the server takes', () => {
    const payload = waiverPayload(recordOfView(sampleView()), 'a'.repeat(64))
    expect(payload).toMatchObject({
      guardianName: 'Maren Holt',
      childAge: 9,
      startDate: '2025-10-03',
      zipCode: '02139',
    })
    expect(waiverBodySchema.safeParse(payload).success).toBe(true)
  })

  it('has an empty age where none is known, and a time in milliseconds where there is none', () => {
    const payload = waiverPayload({ ...recordOfView(sampleView()), childAge: '', timestamp: null }, null)
    expect(payload.childAge).toBe('')
    expect(payload.timestamp).toBeTypeOf('number')
  })
})

describe('the receipt', () => {
  it('outlives the registration record', () => {
    saveReceipt(receiptOf(recordOfView(sampleView())))
    forgetRecords()
    expect(readReceipt()).toMatchObject({
      guardianName: 'Maren Holt',
      address1: '14 Alder Way',
      zip: '02139',
      childAge: '9',
    })
  })
})
