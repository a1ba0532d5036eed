import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { eventually } from '@robokids/test/bed'

export interface ReceivedText {
  id: string
  to: string
  text: string
  headers: IncomingHttpHeaders
}

/** A fake SMS gateway that stores the received requests and can be made to fail. */
export class SmsGateway {
  /** All requests, accepted or not. */
  readonly requests: ReceivedText[] = []
  readonly #plans = new Map<string, (number | 'hang' | 'drop')[]>()
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      void json(request).then((body) => {
        const message = { ...(body as ReceivedText), headers: request.headers }
        this.requests.push(message)
        const answer = this.#plans.get(message.to)?.shift() ?? 202
        if (answer === 'hang') return
        if (answer === 'drop') response.destroy()
        // Quotes the request, as some gateways do.
        else response.writeHead(answer, { location: '/elsewhere' }).end(JSON.stringify(body))
      })
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/messages`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Sets the responses to the next messages to a number: a status, no response, or a broken connection. */
  plan(to: string, ...answers: (number | 'hang' | 'drop')[]): void {
    this.#plans.set(to, answers)
  }

  to(number: string): ReceivedText[] {
    return this.requests.filter(({ to }) => to === number)
  }

  /** Waits for `count` requests with a number. @returns the last of them. */
  async textTo(number: string, count = 1): Promise<ReceivedText> {
    return eventually(() => (this.to(number).length >= count ? this.to(number)[count - 1] : undefined))
  }
}
