import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localSealingKeys } from '@robokids/runtime/seal'
import type { RunningService } from '@robokids/runtime/service'
import type { TestBed } from '@robokids/test/bed'
import { bff } from '../src/app.ts'
import type { Config } from '../src/config.ts'

/** A service behind the BFF that answers as a test has it answer; at first it answers nothing at all. */
export class StubService {
  readonly #server: Server
  /** What it was asked so far, as `GET /prices`. */
  readonly asked: string[] = []
  readonly #waiting: Parameters<RequestListener>[] = []
  #answer: RequestListener = (...exchange) => this.#waiting.push(exchange)

  private constructor() {
    this.#server = createServer((incoming, response) => {
      this.asked.push(`${incoming.method} ${incoming.url}`)
      this.#answer(incoming, response)
    })
  }

  /** Answers what it was asked before, and whatever it is asked from now on. */
  answer(how: RequestListener): void {
    this.#answer = how
    for (const exchange of this.#waiting.splice(0)) how(...exchange)
  }

  static async start(): Promise<StubService> {
    const stub = new StubService()
    stub.#server.listen(0, '127.0.0.1')
    await once(stub.#server, 'listening')
    return stub
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }
}

/** A BFF of its own. The services that `env` does not name are where nobody listens. */
export function startFront(bed: TestBed, env: Record<string, string>): Promise<RunningService<Config>> {
  const nobody = 'http://127.0.0.1:9'
  return bed.start(bff, {
    PORT: '0',
    IDENTITY_CLIENT_SECRET: 'a-secret-of-the-tests',
    SESSION_KEYS: localSealingKeys,
    PROOF_SECRET: 'a-secret-of-the-tests',
    PROOF_DERIVATIONS: '2',
    IDENTITY_URL: nobody,
    ENROLLMENT_URL: nobody,
    BILLING_URL: nobody,
    NOTIFICATIONS_URL: nobody,
    ...env,
  })
}

/** A request that its visitor may leave. */
export function ask(url: string, headers: Record<string, string> = {}) {
  // A connection of its own: a browser that leaves closes it.
  const asking = request(url, { agent: false, headers })
  const begun = performance.now()
  const answered = once(asking, 'response').then(async ([response]) => {
    const answer = response as IncomingMessage
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return { status: answer.statusCode, headers: answer.headers, text, ms: performance.now() - begun }
  })
  answered.catch(() => {})
  asking.end()
  return { answered, leave: () => asking.destroy() }
}
