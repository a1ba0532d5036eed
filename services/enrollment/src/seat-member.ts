import type { subscriptionActivated } from '@robokids/contracts/billing'
import { memberRejected, memberSeated } from '@robokids/contracts/enrollment'
import type { EventOf } from '@robokids/contracts/event'
import { emailKey } from '@robokids/contracts/fields'
import type { Transaction } from '@robokids/runtime/db'
import { publish } from '@robokids/runtime/outbox'
import type { Context } from '@robokids/runtime/service'
import type { Metrics } from '@robokids/runtime/telemetry'
import { and, eq } from 'drizzle-orm'
import { Counter } from 'prom-client'
import type { Config } from './config.ts'
import { lockMemberHold, membersSessionOf, takeHeldSeat } from './hold-member-seat.ts'
import { moveSeats } from './lock-registration.ts'
import { judgeMemberSeat } from './rules.ts'
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

/**
 * A membership began: it takes a seat in the members' session of its date, once; the one that was held for it, else one
 * that is free. Where none is to be had, the membership is turned away, and billing ends it and returns its money.
 */
export async function seatMember(
  tx: Transaction,
  { data }: EventOf<typeof subscriptionActivated>,
  { clock, log, metrics }: Context<Config>,
): Promise<void> {
  const { attemptId, email, classDate, plan, amount, currency, receiptNumber, renewsAt } = data
  const hold = await lockMemberHold(tx, emailKey(email))
  const [session] = await tx.select().from(classSessions).where(membersSessionOf(classDate)).for('no key update')
  const now = clock.now()
  const isHeld = session !== undefined && hold?.classSessionId === session.id
  const outcome = judgeMemberSeat(session, isHeld, now)
  const written = await tx
    .insert(memberSeats)
    .values({ attemptId, email, classDate, classSessionId: session?.id ?? null, outcome, createdAt: now })
    .onConflictDoNothing()
    .returning({ attemptId: memberSeats.attemptId })
  if (written.length === 0) return
  counterOf(metrics).inc({ outcome })
  const facts = { attemptId, email, plan, amount, currency, classDate }
  if (session && outcome === 'seated') {
    await takeHeldSeat(tx, hold, session.id)
    await moveSeats(tx, session.id, { held: 0, sold: 1 })
    const { id: classSessionId, startTime, durationMinutes, timeZone } = session
    await publish(tx, memberSeated, attemptId, {
      ...facts,
      classSessionId,
      startTime,
      durationMinutes,
      timeZone,
      receiptNumber: receiptNumber ?? null,
      renewsAt: renewsAt ?? null,
    })
    return
  }
  const reason = outcome === 'seated' ? 'class_not_offered' : outcome
  log.warn(
    { attemptId, classDate, reason },
    'a paid membership got no seat on its date: it ends and its money goes back',
  )
  await publish(tx, memberRejected, attemptId, { ...facts, reason })
}

/** A membership ended before its class: the seat is free for another member. */
export async function releaseMemberSeat(tx: Transaction, attemptId: string, { clock }: Context<Config>): Promise<void> {
  const [seat] = await tx
    .select({ classSessionId: memberSeats.classSessionId, startsAt: classSessions.startsAt })
    .from(memberSeats)
    .innerJoin(classSessions, eq(classSessions.id, memberSeats.classSessionId))
    .where(and(eq(memberSeats.attemptId, attemptId), eq(memberSeats.outcome, 'seated')))
    .for('no key update')
  if (!seat?.classSessionId || Temporal.Instant.compare(seat.startsAt, clock.now()) <= 0) return
  await tx.update(memberSeats).set({ outcome: 'released' }).where(eq(memberSeats.attemptId, attemptId))
  await moveSeats(tx, seat.classSessionId, { held: 0, sold: -1 })
}
