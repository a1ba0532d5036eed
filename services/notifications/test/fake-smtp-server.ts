import { mkdir, writeFile } from 'node:fs/promises'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { eventually } from '@robokids/test/bed'
import { simpleParser, type Attachment, type ParsedMail } from 'mailparser'
import { SMTPServer } from 'smtp-server'

/** What the server does with the next mail to an address instead of accepting it. */
export type Fault =
  /** 451 to the recipient: temporary. */
  | 'greylist'
  /** 550 to the recipient: permanent. */
  | 'refuse'
  /** 554 to the message. */
  | 'refuse_message'
  /** 554 to the message, quoting it. */
  | 'quote'
  /** It receives the message, and the connection breaks before it responds. */
  | 'drop'
  /** It receives the message and never responds. */
  | 'hang'
  /** It receives the message and responds on `release`. */
  | 'hold'

export interface Received {
  envelope: { from: string; to: string[] }
  raw: string
  parsed: ParsedMail
  /** The attachments, except for inline images. */
  files: Attachment[]
}

interface Refusal extends Error {
  responseCode: number
}

function refusal(responseCode: number, message: string): Refusal {
  return Object.assign(new Error(message), { responseCode })
}

/** Writes the mail's HTML to a file, one per subject (without names), for `npm run screenshots`. */
async function keepForScreenshots(content: Buffer): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (!folder) return
  const { subject = '', html } = await simpleParser(content)
  if (!html) return
  await mkdir(join(folder, 'mails'), { recursive: true })
  const [about = ''] = subject.split(/:| on [A-Z]/)
  const name = about.replaceAll(/\d+/g, 'n').replaceAll(/[^a-z]+/gi, '-')
  await writeFile(join(folder, 'mails', `${name}.html`), html)
}

/** A real SMTP server that stores the received mails and can be made to fail. */
export class FakeSmtpServer {
  readonly #received: Received[] = []
  readonly #faults = new Map<string, Fault[]>()
  readonly #held = new Map<string, () => void>()
  #server: SMTPServer | undefined
  #port = 0

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`
  }

  /** Starts the server, always on the same port. */
  async open(): Promise<void> {
    const sockets = new Set<Socket>()
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onRcptTo: ({ address }, _session, callback) => {
        if (this.#next(address, 'greylist')) callback(refusal(451, '4.7.1 Greylisted'))
        else if (this.#next(address, 'refuse')) callback(refusal(550, '5.1.1 No such mailbox'))
        else callback()
      },
      onData: (stream, session, callback) => {
        const take = async (content: Buffer) => {
          const to = session.envelope.rcptTo.map(({ address }) => address)
          const [first = ''] = to
          if (this.#next(first, 'refuse_message')) return callback(refusal(554, '5.7.1 Not this one'))
          if (this.#next(first, 'quote')) {
            return callback(refusal(554, `5.7.1 Not this: ${content.toString('latin1').replaceAll(/\s+/g, ' ')}`))
          }
          const { mailFrom } = session.envelope
          await keepForScreenshots(content)
          const parsed = await simpleParser(content, { keepCidLinks: true })
          this.#received.push({
            envelope: { from: mailFrom ? mailFrom.address : '', to },
            raw: content.toString('latin1'),
            parsed,
            files: parsed.attachments.filter(({ related }) => !related),
          })
          if (this.#next(first, 'hang')) return undefined
          if (this.#next(first, 'hold')) return void this.#held.set(first, () => callback(null, 'Taken'))
          if (!this.#next(first, 'drop')) return callback(null, 'Taken')
          for (const socket of sockets) if (socket.remotePort === session.remotePort) socket.destroy()
          return undefined
        }
        // An error means that the client was killed in the middle of the message.
        void buffer(stream).then(take, (error: Error) => callback(error))
      },
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    server.server.on('connection', (socket) => sockets.add(socket))
    // Killed clients reset their connections.
    server.on('error', () => {})
    this.#server = server
    this.#port = (server.server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server) await new Promise<void>((resolve) => server.close(resolve))
  }

  #next(address: string, fault: Fault): boolean {
    const faults = this.#faults.get(address)
    if (faults?.[0] !== fault) return false
    faults.shift()
    return true
  }

  /** Makes the next mails to an address fail, one fault each, in this order. */
  plan(address: string, ...faults: Fault[]): void {
    this.#faults.set(address, faults)
  }

  /** Accepts the held message to an address. */
  release(address: string): void {
    this.#held.get(address)?.()
  }

  all(): readonly Received[] {
    return this.#received
  }

  to(address: string): Received[] {
    return this.#received.filter(({ envelope }) => envelope.to.includes(address))
  }

  /** Waits for `count` mails to an address. @returns the last of them. */
  async mailTo(address: string, count = 1): Promise<Received> {
    return eventually(() => (this.to(address).length >= count ? this.to(address)[count - 1] : undefined))
  }
}
