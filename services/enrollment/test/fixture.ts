import { randomUUIDv7 } from 'node:crypto'
import { checkoutCreated, checkoutExpired, paymentCompleted, paymentRefunded } from '@robokids/contracts/billing'
import {
  availableSlotsSchema,
  classesSchema,
  levelClassTypeSchema,
  registrationFactsSchema,
  registrationSchema,
  type ClassType,
  type HeldRegistration,
  type Registration,
  type holdSeatsSchema,
} from '@robokids/contracts/enrollment'
import { errorBodySchema } from '@robokids/contracts/errors'
import type { CloudEvent, EventDefinition } from '@robokids/contracts/event'
import { inbox } from '@robokids/runtime/inbox'
import { newEvent, outbox } from '@robokids/runtime/outbox'
import type { RunningService } from '@robokids/runtime/service'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import { callJson, type Answer } from '@robokids/test/call-json'
import { sampleFamily } from '@robokids/test/samples'
import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { enrollment } from '../src/app.ts'
import { addMeetings } from '../src/classes/meetings.ts'
import type { Config } from '../src/config.ts'
import { isoTime } from '../src/iso-time.ts'
import { classSessions } from '../src/schema.ts'

export const adminHeaders = { 'x-admin-secret': 'local-admin' }

/** The browser of all requests that name no other one. */
export const browserId = randomUUIDv7()
const purchasePaths =
  /^\/(registrations(\/judge|\/[-0-9a-f]+\/hold)?|member-seats(\/release)?|waivers|waitlist(\/[-0-9a-f]+\/accept)?)$/

/** Adds the browser to a request, as the BFF does. */
function inBrowser(method: string, path: string, body: unknown): unknown {
  if (method !== 'POST' || !purchasePaths.test(path)) return body
  return body === undefined || (typeof body === 'object' && body !== null && !Array.isArray(body))
    ? { browserId, ...body }
    : body
}

/** Far from the seeded seasons, and a new day each time, so that each test has its own classes. */
let day = Temporal.PlainDate.from('2030-01-01')

export type { Answer }

/** A running enrollment service with a bus. */
export class EnrollmentFixture {
  readonly bed: TestBed
  readonly service: RunningService<Config> & { databaseUrl: string }

  constructor(bed: TestBed, service: RunningService<Config> & { databaseUrl: string }) {
    this.bed = bed
    this.service = service
  }

  get bus() {
    return this.bed.bus
  }

  get db() {
    return this.service.context.db
  }

