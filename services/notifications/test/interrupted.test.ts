import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { registrationConfirmed, waiverSigned } from '@robokids/contracts/enrollment'
import { codeIssued } from '@robokids/contracts/identity'
import { mailDelivered } from '@robokids/contracts/notifications'
import { eventually } from '@robokids/test/bed'
import { testPostgres } from '@robokids/test/infrastructure'
import { eq, sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { mails } from '../src/schema.ts'
import { confirmed, issued, registration, signed } from './events.ts'
import { openOffice, type NotificationsFixture } from './fixture.ts'

// Each test stops something that the service needs: each has an office for itself.
const open: NotificationsFixture[] = []
afterEach(async () => {
  for (const office of open.splice(0)) await office.close()
})

/** An office whose mail server may take its time. */
async function patientOffice(settings: Record<string, string> = {}): Promise<NotificationsFixture> {
  const office = await openOffice({ SMTP_TIMEOUT_MS: '20000', ...settings })
  open.push(office)
  return office
}

async function confirm(office: NotificationsFixture) {
  const facts = registration()
  await office.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  return facts
}

/** A mail whose message the server has, without having said so. */
async function confirmHeld(office: NotificationsFixture) {
  const facts = registration()
  office.post.plan(facts.email, 'hold')
  await office.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
  await office.post.mailTo(facts.email)
  return facts
}

async function isSent(office: NotificationsFixture, { registrationId }: { registrationId: string }): Promise<boolean> {
  return (await office.mailsOf(registrationId))[0]?.status === 'sent'
}

async function rowOf(office: NotificationsFixture, { registrationId }: { registrationId: string }) {
  const [row] = await office.service.context.db.select().from(mails).where(eq(mails.registrationId, registrationId))
  if (!row) throw new Error('There is no such mail.')
  return row
}

describe('a mail that the server is taking', () => {
  it('is not sent again by another process where all connections to the database are lost meanwhile', async () => {
    const office = await patientOffice()
    const facts = await confirmHeld(office)
    const second = await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    await office.service.context.db.execute(
      sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'notifications%' and datname = current_database() and pid <> pg_backend_pid()`,
    )
    for (const { context } of [office.service, second]) context.clock.advance({ seconds: 45 })
    // The lock of the first is lost too: the second process has the work now.
    const others = await Promise.all([confirm(office), confirm(office)])
    for (const other of others) await eventually(() => isSent(office, other))
    office.post.release(facts.email)
    await eventually(() => isSent(office, facts))
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it('is sent once where the database is away when the server has taken it, however long that lasts', async () => {
    const server = await testPostgres()
    try {
      const office = await patientOffice({ DATABASE_URL: `${server.url}/postgres` })
      const facts = await confirmHeld(office)
      // A scratch server that is killed would forget the last moment before.
      await office.service.context.db.execute(sql`checkpoint`)
      await server.kill()
      office.post.release(facts.email)
      // Longer than a restart or a fail-over usually takes: how long it is away is what is tested.
      await wait(9_000)
      await server.restart()
      office.passTime({ seconds: 45 })
      await eventually(() => isSent(office, facts), 30_000)
      expect(office.post.to(facts.email)).toHaveLength(1)
      await office.bed.bus.seen(mailDelivered, ({ registrationId }) => registrationId === facts.registrationId)
      expect(await rowOf(office, facts)).toMatchObject({ attempts: 1 })
      await office.close()
      open.splice(0)
    } finally {
      await server.stop()
    }
  })

  it('is noted where it is taken while the process stops', async () => {
    const office = await patientOffice()
    const facts = await confirmHeld(office)
    const stopped = office.service.stop()
    office.post.release(facts.email)
    await stopped
    await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    await office.bed.bus.seen(mailDelivered, ({ registrationId }) => registrationId === facts.registrationId)
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it('does not keep a process from stopping within ten seconds, and is tried again under the same Message-ID', async () => {
    const office = await patientOffice()
    const facts = await confirmHeld(office)
    const begun = performance.now()
    await office.service.stop()
    expect(performance.now() - begun).toBeLessThan(9_000)
    const again = await office.bed.start(notifications, { ...office.env, DATABASE_URL: office.service.databaseUrl })
    again.context.clock.advance({ minutes: 5, seconds: 1 })
    again.wakeAll()
    await office.post.mailTo(facts.email, 2)
    expect(new Set(office.post.to(facts.email).map(({ parsed }) => parsed.messageId)).size).toBe(1)
    office.post.release(facts.email)
  })

  it('is not sent a second time where an administrator asks for it meanwhile', async () => {
    const office = await patientOffice()
    const facts = await confirmHeld(office)
    const [mail] = await office.mailsOf(facts.registrationId)
    expect(await office.resend(mail?.mailId ?? '')).toMatchObject({ status: 'pending', attempts: 1 })
    office.passTime({ seconds: 45 })
    const other = await confirm(office)
    await eventually(() => isSent(office, other))
    office.post.release(facts.email)
    await eventually(() => isSent(office, facts))
    expect(office.post.to(facts.email)).toHaveLength(1)
  })

  it('keeps no other mail waiting', async () => {
    const office = await patientOffice()
    const facts = await confirmHeld(office)
    const others = await Promise.all(Array.from({ length: 12 }, () => confirm(office)))
    for (const other of others) await eventually(() => isSent(office, other))
    expect(await isSent(office, facts)).toBe(false)
    office.post.release(facts.email)
    await eventually(() => isSent(office, facts))
  })

  it('keeps no code waiting, however many of them there are', async () => {
    const office = await patientOffice()
    const slow = Array.from({ length: 8 }, () => registration())
    for (const { email } of slow) office.post.plan(email, 'hold')
    for (const facts of slow) {
      await office.bed.bus.publish(registrationConfirmed, facts.registrationId, confirmed(facts))
    }
    await eventually(() => office.post.all().length >= 4)
    const code = issued(office.service.context.clock.now(), '907314')
    await office.bed.bus.publish(codeIssued, code.userId, code)
    await office.post.mailTo(code.destination)
    await eventually(async () => (await office.mailsTo(code.userId))[0]?.status === 'sent')
    await eventually(async () => {
      for (const { email } of slow) office.post.release(email)
      return (await Promise.all(slow.map((facts) => isSent(office, facts)))).every(Boolean)
    })
    for (const { email } of slow) expect(office.post.to(email)).toHaveLength(1)
  })

  it('is broken off where the server answers each command in time and is never done', async () => {
    let closed = 0
    const server = createServer((socket) => {
      const richText = (line: string) => setTimeout(() => socket.write(`${line}\r\n`), 800)
      richText('220 slow.example')
      socket.on('data', () => richText('250 Yes'))
      socket.on('error', () => {})
      socket.on('close', () => (closed += 1))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const office = await patientOffice({ SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_TIMEOUT_MS: '1000' })
    const facts = await confirm(office)
    const mail = await eventually(async () => {
      const [found] = await office.mailsOf(facts.registrationId)
      return found?.lastError ? found : undefined
    })
    expect(mail).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: 'The mail server took too long for the whole of it.',
    })
    await eventually(() => closed === 1)
    await new Promise((resolve) => server.close(resolve))
  })

  it('is put off where enrollment leaves the request for its signed waiver unanswered', async () => {
    const office = await patientOffice({ SMTP_TIMEOUT_MS: '500' })
    const facts = registration()
    office.shelf.ignoreNext(1)
    await office.bed.bus.publish(waiverSigned, facts.registrationId, signed(facts))
    const other = await confirm(office)
    await eventually(() => isSent(office, other))
    await eventually(async () => (await rowOf(office, facts)).lastError !== null)
    expect(await rowOf(office, facts)).toMatchObject({ status: 'pending', attempts: 1 })
    office.passTime({ seconds: 6 })
    await eventually(() => isSent(office, facts))
    expect(office.post.to(facts.email)).toHaveLength(1)
  })
})
