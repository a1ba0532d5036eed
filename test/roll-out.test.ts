import { randomUUIDv7 } from 'node:crypto'
import { owningServices, type ServiceName } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { hasPreviousRelease, writePreviousRelease } from './src/previous-release.ts'
import { sampleMember } from './src/samples.ts'
import { startSystem, type System } from './src/system.ts'

/** The order in which `deploy/compose/roll-out.sh` replaces the processes. */
const rollOutOrder: ServiceName[] = ['identity', 'enrollment', 'billing', 'notifications', 'bff']

let system: System
let removePrevious: () => Promise<void>
let paidBefore: string | undefined
beforeAll(async () => {
  if (!hasPreviousRelease) return
  const { source, remove } = await writePreviousRelease()
  removePrevious = remove
  const identity = { ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1', EVEN_ANSWER_MS: '5' }
  system = await startSystem({ identity }, undefined, source)
  // They stay until the end, and take their part of the events and of the jobs.
  await Promise.all(owningServices.map((name) => system.another(name)))
})
afterAll(async () => {
  await system?.stop()
  await removePrevious?.()
})

async function mailTo(address: string, subject: RegExp) {
  return eventually(async () => {
    const mails = await system.mailsTo(address)
    const mail = mails.find((one) => subject.test(one.subject))
    if (!mail) throw new Error(`no mail like ${String(subject)}: ${mails.map((one) => one.subject).join('; ')}`)
    return mail
  })
}

async function signUp(email: string): Promise<void> {
  const { password, ...person } = sampleMember(email)
  expect((await system.post('/api/auth/sign-up', { ...person, password })).status).toBe(200)
  const code = /\b\d{6}\b/.exec((await mailTo(email, /code/i)).text)?.[0]
  expect(await system.post('/api/auth/confirm-sign-up', { email, code, password })).toMatchObject({ status: 200 })
  expect(await system.post('/api/auth/sign-in', { email, password })).toMatchObject({ body: { step: 'DONE' } })
}

/** A family registers two children, pays and signs. */
async function enroll(email: string): Promise<string> {
  const [date] = await system.openDates('custom')
  const child = { childName: 'Ivo', childAge: 9 }
  const { registrationId, checkoutUrl } = await system.register({
    email,
    classType: 'custom',
    startDate: date?.date ?? '',
    ...child,
    siblings: [{ childName: 'Noa', childAge: 11 }],
  })
  await system.pay(checkoutUrl)
  const { guardianName, startDate } = await system.reaches(registrationId, 'confirmed')
  const signature = { registrationId, guardianName, ...child, email, startDate, classType: 'custom' }
  expect((await system.post('/api/waivers', signature)).status).toBe(200)
  const { attachments = [] } = await mailTo(email, /waiver/i)
  expect(attachments.map(({ contentType }) => contentType)).toContain('application/pdf')
  return registrationId
}

/** An operator gives the money back, and the seats are free again. */
async function refund(registrationId: string): Promise<void> {
  const answer = await fetch(`${system.processes.billing.url}/refunds`, {
    method: 'POST',
    headers: { 'x-admin-secret': 'local-admin', 'content-type': 'application/json' },
    body: JSON.stringify({ registrationId, refundId: randomUUIDv7() }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  await system.reaches(registrationId, 'cancelled')
}

/** @returns the status in which the family that came before is now */
async function useIt(): Promise<string | undefined> {
  const email = `maren.${randomUUIDv7()}@example.com`
  await signUp(email)
  const registrationId = await enroll(email)
  const before = paidBefore
  paidBefore = registrationId
  if (before === undefined) return undefined
  await refund(before)
  return (await system.state(before)).status
}

describe.skipIf(!hasPreviousRelease)('A roll-out from the previous release', () => {
  it('The previous release registers, charges, signs and mails with the tables of this one', async () => {
    expect(await useIt()).toBeUndefined()
  })

  it.for(rollOutOrder)(
    'A family registers, pays, signs and is refunded after %s was replaced, while a copy of the previous release works beside it',
    async (name) => {
      await system.processes[name].stop()
      await system.processes[name].start(root)
      expect(await useIt()).toBe('cancelled')
    },
  )

  it('Nothing is left of a roll-out: every event is published and handled, and seats and payments agree', async () => {
    for (const name of owningServices) {
      const sql = system.sql(name)
      await eventually(async () => {
        const waiting = await sql`select type from outbox where published_at is null`
        if (waiting.length > 0) throw new Error(`It has to publish ${waiting.map(({ type }) => type).join(', ')}`)
        return true
      })
      expect(await sql`select handler, error from dead_letters`).toEqual([])
    }
    const statuses = await system.sql(
      'enrollment',
    )`select status, count(*)::int from registrations group by status order by status`
    expect(statuses).toEqual([
      { status: 'cancelled', count: rollOutOrder.length },
      { status: 'waiver_signed', count: 1 },
    ])
    const [sold] = await system.sql(
      'enrollment',
    )`select sum(sold)::int as sold, sum(held)::int as held from class_sessions`
    expect(sold).toEqual({ sold: 2, held: 0 })
    const { charges, refunds } = await system.atProvider()
    expect({ charges, refunds }).toEqual({ charges: rollOutOrder.length + 1, refunds: rollOutOrder.length })
  })
})
