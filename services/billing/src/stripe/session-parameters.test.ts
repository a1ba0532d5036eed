import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import { describe, expect, it } from 'vitest'
import { sessionParameters } from './session-parameters.ts'

const at = (text: string) => Temporal.Instant.from(text)

describe('the parameters of a session', () => {
  const purchase: RegistrationFacts = {
    registrationId: '01934c00-0000-7000-8000-000000000001',
    guardianName: 'Ada Lind',
    email: 'ada.lind@example.com',
    children: [
      { childName: 'Ivo', childAge: 8 },
      { childName: 'Noa', childAge: 10 },
    ],
    address: { addressLine1: '1 Main St', addressLine2: '', city: 'Fresno', state: 'CA', zipCode: '93650' },
    classSessionId: '01934c00-0000-7000-8000-000000000002',
    classType: 'basic',
    levelTitle: 'Level 1 Foundations',
    startDate: '2027-01-08',
    startTime: '16:00',
    durationMinutes: 75,
    timeZone: 'America/Los_Angeles',
  }
  const parameters = (facts = purchase, quantity = 1) =>
    sessionParameters('attempt', facts, { unitAmount: 40_000, quantity }, at('2026-11-28T00:31:00Z'), 'https://x')

  it('contain the day of the class, whatever the machine’s time zone', () => {
    expect(parameters().line_items[0]?.price_data.product_data).toEqual({
      name: 'Level 1 Foundations: Friday, January 8, 2027',
      description: 'For 2 children, 1 of them free',
    })
  })

  it('contain no child’s name or address', () => {
    expect(JSON.stringify(parameters())).not.toMatch(/Ivo|Noa|Fresno/)
  })

  it('survive a JSON round trip byte for byte', () => {
    const once = JSON.stringify(parameters())
    expect(JSON.stringify(JSON.parse(once))).toBe(once)
  })

  it('reject an invalid date', () => {
    expect(() => parameters({ ...purchase, startDate: '2027-02-30' })).toThrow(DomainError)
  })
})
