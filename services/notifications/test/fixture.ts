import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mailSchema, mailsSchema, type Mail } from '@robokids/contracts/notifications'
import type { RunningService } from '@robokids/runtime/service'
import { localSealingKeys } from '@robokids/runtime/seal'
import { testBed, type TestBed } from '@robokids/test/bed'
import { notifications } from '../src/app.ts'
import type { Config } from '../src/config.ts'
import { FakeSmtpServer } from './fake-smtp-server.ts'
import { SmsGateway } from './sms-gateway.ts'

export const siteUrl = 'https://school.example'

/** Fakes enrollment's signed waivers: responds to any path with a PDF that contains the path. */
class FakeWaiverServer {
  readonly #server: Server
  #failures = 0
  #silences = 0
  /** The number of requests. */
  requestCount = 0

  constructor() {
    this.#server = createServer((request, response) => {
      this.requestCount += 1
      if (this.#silences > 0) {
        this.#silences -= 1
      } else if (this.#failures > 0) {
        this.#failures -= 1
        response.writeHead(503, { 'content-type': 'application/json' }).end('{"code":"upstream_unavailable"}')
      } else {
        response.writeHead(200, { 'content-type': 'application/pdf' }).end(waiverAt(request.url ?? ''))
      }
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  failNext(times: number): void {
    this.#failures = times
  }

  /** Does not respond to the next requests. */
  ignoreNext(times: number): void {
    this.#silences = times
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export function waiverAt(path: string): Buffer {
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.from([0xe2, 0xe3, 0xcf, 0xd3, 0, 13, 10]), Buffer.from(path)])
}

/** A running notifications service with a mail server and a bus. */
export interface NotificationsFixture {
  bed: TestBed
  smtp: FakeSmtpServer
  gateway: SmsGateway
  waivers: FakeWaiverServer
  env: Record<string, string>
  service: RunningService<Config> & { databaseUrl: string }
  /** Advances the service's clock and wakes its jobs. */
  advanceTime(duration: Temporal.DurationLike): void
  mailsOf(registrationId: string): Promise<Mail[]>
  mailsTo(userId: string): Promise<Mail[]>
  mailsToAddress(email: string): Promise<Mail[]>
  resend(mailId: string): Promise<Mail>
  close(): Promise<void>
}

export const adminHeaders = { 'x-admin-secret': 'local-admin' }

/** Starts a notifications service. @param settings override the defaults for tests. */
export async function startNotifications(settings: Record<string, string> = {}): Promise<NotificationsFixture> {
  const [bed, smtp, gateway, waivers] = [
    await testBed(),
    new FakeSmtpServer(),
    new SmsGateway(),
    new FakeWaiverServer(),
  ]
  await smtp.open()
  const env = {
    SMTP_URL: smtp.url,
    SMS_URL: await gateway.open(),
    SMS_TOKEN: 'sms-token',
    SMS_TIMEOUT_MS: '1000',
    CODE_SEALING_KEYS: localSealingKeys,
    ENROLLMENT_URL: await waivers.open(),
    SITE_URL: siteUrl,
    SMTP_TIMEOUT_MS: '2000',
    // So that the unacknowledged events of a killed process are redelivered soon.
    CONSUMER_ACK_WAIT_MS: '1000',
    ...settings,
  }
  const service = await bed.start(notifications, env)
  async function mails(query: string): Promise<Mail[]> {
    const answer = await fetch(`${service.url}/mails?${query}`, { headers: adminHeaders })
    return mailsSchema.parse(await answer.json()).mails
  }
  return {
    bed,
    smtp,
    gateway,
    waivers,
    env,
    service,
    advanceTime(duration) {
      service.context.clock.advance(duration)
      service.wakeAll()
    },
    mailsOf: (registrationId) => mails(`registrationId=${registrationId}`),
    mailsTo: (userId) => mails(`userId=${userId}`),
    mailsToAddress: (email) => mails(`email=${encodeURIComponent(email)}`),
    async resend(mailId) {
      const answer = await fetch(`${service.url}/mails/${mailId}/resend`, { method: 'POST', headers: adminHeaders })
      return mailSchema.parse(await answer.json())
    },
    async close() {
      await bed.stop()
      await Promise.all([smtp.close(), gateway.close(), waivers.close()])
    },
  }
}
