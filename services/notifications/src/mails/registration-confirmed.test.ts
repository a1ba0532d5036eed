import { registrationConfirmed } from '@robokids/contracts/enrollment'
import { expect, it } from 'vitest'
import sample from '@robokids/contracts/samples/registration.confirmed.json' with { type: 'json' }
import { beginning, registrationConfirmedMail } from './registration-confirmed.ts'

const { data } = registrationConfirmed.schema.parse(sample)
const theClass = { ...data, startDate: '2027-01-08', startTime: '16:00', timeZone: 'America/Los_Angeles', meetings: [] }
const at = (time: string) => Temporal.ZonedDateTime.from(`2027-01-08T${time}[America/Los_Angeles]`).toInstant()

it.each([
  ['14:59', undefined],
  ['15:00', 'The class begins today at 4:00 PM Pacific.'],
  ['15:20', 'The class begins today at 4:00 PM Pacific.'],
  ['16:00', 'The class began today at 4:00 PM Pacific.'],
  ['18:00', undefined],
])('A confirmation at %s of a class at 16:00 says: %s', (time, text) => {
  expect(beginning({ ...theClass, durationMinutes: 75 }, at(time))).toBe(text)
})

it('A confirmation of a class whose first meeting was moved says when it begins now', () => {
  const moved = {
    number: 1,
    date: '2027-01-08',
    startTime: '17:00',
    durationMinutes: 75,
    startsAt: '2027-01-09T01:00:00Z',
  }
  expect(beginning({ ...theClass, meetings: [moved] }, at('16:30'))).toBe('The class begins today at 5:00 PM Pacific.')
})

it('A confirmation within the last hour says where the class link is, and that the waiver comes first', () => {
  const soon = { ...theClass, durationMinutes: 75 }
  const [signed, unsigned] = [true, false].map((isSigned) =>
    registrationConfirmedMail(soon, 'https://robokids.example', isSigned, at('15:20')),
  )
  expect(signed?.text).toContain('begins today at 4:00 PM Pacific. The class link is on the page of your registration.')
  expect(unsigned?.text).toMatch(/begins today at 4:00 PM Pacific\./)
  expect(unsigned?.text.replaceAll(/\s+/g, ' ')).toContain(
    'The class link is on the page of your registration as soon as it’s signed',
  )
})
