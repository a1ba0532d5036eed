import type { OwningService } from '@robokids/local/services'
import { codeIssued } from '@robokids/contracts/identity'
import type { EventOf } from '@robokids/contracts/event'
import type { Bus } from '@robokids/runtime/bus'
import { localAdminSecret } from '@robokids/runtime/config'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { askJson, jsonBody, type Answer } from './browser.ts'
import { breakableProxy, type BreakableProxy } from './breakable-proxy.ts'
import { connectAsOperator } from './operator-bus.ts'
import { startSystem, type System } from './system.ts'

const sealer = sealingKeysSchema.parse(localSealingKeys)

interface Parts {
  system: System
  bus: Bus
  mailServer: BreakableProxy
}

/**
 * Starts the whole system under a test's control: there are no rate limits or periodic reconciliation, and the
 * simulated bank neither settles refunds nor opens disputes by itself.
 * @param name of the bus connection
 * @param settings extra environment of all processes
 */
export async function startParts(name: string, settings: Record<string, string>, postgresUrl?: string): Promise<Parts> {
  const mailServer = await breakableProxy(0)
  const many = '1000000'
  const system = await startSystem(
    {
      all: settings,
      billing: { RECONCILE_EVERY_MS: '3600000' },
      identity: {
        ARGON2_MEMORY_KIB: '64',
        ARGON2_PASSES: '1',
        EVEN_ANSWER_MS: '2',
        ADDRESS_ATTEMPTS_A_MINUTE: many,
        ADDRESS_REQUESTS_AN_HOUR: many,
        CODES_AN_HOUR: many,
        ACCOUNT_CODES_AN_HOUR: many,
      },
      bff: {
        RATE_LIMIT_READS: many,
        RATE_LIMIT_WRITES: many,
        RATE_LIMIT_NOTICES: many,
        RATE_LIMIT_NOTICES_TO_MAILBOX: many,
      },
      notifications: { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` },
    },
    postgresUrl,
  )
  mailServer.lead(system.smtpPort)
  const bus = await connectAsOperator(system.nats, name)
  return { system, bus, mailServer }
}

/** The whole system, and a test's controls besides what families do. */
export class ControlledSystem {
  readonly system: System
  protected readonly bus: Bus
  readonly #mailServer: BreakableProxy
  readonly #codes = new Map<string, string[]>()
  #isMailServerAway = false

  protected constructor({ system, bus, mailServer }: Parts) {
    this.system = system
    this.bus = bus
    this.#mailServer = mailServer
    bus.watch([codeIssued.type], (event) => this.#remember(event.data as EventOf<typeof codeIssued>['data']))
  }

  /** Nothing depends on real time: refunds settle and disputes open only when a test says so. */
  protected async disableAutomaticBankEvents(): Promise<void> {
    const never = 3650 * 24 * 3600
    await this.control('settings', { refundSettleSeconds: never, disputeAfterSeconds: never })
  }

  async stop(): Promise<void> {
    await this.bus.close()
    await this.system.stop()
    await this.#mailServer.stop()
  }

  #remember({ destination, sealedCode, codeId }: EventOf<typeof codeIssued>['data']): void {
    const code = sealer.open(sealedCode, `code:${codeId}`)?.toString() ?? ''
    this.#codes.set(destination, [...this.codesOf(destination), code])
  }

  /** Codes sent to an address, oldest first. */
  codesOf(destination: string): string[] {
    return this.#codes.get(destination) ?? []
  }

  /** The number of codes sent to an address. */
  codesTo(destination: string): number {
    return this.codesOf(destination).length
  }

  /** Restarts what was stopped, and removes all faults. */
  async restore(): Promise<void> {
    await fetch(`${this.system.simulator.url}/_sim/faults`, { method: 'DELETE' })
    await this.setMailServer('back')
    const dead = Object.values(this.system.processes).filter((one) => !one.isRunning())
    await Promise.all(dead.map((one) => one.start()))
    await this.control('webhooks/release')
  }

  protected get isMailServerAway(): boolean {
    return this.#isMailServerAway
  }

  async setMailServer(where: 'away' | 'back'): Promise<void> {
    if (this.#isMailServerAway === (where === 'away')) return
    this.#isMailServerAway = where === 'away'
    await (where === 'away' ? this.#mailServer.refuse() : this.#mailServer.accept())
  }

  /** Calls the simulator's control API. */
  control(path: string, body: object = {}): Promise<Answer> {
    return askJson(`${this.system.simulator.url}/_sim/${path}`, { method: 'POST', ...jsonBody(body) })
  }

  /** Sends a request of the provider's dashboard or pages. Injected faults apply to it too. */
  atProvider(method: string, path: string, fields: Record<string, string> = {}): Promise<Answer> {
    return askJson(new URL(path, this.system.simulator.url), {
      method,
      headers: {
        authorization: 'Bearer sk_test_dashboard',
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      ...(method === 'GET' ? {} : { body: new URLSearchParams(fields).toString() }),
    })
  }

  /** Sends an operator's request to a service. */
  operate(service: OwningService, method: string, path: string, body?: unknown): Promise<Answer> {
    const content = jsonBody(body)
    const headers = { 'x-admin-secret': localAdminSecret, ...content.headers }
    return askJson(this.system.processes[service].url + path, { method, ...content, headers })
  }
}
