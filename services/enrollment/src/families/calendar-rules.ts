/** An entry of the calendar that a family subscribes to. */
export interface FeedEntry {
  entryId: string
  title: string
  startsAt: Temporal.Instant
  timeZone: string
  durationMinutes: number
}

export interface KnownEntry extends FeedEntry {
  isCancelled: boolean
  sequence: number
  changedAt: Temporal.Instant
}

/** How long what was cancelled, and what is over, stays in the calendar, in days. */
const keptDays = { cancelled: 30, over: 90 }

const isBefore = (instant: Temporal.Instant, days: number, now: Temporal.Instant) =>
  Temporal.Instant.compare(instant.add({ hours: 24 * days }), now) <= 0

const isSame = (one: FeedEntry, other: FeedEntry) =>
  one.title === other.title &&
  one.startsAt.equals(other.startsAt) &&
  one.timeZone === other.timeZone &&
  one.durationMinutes === other.durationMinutes

/**
 * Returns the entries that the calendar shows now. A changed entry, one that is gone and one that is back get a raised SEQUENCE;
 * one that is gone is shown as cancelled for 30 days, unless its meeting was over already.
 * @param known what the calendar showed last.
 * @param current the family's meetings as they are now, each once.
 */
export function updateEntries(known: KnownEntry[], current: FeedEntry[], now: Temporal.Instant): KnownEntry[] {
  const before = new Map(known.map((entry) => [entry.entryId, entry]))
  const present = current.map((entry): KnownEntry => {
    const old = before.get(entry.entryId)
    if (!old) return { ...entry, isCancelled: false, sequence: 0, changedAt: now }
    if (!old.isCancelled && isSame(old, entry)) return old
    return { ...entry, isCancelled: false, sequence: old.sequence + 1, changedAt: now }
  })
  const ids = new Set(current.map(({ entryId }) => entryId))
  const gone = known
    .filter(({ entryId }) => !ids.has(entryId))
    .map((entry): KnownEntry => {
      const isOver = Temporal.Instant.compare(entry.startsAt, now) <= 0
      if (entry.isCancelled || isOver) return entry
      return { ...entry, isCancelled: true, sequence: entry.sequence + 1, changedAt: now }
    })
  return [...present, ...gone]
    .filter(({ isCancelled, changedAt, startsAt }) =>
      isCancelled ? !isBefore(changedAt, keptDays.cancelled, now) : !isBefore(startsAt, keptDays.over, now),
    )
    .toSorted((a, b) => Temporal.Instant.compare(a.startsAt, b.startsAt) || (a.entryId < b.entryId ? -1 : 1))
}