  call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    url = this.service.url,
  ): Promise<Answer> {
    return callJson(`${url}${path}`, method, inBrowser(method, path, body), headers)
  }

  /** Creates a class session. `startTime` is local time in California. */
  async session(differences: { classType?: ClassType; date?: string; startTime?: string; capacity?: number } = {}) {
    day = day.add({ days: 1 })
    const { classType = 'basic', date = day.toString(), startTime = '16:00', capacity = 10 } = differences
    const timeZone = 'America/Los_Angeles'
    const id = randomUUIDv7()
    const startsAt = Temporal.PlainDate.from(date).toZonedDateTime({ timeZone, plainTime: startTime }).toInstant()
    const row = { id, season: 'test', classType, date, startTime, durationMinutes: 75, timeZone, startsAt, capacity }
    await this.db.insert(classSessions).values(row)
    await this.db.transaction((tx) => addMeetings(tx, this.service.context.clock.now()))
    return { id, date, classType, startsAt }
  }

  async counts(sessionId: string): Promise<{ held: number; sold: number; capacity: number }> {
    const [row] = await this.db.select().from(classSessions).where(eq(classSessions.id, sessionId))
    if (!row) throw new Error('no such session')
    return { held: row.held, sold: row.sold, capacity: row.capacity }
  }

  /** The number of free seats, which must be the same in both public lists. */
  async seatsLeft(session: { date: string; classType: ClassType }): Promise<number | undefined> {
    const classes = classesSchema.parse((await this.call('GET', '/classes')).body)
    const level = classes.levels.find((one) => one.classType === session.classType)
    const inClasses = level?.sessions.find((one) => one.date === session.date)?.seatsLeft
    const slots = availableSlotsSchema.parse(
      (await this.call('GET', `/available-slots?classType=${session.classType}`)).body,
    )
    const inSlots = slots.slots.find((one) => one.classDate === session.date)?.availableSlots
    if (inClasses !== inSlots) throw new Error(`classes say ${inClasses}, slots say ${inSlots}`)
    return inClasses
  }

  /** Registers, and returns the response without `isNew`, as `GET /registrations/:id` does. */
  async register(request: RequestBody, url?: string): Promise<Answer> {
    const { body, ...answer } = await this.call('POST', '/registrations', request, {}, url)
    const { isNew: _, ...registration } = body as HeldRegistration
    return { ...answer, body: registration }
  }

  /** Registers, and fails the test unless the seats are held. */
  async hold(
    session: { date: string; classType: ClassType },
    differences: Partial<RequestBody> = {},
  ): Promise<Registration> {
    const answer = await this.register(requestFor(session, differences))
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return registrationSchema.parse(answer.body)
  }

  async read(id: string): Promise<Registration> {
    return registrationSchema.parse((await this.call('GET', `/registrations/${id}`)).body)
  }

  async waitForStatus(id: string, status: Registration['status']): Promise<Registration> {
    return eventually(async () => {
      const registration = await this.read(id)
      if (registration.status !== status) throw new Error(`${registration.status}, not ${status}`)
      return registration
    })
  }

  /** Publishes an event of another service and waits until it has been handled. */
  async deliver<Data>(
    definition: EventDefinition<string, Data>,
    subject: string,
    data: NoInfer<Data>,
    time?: Temporal.Instant,
  ): Promise<CloudEvent<string, Data>> {
    const event = { ...newEvent(definition, subject, data), ...(time ? { time: isoTime(time) } : {}) }
    await this.redeliver(event)
    return event
  }

  async redeliver(event: CloudEvent): Promise<void> {
    await this.bus.republish(event)
    await eventually(() =>
      this.db.$count(
        inbox,
        and(eq(inbox.eventId, event.id), eq(inbox.handler, `enrollment__${event.type.replaceAll('.', '-')}`)),
      ),
    )
  }

  /** The events of a type about a registration that are published or pending, parsed by their contract. */
  async publishedEvents<Data>(definition: EventDefinition<string, Data>, registrationId: string): Promise<Data[]> {
    const rows = await this.db
      .select({ envelope: outbox.envelope })
      .from(outbox)
      .where(and(eq(outbox.type, definition.type), sql`${outbox.envelope} ->> 'subject' = ${registrationId}`))
    return rows.map((row) => definition.schema.parse(row.envelope).data)
  }

  async checkoutCreated(
    registrationId: string,
    time?: Temporal.Instant,
    attemptId: string = randomUUIDv7(),
  ): Promise<string> {
    const expiresAt = isoTime(Temporal.Now.instant().add({ minutes: 31 }))
    await this.deliver(
      checkoutCreated,
      registrationId,
      { attemptId, registrationId, amount: 40_000, currency: 'usd', expiresAt },
      time,
    )
    return attemptId
  }

  async checkoutExpired(registrationId: string, attemptId: string): Promise<void> {
    await this.deliver(checkoutExpired, registrationId, { attemptId, registrationId })
  }

  /** @returns the event, for redelivery. */
  async pay(
    registrationId: string,
    paymentId: string = randomUUIDv7(),
    price: { amount: number; unitAmount?: number; paidSeats?: number } = { amount: 40_000 },
  ) {
    const paidAt = isoTime(Temporal.Now.instant())
    const payment = { paymentId, currency: 'usd' as const, receiptNumber: 'RK-000042', paidAt, ...price }
    return this.deliver(paymentCompleted, registrationId, { attemptId: randomUUIDv7(), registrationId, ...payment })
  }

  async refund(
    registration: Registration,
    paymentId: string,
    refundedTotal = 40_000,
    ofChange: { changeId?: string; whole?: boolean } = {},
  ) {
    const amounts = { ...ofChange, amount: refundedTotal, currency: 'usd' as const, refundedTotal, paidAmount: 40_000 }
    const { registrationId } = registration
    const purchase = registrationFactsSchema.parse(registration)
    return this.deliver(paymentRefunded, registrationId, {
      refundId: randomUUIDv7(),
      paymentId,
      registrationId,
      reason: 'requested',
      purchase,
      ...amounts,
    })
  }

  /** Registers and pays. */
  async enroll(
    session: { date: string; classType: ClassType },
    differences: Partial<RequestBody> = {},
  ): Promise<Registration> {
    const { registrationId } = await this.hold(session, differences)
    await this.pay(registrationId)
    return this.waitForStatus(registrationId, 'confirmed')
  }

  sign(registration: Registration, differences: Record<string, unknown> = {}, url?: string): Promise<Answer> {
    const body = {
      registrationId: registration.registrationId,
      guardianName: registration.guardianName,
      childName: registration.children[0]?.childName,
      email: registration.email,
      startDate: registration.startDate,
      classType: registration.classType,
      evidence: { ipAddress: '198.51.100.7', userAgent: 'Mozilla/5.0 (a test)' },
      ...differences,
    }
    return this.call('POST', '/waivers', body, {}, url)
  }

  /** As `publishedEvents`, but waits until there is one. */
  waitForEvents<Data>(definition: EventDefinition<string, Data>, registrationId: string): Promise<Data[]> {
    return eventually(async () => {
      const events = await this.publishedEvents(definition, registrationId)
      return events.length > 0 && events
    })
  }

  resetClock(): void {
    this.service.context.clock.set(Temporal.Now.instant())
  }
}

export async function startEnrollment(env?: Record<string, string>): Promise<EnrollmentFixture> {
  const bed = await testBed()
  return new EnrollmentFixture(bed, await bed.start(enrollment, env))
}

export type RequestBody = z.input<typeof holdSeatsSchema>

export function requestFor(
  session: { date: string; classType: ClassType },
  differences: Partial<RequestBody> = {},
): RequestBody {
  return {
    ...sampleFamily(),
    startDate: session.date,
    classType: levelClassTypeSchema.parse(session.classType),
    ...differences,
  }
}

export function codeOf(answer: Answer): string {
  return errorBodySchema.parse(answer.body).code
}

export function pathsOf(answer: Answer): string[] {
  return (errorBodySchema.parse(answer.body).issues ?? []).map((issue) => issue.path)
}
