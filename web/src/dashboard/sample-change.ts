import type { Change } from '@robokids/contracts/changes'

const level1 = {
  classSessionId: '019a0000-0000-7000-8000-000000000002',
  classType: 'basic' as const,
  levelTitle: 'Level 1 Foundations',
  startDate: '2030-02-26',
  startTime: '16:00',
  durationMinutes: 75,
  timeZone: 'America/Los_Angeles',
}

/** A move of one child for $100 more. */
export const sampleChange: Change = {
  changeId: '019a0000-0000-7000-8000-000000000003',
  kind: 'move',
  status: 'held',
  heldUntil: '2030-01-02T03:04:05.000Z',
  createdAt: '2030-01-02T02:04:05.000Z',
  terms: {
    kind: 'move',
    registrationId: '019a0000-0000-7000-8000-000000000001',
    lines: [
      {
        placeId: '019a0000-0000-8000-8000-000000000004',
        childName: 'Noa',
        paid: 40_000,
        price: 50_000,
        due: 10_000,
        back: 0,
      },
    ],
    from: level1,
    to: {
      ...level1,
      classSessionId: '019a0000-0000-7000-8000-000000000005',
      classType: 'intermediate',
      levelTitle: 'Level 2 Smart Robotics and Coding',
      startDate: '2030-03-05',
    },
    due: 10_000,
    back: 0,
    rule: { validFrom: '2025-01-01T08:00:00.000Z', percent: null, until: '2030-02-20T00:00:00.000Z', moves: 1 },
    kitShipped: false,
  },
}
