import { countRows } from '@robokids/runtime/row-counts'
import type { Context } from '@robokids/runtime/service'
import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import { Counter, Gauge } from 'prom-client'
import type { Config } from './config.ts'
import { seatsLeft } from './rules.ts'
import { changes, classSessions, registrations, waitlistEntries, waivers } from './schema.ts'

const counters = {
  member_seats_total: {
    help: 'New members by whether they got the seat they chose (seated, or why not)',
    labelNames: ['outcome'],
  },
  signed_pdfs_total: { help: 'Tries to make a signed PDF by outcome (made, failed)', labelNames: ['outcome'] },
} as const
type CounterName = keyof typeof counters

/** The number of class sessions whose seats are shown one by one: the soonest. */
const maxSessions = 200

/** Registers enrollment's metrics, in addition to those of every service. */
export function registerMetrics(context: Context<Config>): void {
  const { db, clock, metrics } = context
  const registers = [metrics.registry]
  for (const [name, { help, labelNames }] of Object.entries(counters)) {
    metrics.registry.registerMetric(new Counter({ name, help, labelNames: [...labelNames], registers: [] }))
  }
  const pdfs = new Gauge({ name: 'signed_pdfs_pending', help: 'Signatures whose PDF is still to be made', registers })
  const seats = new Gauge({
    name: 'seats',
    help: 'Seats of the coming classes on sale, by class and state (held, sold, set aside for the waitlist, left)',
    labelNames: ['class_type', 'date', 'state'],
    registers,
  })
  const oversold = new Gauge({
    name: 'seats_oversold',
    help: 'Coming class sessions with more seats held and sold than there are',
    registers,
  })
  metrics.measure({
    everyMs: 2_000,
    async read() {
      pdfs.set(await db.$count(waivers, isNull(waivers.signedPdf)))
      const coming = await db
        .select()
        .from(classSessions)
        .where(and(gt(classSessions.startsAt, clock.now()), eq(classSessions.status, 'open')))
        .orderBy(asc(classSessions.startsAt))
      oversold.set(coming.filter(({ held, sold, capacity }) => held + sold > capacity).length)
      // Classes that have begun are no longer shown.
      seats.reset()
      for (const classSession of coming.slice(0, maxSessions)) {
        const { classType: class_type, date, held, sold, setAside } = classSession
        seats.set({ class_type, date, state: 'held' }, held)
        seats.set({ class_type, date, state: 'sold' }, sold)
        seats.set({ class_type, date, state: 'set_aside' }, setAside)
        seats.set({ class_type, date, state: 'left' }, seatsLeft(classSession))
      }
    },
  })
  countRows(context, { name: 'registrations', label: 'status', table: registrations, column: registrations.status })
  countRows(context, {
    name: 'waitlist_entries',
    label: 'status',
    table: waitlistEntries,
    column: waitlistEntries.status,
  })
  countRows(context, { name: 'changes', label: 'status', table: changes, column: changes.status })
}

export function count({ metrics }: Context<Config>, name: CounterName, labels: { outcome: string }): void {
  ;(metrics.registry.getSingleMetric(name) as Counter<'outcome'>).inc(labels)
}
