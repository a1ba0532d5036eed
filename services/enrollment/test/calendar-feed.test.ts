import { randomUUIDv7 } from 'node:crypto'
import { calendarFeedSchema } from '@robokids/contracts/dashboard'
import type { Registration } from '@robokids/contracts/enrollment'
import { userConfirmed, userDeleted } from '@robokids/contracts/identity'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminHeaders, startEnrollment, type EnrollmentFixture } from './fixture.ts'

let fixture: EnrollmentFixture
beforeAll(async () => {
  fixture = await startEnrollment()
})
afterAll(() => fixture.bed.stop())

const facts = (userId: string, email: string) => ({
  poolId: 'local',
  userId,
  username: `user_${userId}`,
  email,
  emailVerified: true,
  verifiedEmail: email,
  enabled: true,
  givenName: 'Maren',
})

async function account() {
  const [userId, email] = [randomUUIDv7(), `maren.${randomUUIDv7()}@example.com`]
  await fixture.deliver(userConfirmed, userId, facts(userId, email))
  return { userId, email }
}

const tokenOf = async (userId: string, renew = '') =>
  calendarFeedSchema.parse((await fixture.call('POST', `/accounts/${userId}/calendar${renew}`)).body).token

async function read(token: string) {
  const answer = await fetch(`${fixture.service.url}/calendars/${token}`)
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

/** The entries of a calendar, in order: start, status and SEQUENCE. */
async function entriesOf(token: string): Promise<string[]> {
  const { text } = await read(token)
  return text
    .split('BEGIN:VEVENT')
    .slice(1)
    .map((event) => {
      const value = (name: string) => new RegExp(`^${name}[^:]*:(.*)\r$`, 'm').exec(event)?.[1] ?? ''
      return `${value('DTSTART')} ${value('STATUS')} ${value('SEQUENCE')}`
    })
}

const enroll = (
  session: { date: string; classType: 'basic' },
  email: string,
  childName: string,
): Promise<Registration> => fixture.enroll(session, { email, childName })

describe('the calendar that a family subscribes to', () => {
  it('has one entry a meeting with all of its children, and follows moves and refunds', async () => {
    const { userId, email } = await account()
    const session = { ...(await fixture.session({ date: '2031-02-21' })), classType: 'basic' as const }
    const token = await tokenOf(userId)
    expect((await read(token)).text).not.toContain('VEVENT')
    const first = await enroll(session, email, 'Ivo')
    const second = await enroll(session, email, 'Noa 🤖')
    const { text, type } = await read(token)
    expect(type).toBe('text/calendar; charset=utf-8')
    expect(text.replaceAll('\r\n ', '')).toContain('SUMMARY:Robo Kids Learning: Level 1 Foundations (Noa 🤖\\, Ivo)')
    expect(text.replaceAll('\r\n', '')).not.toContain('\n')
    // Pacific time, also across the change of daylight saving time on March 9.
    expect(await entriesOf(token)).toEqual(
      ['0221', '0228', '0307', '0314', '0321', '0328'].map((day) => `2031${day}T160000 CONFIRMED 0`),
    )

    const path = `/admin/class-sessions/${session.id}/meetings/2/move`
    await fixture.call('POST', path, { id: randomUUIDv7(), date: '2031-03-01' }, adminHeaders)
    expect((await entriesOf(token))[1]).toBe('20310301T160000 CONFIRMED 1')

    for (const one of [first, second]) {
      await fixture.refund(one, one.payment?.paymentId ?? '')
      await fixture.waitForStatus(one.registrationId, 'cancelled')
    }
    const cancelled = await entriesOf(token)
    expect(cancelled.map((entry) => entry.split(' ')[1])).toEqual(Array.from({ length: 6 }, () => 'CANCELLED'))
    expect(cancelled.map((entry) => entry.split(' ')[2])).toEqual(['1', '2', '1', '1', '1', '1'])
  })

  it('shows nothing of what is held, of another family, or of anything that gives access', async () => {
    const [mine, other] = [await account(), await account()]
    const session = { ...(await fixture.session()), classType: 'basic' as const }
    await fixture.call(
      'POST',
      `/admin/class-sessions/${session.id}/link`,
      { joinUrl: 'https://meet.example.com/room-7' },
      adminHeaders,
    )
    await fixture.hold(session, { email: mine.email, childName: 'Held' })
    const theirs = await enroll(session, other.email, 'Theirs')
    expect(await entriesOf(await tokenOf(mine.userId))).toEqual([])
    const { text } = await read(await tokenOf(other.userId))
    expect(text).toContain('Theirs')
    expect(text).not.toContain('Held')
    for (const secret of ['room-7', theirs.registrationId, other.userId, other.email])
      expect(text).not.toContain(secret)
  })

  it('keeps its address until it is replaced, and the old one stops at once', async () => {
    const { userId } = await account()
    const tokens = await Promise.all([tokenOf(userId), tokenOf(userId), tokenOf(userId)])
    expect(new Set(tokens).size).toBe(1)
    expect(tokens[0]).toMatch(/^[\w-]{43}$/)
    const renewed = await tokenOf(userId, '/renew')
    expect(renewed).not.toBe(tokens[0])
    expect((await read(tokens[0] ?? '')).status).toBe(404)
    expect((await read(renewed)).status).toBe(200)
    expect(await tokenOf(userId)).toBe(renewed)
  })

  it('that is replaced while programs read it is read whole or not found, and goes on unchanged at its new address', async () => {
    const { userId, email } = await account()
    await enroll({ ...(await fixture.session()), classType: 'basic' as const }, email, 'Ivo')
    const token = await tokenOf(userId)
    const reading = () => Promise.all(Array.from({ length: 4 }, () => read(token)))
    const [before, renewed, during] = await Promise.all([reading(), tokenOf(userId, '/renew'), reading()])
    const { status, text } = await read(renewed)
    expect(status).toBe(200)
    for (const answer of [...before, ...during]) {
      if (answer.status === 404) continue
      expect([answer.status, answer.text]).toEqual([200, text])
    }
    expect((await read(token)).status).toBe(404)
    expect((await entriesOf(renewed)).map((entry) => entry.split(' ')[2])).toEqual(['0', '0', '0', '0', '0', '0'])
  })

  it('is the same for several programs that read it at once', async () => {
    const { userId, email } = await account()
    await enroll({ ...(await fixture.session()), classType: 'basic' as const }, email, 'Ivo')
    const token = await tokenOf(userId)
    const answers = await Promise.all(Array.from({ length: 8 }, () => read(token)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('ends with the account', async () => {
    const { userId, email } = await account()
    const token = await tokenOf(userId)
    await fixture.deliver(userDeleted, userId, facts(userId, email))
    await eventually(async () => (await read(token)).status === 404)
  })
})
