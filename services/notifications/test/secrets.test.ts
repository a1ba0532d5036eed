import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { codeIssued } from '@robokids/contracts/identity'
import { mailFailed } from '@robokids/contracts/notifications'
import { localSealingKeys } from '@robokids/runtime/seal'
import { startService } from '@robokids/runtime/service'
import { eventually } from '@robokids/test/bed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notifications } from '../src/app.ts'
import { issued } from './events.ts'
import { startNotifications, type NotificationsFixture } from './fixture.ts'

let fixture: NotificationsFixture
beforeAll(async () => {
  fixture = await startNotifications()
  await fixture.service.stop()
})
afterAll(() => fixture.close())

/** Runs the service as a separate process with the most verbose log. */
async function run(env: Record<string, string | undefined>, work: (output: () => string) => Promise<void>) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
    env: {
      ...process.env,
      APP_ENV: 'local',
      LOG_LEVEL: 'trace',
      NATS_URL: fixture.bed.nats.url,
      DATABASE_URL: fixture.service.databaseUrl,
      ...fixture.env,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
  }
  const exited = once(child, 'exit')
  try {
    await eventually(() => printed.includes('"msg":"ready"'), 60_000)
    await work(() => printed)
  } finally {
    child.kill('SIGTERM')
    await exited
  }
  return printed
}

const now = () => Temporal.Now.instant()

describe('the log', () => {
  it('never contains a code', async () => {
    const code = '592038'
    const toPhone = (destination: string) => issued(now(), code, { medium: 'SMS', destination })
    const sent = issued(now(), code)
    const quoted = issued(now(), code)
    const refused = issued(now(), code)
    const texts = [toPhone('+16505550001'), toPhone('+16505550002'), toPhone('+16505550003')] as const
    fixture.smtp.plan(quoted.destination, 'quote')
    fixture.smtp.plan(refused.destination, 'greylist')
    fixture.gateway.plan(texts[1].destination, 400)
    fixture.gateway.plan(texts[2].destination, 500)
    const printed = await run({}, async (output) => {
      for (const data of [sent, quoted, refused, ...texts]) {
        await fixture.bed.bus.publish(codeIssued, data.userId, data)
      }
      await fixture.smtp.mailTo(sent.destination)
      for (const { destination } of texts) await fixture.gateway.textTo(destination)
      await eventually(() => output().match(/message could not be sent/g)?.length === 4)
    })
    expect(printed).toContain('"outcome":"give_up"')
    expect(printed).toContain('"outcome":"retry"')
    expect(printed).not.toContain(code)
    for (const { destination } of [sent, quoted, refused, ...texts]) expect(printed).not.toContain(destination)
  })

  it('has a warning at the start if no text message can be sent, and each one fails with the reason', async () => {
    const data = issued(now(), '592039', { medium: 'SMS', destination: '+16505550009' })
    let failed: unknown
    const printed = await run({ SMS_URL: undefined, PORT: '0' }, async (output) => {
      await fixture.bed.bus.publish(codeIssued, data.userId, data)
      const event = await fixture.bed.bus.seen(mailFailed, ({ userId }) => userId === data.userId, 30_000)
      failed = event.data
      await eventually(() => output().includes('SMS_URL is not set: no text message can be sent'))
    })
    expect(failed).toMatchObject({ reason: 'There is no SMS gateway: SMS_URL is not set.' })
    expect(printed).not.toContain('592039')
  })
})

describe('the settings', () => {
  const settings = { APP_ENV: 'local', DATABASE_URL: 'postgres://127.0.0.1:1/none' }

  it.each([undefined, '', 'local:short', 'no keys'])('reject %j as CODE_SEALING_KEYS', async (keys) => {
    const starting = startService(notifications, { ...settings, CODE_SEALING_KEYS: keys })
    await expect(starting).rejects.toThrow(/CODE_SEALING_KEYS: /)
  })

  it('reject the local keys in production', async () => {
    const env = {
      ...settings,
      APP_ENV: 'production',
      ADMIN_SECRET: 'a-secret-of-our-own',
      CODE_SEALING_KEYS: localSealingKeys,
    }
    await expect(startService(notifications, env)).rejects.toThrow(
      /CODE_SEALING_KEYS: has a key that is written in the source code/,
    )
  })

  it('reject an SMS_URL that is not an HTTP URL', async () => {
    const env = { ...settings, CODE_SEALING_KEYS: localSealingKeys, SMS_URL: 'ftp://sms.example' }
    await expect(startService(notifications, env)).rejects.toThrow(/SMS_URL: /)
  })
})
