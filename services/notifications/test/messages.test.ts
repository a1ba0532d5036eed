import { randomUUIDv7 } from 'node:crypto'
import type { SendMessage } from '@robokids/contracts/contact'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNotifications, type NotificationsFixture } from './fixture.ts'

const support = 'support@robokidslearning.example'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications({ SUPPORT_EMAIL: support })
})
afterAll(() => fixture.close())

function message(changes: Partial<SendMessage> = {}): SendMessage {
  const id = randomUUIDv7()
  return {
    id,
    name: 'Una O’Neil',
    email: `una.${id}@example.com`,
    topic: 'kit',
    reference: 'RK-000123',
    message: `The servo is missing. ${id}`,
    isProven: false,
    ...changes,
  }
}

async function send(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${fixture.service.url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const mailsAbout = (id: string) => fixture.smtp.to(support).filter(({ parsed }) => parsed.text?.includes(id))
const mailAbout = (id: string) => eventually(() => mailsAbout(id)[0])

describe('POST /messages', () => {
  it('mails the unchanged message to the school, with replies going only to its sender', async () => {
    const written = message({
      name: 'Zoë "Bug" D’Arcy; Jr., <b>',
      message: 'Hello,\r\n\r\n<b>our kit</b> & we:\n> one\n\ttwo\u202e\n\nThank you 🤖',
      topic: 'other',
    })
    const { status, body } = await send(written)
    const number = `M-${written.id.slice(-8).toUpperCase()}`
    expect([status, body]).toEqual([200, { reference: number }])
    const { parsed, raw, envelope, files } = await eventually(() =>
      fixture.smtp.to(support).find(({ parsed: { subject } }) => subject?.includes(number)),
    )
    expect(parsed.subject).toBe(`${number} Something else: ${written.name}`)
    expect(parsed.replyTo?.value).toEqual([{ name: written.name, address: written.email }])
    expect(parsed.from?.value).toEqual([{ name: 'Robo Kids Learning', address: 'hello@robokidslearning.example' }])
    expect([envelope.to, files]).toEqual([[support], []])
    expect(parsed.text).toContain('> Hello,\n>\n> <b>our kit</b> & we:\n> > one\n> \ttwo\n>\n> Thank you 🤖\n')
    expect(parsed.html).toContain('&lt;b&gt;our kit&lt;/b&gt; &amp; we:')
    expect(parsed.html).not.toContain('<b>our kit')
    for (const words of [written.email, 'RK-000123', 'Not verified']) expect(parsed.text).toContain(words)
    // Help desks ignore mails marked as automatic.
    expect(raw).not.toMatch(/^auto-submitted:/im)
    expect(fixture.smtp.to(written.email)).toEqual([])
  })

  it('mails a message once, even if sent repeatedly and concurrently, and rejects another under its id', async () => {
    const written = message()
    const responses = await Promise.all(Array.from({ length: 4 }, () => send(written)))
    responses.push(await send({ ...written, isProven: true, message: `\n${written.message}  ` }))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await send({ ...written, message: 'Something else.' })).toMatchObject({
      status: 409,
      body: { code: 'id_reused' },
    })
    await mailAbout(written.id)
    // Enqueued after it: when its mail arrives, duplicates of the first would have arrived too.
    const last = message({ isProven: true })
    await send(last)
    expect((await mailAbout(last.id)).parsed.text).toContain('Verified: the sender was logged in')
    expect(mailsAbout(written.id)).toHaveLength(1)
  })

  it.each([
    ['name', { name: 'Una\r\nBcc: spy@example.net' }],
    ['name', { name: ' ' }],
    ['email', { email: 'una@example.com\r\nBcc: spy@example.net' }],
    ['email', { email: 'una@example.com, spy@example.net' }],
    ['email', { email: '"una" <spy@example.net>' }],
    ['topic', { topic: 'refund' }],
    ['reference', { reference: 'RK-1\nRK-2' }],
    ['message', { message: ' \n\u200b' }],
    ['message', { message: 'x'.repeat(5_001) }],
    ['message', { message: 'half \ud83e' }],
    ['id', { id: '0196f3c0-0000-4000-8000-000000000009' }],
  ])('rejects an invalid %s (%j) by its name and mails nothing', async (path, changes) => {
    const { status, body } = await send({ ...message(), ...changes })
    expect([status, body['code']]).toEqual([400, 'validation_failed'])
    expect((body['issues'] as { path: string }[]).map((issue) => issue.path)).toEqual([path])
    expect(fixture.smtp.all().filter(({ envelope }) => envelope.to.includes('spy@example.net'))).toEqual([])
  })

  it('treats header-like text as part of the message', async () => {
    const written = message()
    written.message = `Bcc: spy@example.net\r\nSubject: won\r\n\r\n.\r\nRCPT TO:<spy@example.net> ${written.id}`
    await send(written)
    const { raw, envelope } = await mailAbout(written.id)
    const headers = raw.slice(0, raw.indexOf('\r\n\r\n'))
    expect(headers).not.toMatch(/^bcc:/im)
    expect(headers.match(/^(subject|reply-to|to):/gim)).toHaveLength(3)
    expect(envelope.to).toEqual([support])
  })
})
