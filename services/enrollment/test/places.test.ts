import { randomUUIDv7 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { places, registrations } from '../src/schema.ts'
import { startEnrollment, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

const siblings = [{ childName: 'Noa', childAge: 8 }]

const rowsOf = (registrationId: string) =>
  fixture.db.select().from(places).where(eq(places.registrationId, registrationId)).orderBy(places.position)

async function pay(price: Parameters<EnrollmentFixture['pay']>[2], children = siblings) {
  const session = await fixture.session()
  const { registrationId } = await fixture.hold(session, { childName: 'Ivo', siblings: children })
  await fixture.pay(registrationId, randomUUIDv7(), price)
  return { session, registration: await fixture.waitForStatus(registrationId, 'confirmed') }
}

describe('The places of a paid registration', () => {
  it('say for each child where it sits and what was paid for it, nothing for a sibling who joined free', async () => {
    const { session, registration } = await pay({ amount: 40_000, unitAmount: 40_000, paidSeats: 1 })
    const { classType, startDate, startTime, levelTitle } = registration
    const where = {
      status: 'seated',
      classSessionId: session.id,
      classType,
      startDate,
      startTime,
      levelTitle,
      moves: 0,
    }
    expect(registration.places).toMatchObject([
      { childName: 'Ivo', paidAmount: 40_000, ...where },
      { childName: 'Noa', childAge: 8, paidAmount: 0, ...where },
    ])
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 2 })
  })

  it('add up to the cent to what was paid if the event does not say what a seat costs', async () => {
    const more = [...siblings, { childName: 'Ada', childAge: 9 }]
    const { registration } = await pay({ amount: 100_001 }, more)
    expect(registration.places?.map(({ paidAmount }) => paidAmount)).toEqual([33_334, 33_334, 33_333])
  })

  it('do not exist before it is paid', async () => {
    const { registrationId } = await fixture.hold(await fixture.session())
    expect((await fixture.read(registrationId)).places).toEqual([])
    expect(await rowsOf(registrationId)).toEqual([])
  })

  it('are the same before and after they are written, for one that a process of the previous version has confirmed', async () => {
    const { session, registration } = await pay({ amount: 40_000 })
    const { registrationId } = registration
    const written = await rowsOf(registrationId)
    await fixture.db.delete(places).where(eq(places.registrationId, registrationId))
    expect((await fixture.read(registrationId)).places).toEqual(registration.places)

    // The statement of the migration that writes them.
    const file = new URL('../migrations/0015_places-and-changes.sql', import.meta.url)
    const statement = (await readFile(file, 'utf8')).split('--> statement-breakpoint').at(-1) ?? ''
    await fixture.db.execute(sql.raw(`${statement.replace(/;\s*$/, '')} and r.id = '${registrationId}'`))
    const identity = ({
      id,
      childName,
      childAge,
      classSessionId,
      status,
      paidAmount,
      listAmount,
      moves,
    }: (typeof written)[number]) => ({ id, childName, childAge, classSessionId, status, paidAmount, listAmount, moves })
    expect((await rowsOf(registrationId)).map(identity)).toEqual(written.map(identity))

    await fixture.db.delete(places).where(eq(places.registrationId, registrationId))
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    await fixture.waitForStatus(registrationId, 'cancelled')
    expect(await fixture.counts(session.id)).toMatchObject({ held: 0, sold: 0 })
    expect((await rowsOf(registrationId)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  })

  it('are cancelled for one that a process of the previous version has cancelled', async () => {
    const { registration } = await pay({ amount: 40_000 })
    const { registrationId } = registration
    await fixture.db.update(registrations).set({ status: 'cancelled' }).where(eq(registrations.id, registrationId))
    expect((await fixture.read(registrationId)).places?.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  })
})

describe('A full refund', () => {
  it('frees the seats where the children have them by then', async () => {
    const { session, registration } = await pay({ amount: 40_000 })
    const other = await fixture.session()
    const [, noa] = registration.places ?? []
    await fixture.db.transaction(async (tx) => {
      await tx
        .update(places)
        .set({ classSessionId: other.id })
        .where(eq(places.id, noa?.placeId ?? ''))
      await tx.execute(sql`update class_sessions set sold = 1 where id in (${session.id}, ${other.id})`)
    })
    await fixture.refund(registration, registration.payment?.paymentId ?? '')
    await fixture.waitForStatus(registration.registrationId, 'cancelled')
    for (const { id } of [session, other]) expect(await fixture.counts(id)).toMatchObject({ held: 0, sold: 0 })
  })
})
