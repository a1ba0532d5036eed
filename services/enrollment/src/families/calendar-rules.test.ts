import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { updateEntries, type FeedEntry, type KnownEntry } from './calendar-rules.ts'

const now = Temporal.Instant.from('2027-01-10T00:00:00Z')
const entry = (number: number, days: number, title = 'Level 1 (Ivo)'): FeedEntry => ({
  entryId: `meeting-${number}`,
  title,
  startsAt: now.add({ hours: 24 * days }),
  timeZone: 'America/Los_Angeles',
  durationMinutes: 75,
})
const later = (days: number) => now.add({ hours: 24 * days })
const brief = (entries: KnownEntry[]) =>
  entries.map(({ entryId, isCancelled, sequence }) => `${entryId} ${sequence}${isCancelled ? ' cancelled' : ''}`)

describe('the entries of a subscribed calendar', () => {
  it('stay as they are while nothing changes', () => {
    const first = updateEntries([], [entry(1, 3), entry(2, 10)], now)
    expect(brief(first)).toEqual(['meeting-1 0', 'meeting-2 0'])
    expect(updateEntries(first, [entry(1, 3), entry(2, 10)], later(1))).toEqual(first)
  })

  it('get a raised SEQUENCE when their time or children change', () => {
    const first = updateEntries([], [entry(1, 3), entry(2, 10)], now)
    const second = updateEntries(first, [entry(1, 4), entry(2, 10, 'Level 1 (Ivo, Noa)')], later(1))
    expect(brief(second)).toEqual(['meeting-1 1', 'meeting-2 1'])
    expect(second.map(({ changedAt }) => changedAt.equals(later(1)))).toEqual([true, true])
  })

  it('are shown as cancelled for 30 days when they are gone, and confirmed when they are back', () => {
    const first = updateEntries([], [entry(1, 60)], now)
    const gone = updateEntries(first, [], later(1))
    expect(brief(gone)).toEqual(['meeting-1 1 cancelled'])
    expect(brief(updateEntries(gone, [], later(30)))).toEqual(['meeting-1 1 cancelled'])
    expect(updateEntries(gone, [], later(31))).toEqual([])
    expect(brief(updateEntries(gone, [entry(1, 60)], later(2)))).toEqual(['meeting-1 2'])
  })

  it('that are over are not cancelled afterwards, and leave after 90 days', () => {
    const first = updateEntries([], [entry(1, 1)], now)
    expect(brief(updateEntries(first, [], later(2)))).toEqual(['meeting-1 0'])
    expect(updateEntries(first, [], later(91))).toEqual([])
  })

  it('never have a SEQUENCE that falls, nor a change without a raised one, in any history', () => {
    const state = fc.array(fc.record({ number: fc.nat(3), days: fc.integer({ min: -100, max: 100 }) }), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(fc.array(state, { maxLength: 8 }), (history) => {
        let known: KnownEntry[] = []
        history.forEach((current, index) => {
          const unique = [...new Map(current.map(({ number, days }) => [number, entry(number, days)])).values()]
          const next = updateEntries(known, unique, later(index))
          for (const one of next) {
            const old = known.find(({ entryId }) => entryId === one.entryId)
            if (!old) continue
            expect(one.sequence).toBeGreaterThanOrEqual(old.sequence)
            const isSame = one.isCancelled === old.isCancelled && one.startsAt.equals(old.startsAt)
            expect(one.sequence > old.sequence).toBe(!isSame)
          }
          known = next
        })
      }),
      { numRuns: 300 },
    )
  })
})
