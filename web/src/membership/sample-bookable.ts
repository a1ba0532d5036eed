import type { BookableClasses, MemberClass } from '@robokids/contracts/member-classes'

const membershipId = '019a0000-0000-7000-8000-0000000000b1'

/** A members' class at 4 PM Pacific. */
function on(classDate: string, startsAt: string, changeUntil: string) {
  const classSessionId = `019a0000-0000-7000-8000-0000${classDate.replaceAll('-', '')}`
  const time = { startTime: '16:00', timeZone: 'America/Los_Angeles', durationMinutes: 75 }
  return { classSessionId, classDate, ...time, startsAt, changeUntil }
}

const friday = on('2027-02-12', '2027-02-13T00:00:00.000Z', '2027-02-12T00:00:00.000Z')
const saturday = on('2027-02-13', '2027-02-14T00:00:00.000Z', '2027-02-13T00:00:00.000Z')
const sunday = on('2027-02-14', '2027-02-15T00:00:00.000Z', '2027-02-14T00:00:00.000Z')
const monday = on('2027-02-15', '2027-02-16T00:00:00.000Z', '2027-02-15T00:00:00.000Z')

/** For tests: a booked class on Saturday. */
export const sampleMemberClass: MemberClass = {
  bookingId: '019a0000-0000-7000-8000-0000000000b2',
  membershipId,
  ...saturday,
}

/** For tests: a member on January 19, 2027, with two classes to book and one booked. */
export function sampleBookable(
  own: Partial<BookableClasses['memberships'][number]> = {},
  membership: Partial<NonNullable<BookableClasses['membership']>> = {},
): BookableClasses {
  return {
    now: '2027-01-19T18:00:00.000Z',
    memberships: [{ membershipId, credits: 2, hasEnded: false, booked: [sampleMemberClass], ...own }],
    dates: [
      { ...friday, seatsLeft: 4 },
      { ...saturday, seatsLeft: 5 },
      { ...sunday, seatsLeft: 0 },
      { ...monday, seatsLeft: 1 },
    ],
    membership: {
      membershipId,
      status: 'active',
      endsAt: null,
      nextClassAt: '2027-02-03T18:00:00.000Z',
      unpaid: null,
      ...membership,
    },
  }
}
