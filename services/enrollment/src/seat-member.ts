import type { subscriptionActivated } from '@robokids/contracts/billing'
import type { AvailableSlots } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import type { Metrics } from '@robokids/runtime/telemetry'
import { and, eq } from 'drizzle-orm'
import { Counter } from 'prom-client'
import type { Config } from './config.ts'
import { moveSeats } from './lock-registration.ts'
import { classFull, classNotOffered, judgeMemberSeat, seatsLeft } from './rules.ts'
import { classSessions, memberSeats } from './schema.ts'

const counters = new WeakMap<Metrics, Counter<'outcome'>>()

function counterOf(metrics: Metrics): Counter<'outcome'> {
  const known = counters.get(metrics)
  if (known) return known
  const counter = new Counter({
    name: 'member_seats_total',
    help: 'New members by whether they got the seat they chose (seated, or why not)',
    labelNames: ['outcome'],
    registers: [metrics.registry],
  })
  counters.set(metrics, counter)
  return counter
}

function membersSessionOf(classDate: string) {
  return and(eq(classSessions.classType, 'membership'), eq(classSessions.date, classDate))
}

/**
 * The seats of a members' session that can be taken.
 * @throws DomainError `class_not_offered`, `class_full`
 */
export async function readMemberSeats(
  classDate: string,
  { db, clock }: Context<Config>,
): Promise<AvailableSlots['slots'][number]> {
  const [session] = await db.select().from(classSessions).where(membersSessionOf(classDate))
  const outcome = judgeMemberSeat(session, clock.now())
  if (outcome === 'class_full') throw classFull()
  if (!session || outcome !== 'seated') throw classNotOffered('classDate')
  return { classDate, availableSlots: seatsLeft(session) }
}

/**
 * A membership began: it takes a seat in the members' session of its date, once. Nothing is held while a member pays, so
 * the date can be full or over by then: somebody then has to offer another one.
 */
export async function seatMember(
  tx: Transaction,
  { data: { attemptId, email, classDate } }: EventOf<typeof subscriptionActivated>,
  { clock, log, metrics }: Context<Config>,
): Promise<void> {
  const [session] = await tx.select().from(classSessions).where(membersSessionOf(classDate)).for('no key update')
  const now = clock.now()
  const outcome = judgeMemberSeat(session, now)
  const written = await tx
    .insert(memberSeats)
    .values({ attemptId, email, classDate, classSessionId: session?.id ?? null, outcome, createdAt: now })
    .onConflictDoNothing()
    .returning({ attemptId: memberSeats.attemptId })
  if (written.length === 0) return
  counterOf(metrics).inc({ outcome })
  if (session && outcome === 'seated') return moveSeats(tx, session.id, { held: 0, sold: 1 })
  log.error(
    { attemptId, classDate, outcome },
    'a paid membership got no seat on its date: offer the member another one',
  )
}
