import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localSealingKeys } from '@robokids/runtime/seal'
import type { RunningService } from '@robokids/runtime/service'
import type { TestBed } from '@robokids/test/bed'
import { bff } from '../src/app.ts'
import type { Config } from '../src/config.ts'

/** A service behind the BFF whose responses the test controls; at first it never responds. */
export class StubService {
  readonly #server: Server
  /** The requests so far, such as `GET /prices`. */
  readonly requests: string[] = []
  readonly #waiting: Parameters<RequestListener>[] = []
  #answer: RequestListener = (...exchange) => this.#waiting.push(exchange)

  private constructor() {
    this.#server = createServer((incoming, response) => {
      this.requests.push(`${incoming.method} ${incoming.url}`)
      this.#answer(incoming, response)
    })
  }

  /** Sets the response to all pending and future requests. */
  answer(listener: RequestListener): void {
    this.#answer = listener
    for (const exchange of this.#waiting.splice(0)) listener(...exchange)
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

/** Starts a BFF. Services that are not in `env` are unavailable. */
export function startBff(bed: TestBed, env: Record<string, string>): Promise<RunningService<Config>> {
  const unavailable = 'http://127.0.0.1:9'
  return bed.start(bff, {
    PORT: '0',
    IDENTITY_CLIENT_SECRET: 'a-secret-of-the-tests',
    SESSION_KEYS: localSealingKeys,
    PROOF_SECRET: 'a-secret-of-the-tests',
    PROOF_DERIVATIONS: '2',
    IDENTITY_URL: unavailable,
    ENROLLMENT_URL: unavailable,
    BILLING_URL: unavailable,
    NOTIFICATIONS_URL: unavailable,
    ...env,
  })
}

/** Sends a request that the visitor can abandon. */
export function send(url: string, headers: Record<string, string> = {}) {
  // A separate connection, because a browser that leaves closes it.
  const outgoing = request(url, { agent: false, headers })
  const begun = performance.now()
  const answered = once(outgoing, 'response').then(async ([response]) => {
    const answer = response as IncomingMessage
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    return { status: answer.statusCode, headers: answer.headers, text, ms: performance.now() - begun }
  })
  answered.catch(() => {})
  outgoing.end()
  return { answered, leave: () => outgoing.destroy() }
}
